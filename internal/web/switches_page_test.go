package web

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

// button is true when a switch's button says what it does, as a screen reader hears it, and about, or more, stands beside it.
func button(name, does, about string) string {
	return fmt.Sprintf(`(() => {
		const button = document.getElementById(%q);
		const about = button && document.getElementById(button.getAttribute("aria-describedby"));
		return about?.getAttribute("role") === "status" && button.innerText.trim() === %q && about.innerText.includes(%q) && button.ariaDisabled === "false";
	})()`, name, does, about)
}

// inHeader is true when the states in the header include one that says the text.
func inHeader(kind, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".states .state.%s")].some((e) => e.innerText.replace(/\s+/g, " ") === %q)`, kind, text)
}

func TestAChannelIsPausedByKeyboard(t *testing.T) {
	d := dash(t)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	w.See(button("pause", "Pause", "lets everyone write until it is resumed") + "&&" + inHeader("good", "Enforcing"))
	w.fits()
	w.TypeIn("#pause", kb.Enter)
	for _, each := range []*window{w, other} {
		each.See(button("pause", "Resume", "Paused by anna: nobody is held back.") + "&&" + inHeader("notice", "Observing nobody is held back"))
		each.fits()
	}
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "pause" {
		t.Errorf("pressed, and the focus is on %q", focused)
	}
	if v := d.say(spammer, 4); !v.Allowed {
		t.Error("paused, and a fourth message is throttled")
	}
	other.goTo("limits")
	other.See(`document.querySelector("input[value=enforce]")?.checked &&` + says("only observes at present")) // what is edited is the stated policy
	other.goTo("now")
	other.Press("#pause")
	w.See(button("pause", "Pause", "lets everyone write") + "&&" + inHeader("good", "Enforcing"))
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("resumed, and a fifth message is allowed")
	}
}

func TestRaidModeIsTurnedOnAndOff(t *testing.T) {
	d := dash(t)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	w.Press("#raid")
	for _, each := range []*window{w, other} {
		each.See(button("raid", "Raid mode off", "Raid mode until "))
		each.fits()
	}
	until := d.channel().RaidUntil
	w.Must(chromedp.Evaluate[chromedp.Void](`import("./app/time.js").then(({ clock }) => (window.clock = clock)), null`))
	w.See("window.clock")
	shown := browsertest.Eval[string](w.Window, fmt.Sprintf("clock(%d)", until.UnixMilli()))
	w.See(button("raid", "Raid mode off", "Raid mode until "+shown+": stricter limits."))
	if v := d.say(newcomer, 2); v.Allowed {
		t.Error("a raid, and somebody new writes twice")
	}
	other.Press("#raid")
	w.See(button("raid", "Raid mode on", "makes the limits stricter for a while"))
	if !d.channel().RaidUntil.IsZero() {
		t.Error("raid mode is still on")
	}
}

func TestTheSecondHalfOfADoubleClickUndoesNothing(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.See(button("pause", "Pause", ""))
	click := func(detail int) string {
		return fmt.Sprintf(`document.getElementById("pause").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: %d }))`, detail)
	}
	w.Must(chromedp.Evaluate[chromedp.Void](click(1)))
	w.See(button("pause", "Resume", "Paused by anna"))
	w.Must(chromedp.Evaluate[chromedp.Void](click(2)))
	w.Press("#raid")
	w.See(button("raid", "Raid mode off", ""))
	if d.channel().PausedBy != "anna" {
		t.Error("resumed by a double click")
	}
}

func TestASwitchThatIsntKeptIsSaidSo(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	w := d.open(360, 800)
	const unsaved = "That holds, but isn’t saved yet: a restart now would undo it."
	w.Press("#pause")
	w.See(button("pause", "Resume", "") + "&&" + has(`document.querySelector("#pause + div [role=status].warn")`, unsaved))
	w.fits()
	w.Press("#raid") // and the first one is unsaved still
	w.See(has(`document.querySelector("#raid + div")`, unsaved) + "&&" + has(`document.querySelector("#pause + div")`, unsaved))
	d.mendDatabase()
	w.See("!" + says(unsaved) + "&&" + button("pause", "Resume", ""))
}

func TestASwitchThatFailsIsSaidBesideIt(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	w.See(button("raid", "Raid mode on", ""))
	d.store.refuse(errors.New("disk full"))
	w.Press("#raid")
	problem := `document.querySelector("#raid + div [role=alert]")`
	w.See(has(problem, "it is done, but a restart would undo it: the database is in trouble") + `&& !document.querySelector("#pause + div [role=alert]")`)
	w.See(button("raid", "Raid mode off", "Raid mode until"))
	w.fits()
	w.Type(kb.Escape)
	w.See("!" + problem)
	d.store.refuse(nil)
	w.Press("#raid")
	w.See(button("raid", "Raid mode on", ""))
}

func TestWhoMayOnlyLookSeesHowTheSwitchesStand(t *testing.T) {
	d := dash(t)
	w := d.openAs("clara", journal.AccessView, 360, 800)
	stands := func(texts ...string) string {
		return `[...document.querySelectorAll(".switches [role=status]")].map((e) => e.innerText.replace(/ until.*:/, ":")).join("|") === ` + fmt.Sprintf("%q", strings.Join(texts, "|"))
	}
	w.See(stands("Not paused.", "Raid mode is off."))
	w.Accessible()
	if _, err := d.control.Pause(t.Context(), channelID, "berta"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.control.StartRaid(t.Context(), channelID, "berta", time.Hour); err != nil {
		t.Fatal(err)
	}
	w.See(stands("Paused by berta: nobody is held back.", "Raid mode: stricter limits."))
	w.Accessible()
	w.fits()
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".switches button").length`); n > 0 {
		t.Errorf("there are %d buttons", n)
	}
}

func TestNothingIsSwitchedWhereThereAreNoSwitches(t *testing.T) {
	w := dash(t, func(o *Options) { o.Controls = nil }).open(360, 800)
	w.See(says("Nobody is throttled.") + `&& !document.querySelector(".switches")`)
}

func TestWhatToMendIsReadable(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Connections = func() []Connection {
			return []Connection{
				{Name: "Twitch", State: Connected},
				{Name: "Token", State: Refused, Detail: "Twitch refused the token: run `chatguard login`"},
				{Name: "#gardenhour", State: Observing, Detail: "type `/mod chatguard_bot` in the chat of gardenhour"},
				{Name: "#gardenhour", State: Paused, Detail: "by berta"},
				{Name: "#gardenhour", State: RaidMode, Detail: "for 9 min more"},
			}
		}
	})
	w := d.open(360, 800)
	for text, kind := range map[string]string{
		"Token refused Twitch refused the token: run chatguard login":             "bad",
		"#gardenhour observing type /mod chatguard_bot in the chat of gardenhour": "notice",
		"#gardenhour paused by berta":                                             "notice",
		"#gardenhour raid mode for 9 min more":                                    "notice",
	} {
		w.See(inHeader(kind, text))
	}
	w.fits()
	hidden := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll(".states .detail, .states code")].filter((e) => {
		const { left, top, right, bottom } = e.getBoundingClientRect();
		const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
		return left < 0 || right > innerWidth || !(e.contains(seen) || seen?.contains(e));
	}).map((e) => e.innerText)`)
	if len(hidden) > 0 {
		t.Errorf("at 360 px nobody can read %q", hidden)
	}
	if typed := browsertest.Eval[string](w.Window, `[...document.querySelectorAll(".states code")].map((e) => e.innerText).join()`); typed != "chatguard login,/mod chatguard_bot" {
		t.Errorf("to be typed are %q", typed)
	}
	w.See(says("Nobody is throttled.") + "&& !" + says("sees no messages")) // a token isn't needed to read
}

func TestWhoIsCutOffFromTheChatIsTold(t *testing.T) {
	for state, cutOff := range map[ConnectionState]bool{Connecting: true, Disconnected: true, Connected: false} {
		w := dash(t, func(o *Options) {
			o.Connections = func() []Connection { return []Connection{{Name: "Twitch", State: state}} }
		}).open(360, 800)
		w.See(says("Nobody is throttled.") + fmt.Sprintf("&& %v === ", cutOff) + says("sees no messages"))
	}
}

func TestWhatIsWorthKnowingIsNoTrouble(t *testing.T) {
	for state, status := range map[ConnectionState]int{
		Connected: 200, Observing: 200, Paused: 200, RaidMode: 200, Connecting: 503, Disconnected: 503,
	} {
		d := dash(t, func(o *Options) {
			o.Connections = func() []Connection { return []Connection{{Name: "#gardenhour", State: state}} }
		})
		if a := d.do("GET", "/readyz", nil); a.StatusCode != status {
			t.Errorf("%s: %s", state, a.Status)
		}
	}
}

func TestAPolicyThatObservesIsNoPause(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	into[change](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe }))
	w.See(inHeader("notice", "Observing nobody is held back") + "&&" + button("pause", "Pause", "lets everyone write"))
}
