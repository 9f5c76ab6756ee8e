package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
)

var spammer = chatguard.User{ID: "42", Login: "spammer", DisplayName: "Spammer"}

// says is true when the page shows the text.
func says(text string) string { return fmt.Sprintf(`document.body.innerText.includes(%q)`, text) }

// rows is true when the table shows the user in so many rows.
func rows(user string, n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".row:not(.leaving) bdi")].filter((name) => name.textContent === %q).length === %d`, user, n)
}

func TestTheSignInLinkSignsIn(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.see(says("Nobody is throttled."))
	if address := eval[string](w, "location.href"); address != "http://"+w.address+"/#/now" {
		t.Errorf("the address bar shows %s", address)
	}
	w.must(chromedp.Reload())
	w.see(says("Nobody is throttled."))
}

func TestAUsedLinkAsksForAnother(t *testing.T) {
	w := dash(t).openBlank(1400, 900)
	w.must(chromedp.Navigate("http://" + w.address + "/#signin=old-code"))
	w.see(says("has been used or is too old"))
	if address := eval[string](w, "location.hash"); strings.Contains(address, "old-code") {
		t.Errorf("the address bar shows %s", address)
	}
	w.write("#token", "wrong")
	w.press(".primary")
	w.see(says("That token isn't the one"))
	w.write("#token", token+kb.Enter)
	w.see(says("Nobody is throttled."))
	w.must(chromedp.Click(chromedp.CSS("button.quiet")))
	w.see(says("chatguard signin"))
}

func TestAThrottledUserAppearsAndLeaves(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(spammer, 3)
	d.say(chatguard.User{ID: "43", Login: "other"}, 4)
	w.see(rows("other", 1))
	w.see(rows("Spammer", 0))
	d.say(spammer, 1)
	w.see(rows("Spammer", 1))
	w.see(says("in 9 min 5") + "&&" + says("deleting…"))
	d.pass(10 * time.Minute)
	w.see(says("Nobody is throttled."))
	w.see(says("6 messages in the last minute were fine, 2 were throttled."))
}

func TestLoweringTheBurstThrottlesTheNextMessage(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	if v := d.say(spammer, 2); !v.Allowed {
		t.Fatal("2 of 3 messages, and throttled")
	}
	w.goTo("limits")
	w.see(`document.querySelector("#burst-0")?.value === "3"`)
	w.write("#burst-0", "2")
	w.press(".finish .primary")
	w.see(says("Saved by anna"))
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("a third message under a burst of 2, and allowed")
	}
	w.goTo("now")
	w.see(rows("Spammer", 1))

	w.goTo("limits")
	w.press(".note button") // undo
	w.see(`document.querySelector("#burst-0")?.value === "3"`)
	if burst := d.guard.Policy(channelID).Limits[0].Burst; burst != 3 {
		t.Errorf("undone, and the burst is %d", burst)
	}
	w.must(chromedp.KeyEvent(kb.Escape))
	w.see(`!document.querySelector(".note")`)
}

func TestWrongNumbersAreNotSaved(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.see(`document.querySelector("#refill-0")?.value === "600"`)
	for field, wrong := range map[string]string{"#burst-0": "0", "#refill-0": "1e3", "#messages-1": "2.5"} {
		w.write(field, wrong)
		w.see(fmt.Sprintf(`document.querySelector("%s-error").textContent.startsWith("Write a")`, field))
	}
	w.see(`document.querySelector(".finish .primary").disabled`)
	w.press(".buttons button:last-child") // discard
	w.see(`document.querySelector("#burst-0").value === "3" && !document.querySelector("[aria-invalid=true]")`)

	w.write("#refill-0", "0.5")
	w.must(chromedp.Click(chromedp.CSS("input[value=observe]")))
	w.press(".finish .primary")
	w.see(says("Saved by anna") + "&&" + says("Observing"))
	if p := d.guard.Policy(channelID); p.Limits[0].Refill != 500*time.Millisecond || p.Mode != chatguard.Observe {
		t.Errorf("in force is %+v", p)
	}
}

func TestTwoModeratorsDontOverwriteEachOther(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.see(`document.querySelector("#burst-0")`)
	d.put(burst(7))
	w.see(`document.querySelector("#burst-0").value === "7"`) // nothing was typed: the form follows
	w.write("#burst-0", "8")
	d.put(burst(9))
	w.see(says("owner has changed these limits meanwhile."))
	w.press(".note button") // load
	w.see(`document.querySelector("#burst-0").value === "9"`)
}

func TestALostConnectionComesBack(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(spammer, 4)
	w.see(rows("Spammer", 1))
	d.stop()
	w.see(says("No connection to chatguard."))
	w.see(rows("Spammer", 1)) // what was known stays
	d.start(d.opts)
	d.say(chatguard.User{ID: "43", Login: "meanwhile"}, 4)
	w.see(rows("meanwhile", 1) + "&&" + rows("Spammer", 0) + `&& !document.querySelector(".lost")`)
}

func TestARevokedSessionLeadsToSignIn(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.store.revoke()
	w.see(says("chatguard signin"))
}

func TestHostileNamesStayText(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	names := []string{
		`<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`,
		"\u202Egnp.exe\u202D مرحبا",
		strings.Repeat("W", 10_000),
		"{{constructor}} ${document.title='broken'} &amp; '\"",
	}
	for i, name := range names {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: name, DisplayName: name}, 4)
		w.see(rows(clip(name), 1))
	}
	if title := eval[string](w, "document.title"); title != "Now · chatguard" {
		t.Errorf("the title is %q", title)
	}
	if n := eval[int](w, `document.querySelectorAll(".row img, .row script").length`); n != 0 {
		t.Errorf("%d elements came out of names", n)
	}
	w.fits()
}

// fits fails the test when the page is wider than the window.
func (w *window) fits() {
	w.Helper()
	if wide := eval[int](w, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		w.Errorf("the page is %d pixels wider than the window", wide)
	}
}

func TestEveryPageFitsTheWindow(t *testing.T) {
	for _, width := range []int64{360, 700, 979, 980, 1600} {
		d := dash(t, func(o *Options) {
			o.Channels = func() []Channel {
				return []Channel{{channelID, strings.Repeat("somechannel", 3)}, {"8", "another"}}
			}
			o.Connections = func() []Connection {
				return []Connection{{Name: "Twitch", State: Disconnected, Detail: "Twitch can't be reached; trying again in 30 s"}}
			}
		})
		w := d.openBlank(width, 800)
		w.must(chromedp.Navigate("http://" + w.address + "/"))
		w.see(says("chatguard signin"))
		w.fits()
		w.must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
		w.see(says("sees no messages"))
		w.fits()
		d.say(spammer, 4)
		w.see(rows("Spammer", 1))
		w.fits()
		w.goTo("limits")
		w.see(`document.querySelector("#burst-0")`)
		w.fits()
		d.stop()
		w.see(says("No connection to chatguard."))
		w.fits()
	}
}

func TestThousandsOfRowsAreDrawnLazily(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	for i := range 5000 {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: fmt.Sprint("user_", i)}, 4)
	}
	w.see(`document.querySelector(".figures dd").textContent === "5,000"`)
	w.see(rows("user_4999", 1))
	w.must(chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.body.scrollHeight)`))
	w.see(rows("user_0", 1))
	if n := eval[int](w, `document.querySelectorAll(".row").length`); n > 100 {
		t.Errorf("%d rows are drawn", n)
	}
}

func TestEachChannelHasItsOwnPage(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []Channel { return []Channel{{channelID, "first"}, {"8", "second"}} }
	})
	w := d.open(1400, 900)
	d.say(spammer, 4)
	w.see(rows("Spammer", 1))
	w.must(chromedp.Evaluate[chromedp.Void](`location.hash = "#/now?channel=8"`))
	w.see(says("Nobody is throttled.") + `&& document.querySelector("select").value === "8"`)
	w.goTo("limits")
	w.see(`location.hash === "#/limits?channel=8" && document.querySelector("#burst-0")`)
	w.write("#burst-0", "5")
	w.press(".finish .primary")
	w.see(says("Saved by anna"))
	if first, second := d.guard.Policy(channelID).Limits[0].Burst, d.guard.Policy("8").Limits[0].Burst; first != 3 || second != 5 {
		t.Errorf("bursts are %d and %d", first, second)
	}
}

func TestNothingMovesWhereThatIsUnwanted(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.must(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
	d.say(spammer, 4)
	w.see(rows("Spammer", 1))
	moving := eval[string](w, `(() => {
		const style = getComputedStyle(document.querySelector(".row"));
		return style.transitionDuration + " " + style.animationDuration;
	})()`)
	if strings.Trim(moving, "0s, ") != "" {
		t.Errorf("rows move for %s", moving)
	}
}

func TestThePageWorksUnderAPath(t *testing.T) {
	d := dash(t)
	outer := http.Server{Handler: http.StripPrefix("/guard", d.server.Handler())}
	listener, err := Site{Listen: "127.0.0.1:0"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- outer.Serve(listener) }()
	defer func() { outer.Close(); <-done }()
	w := d.openBlank(1400, 900)
	w.must(chromedp.Navigate("http://" + listener.Addr().String() + "/guard/#signin=good-code"))
	d.say(spammer, 4)
	w.see(rows("Spammer", 1))
	w.must(chromedp.Navigate("about:blank")) // its live feed ends
}
