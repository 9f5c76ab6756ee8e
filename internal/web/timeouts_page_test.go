//go:build browser

package web

import (
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// wantActs fails the test unless these acts have reached the chat.
func (d *dashboard) wantActs(want ...string) {
	d.Helper()
	if given := d.chat.list(); !slices.Equal(given, want) {
		d.Errorf("the chat got %q, want %q", given, want)
	}
}

func TestRowActions_TimeoutByKeyboard(t *testing.T) {
	d, w := openThrottled(t, 1600, 900)
	w.Must(chromedp.Evaluate[chromedp.Void](findControl("timeout") + ".focus()"))
	w.press(kb.Enter, "first")
	w.See(elementHasText(question, "Time out Spammer for"))
	w.wantNoOverflow()
	w.Accessible()
	w.Type(kb.Tab)
	w.Type(kb.Enter) // 1 min
	w.See(elementHasText(question, "Timed out until "))
	d.wantActs("timeout 1m0s of 42")
	d.wantAudit(journal.UserTimedOut)
	w.Accessible()
	w.See(findControl("lift") + "&& !" + findControl("timeout") + "&& !" + findControl("ban"))
	w.choose("Undo")
	w.See(elementHasText(question, "Timeout ended.") + "&&" + elementHasText(deedOf42, "timeout ended"))
	d.wantActs("timeout 1m0s of 42", "lift of 42")
	d.wantAudit(journal.UserLifted)
	w.See(findControl("timeout"))
}

func TestRowActions_TimeoutTyped(t *testing.T) {
	d, w := openThrottled(t, 360, 800)
	w.act("menu")
	w.choose("Time out")
	w.See(elementHasText(question, "Time out Spammer for"))
	w.wantNoOverflow()
	w.Accessible()
	w.Write(".question [name=reason]", "too loud")
	for _, wrong := range []string{"soon", "0", "15d"} {
		w.Write(".question [name=length]", wrong+kb.Enter)
		w.See(elementHasText(question, "A timeout lasts from 1 second to 14 days, such as 10m, 1h30m or 2d, not “"+wrong+"”.") + "&& !" + elementHasText(deedOf42, "refused"))
		w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector(".question [name=length]").value = ""`))
	}
	w.Write(".question [name=length]", "1h30"+kb.Enter)
	w.See(elementHasText(question, "Timed out until "))
	d.wantActs("timeout 1h30m0s too loud of 42")
}

// Once a timeout by chatguard is over, the row offers another one instead of its end.
func TestRowActions_TimeoutOver(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.Timeout, Duration: 30 * time.Second}}
	}))
	v := d.say(spammer, 4)
	d.server.Report(journal.Outcome{Entry: v.EntryID, At: d.now(), Action: chatguard.Timeout, Result: journal.Done})
	w := d.open(1600, 900)
	w.See(findControl("lift") + "&& !" + findControl("timeout"))
	d.advance(31 * time.Second)
	w.See(findControl("timeout") + "&& !" + findControl("lift"))
}

// A timeout that would shorten another asks for a confirmation.
func TestRowActions_TimeoutConfirmed(t *testing.T) {
	d, w := openThrottled(t, 1600, 900)
	d.chat.silence(spammer.ID, journal.Silence{Until: d.now().Add(time.Hour), By: "twitch:mo"})
	w.act("timeout")
	w.choose("30 s")
	w.See(elementHasText(question, "the user is timed out for another 60 min, by mo: a timeout of 30 s would be shorter"))
	d.wantActs()
	w.choose("Time out anyway")
	w.See(elementHasText(question, "This replaces a timeout until ") + "&&" + elementHasText(question, "by mo on Twitch."))
	d.wantActs("timeout 30s of 42")
}

func TestRowActions_Ban(t *testing.T) {
	d, w := openThrottled(t, 1600, 900)
	w.act("ban")
	w.See(elementHasText(question, "Ban Spammer permanently? They can’t write until you unban them."))
	w.Accessible()
	w.choose("Ban")
	w.See(elementHasText(deedOf42, "banned"))
	d.wantActs("ban of 42")
	w.choose("Close")
	d.chat.silence(spammer.ID, journal.Silence{Banned: true, By: "twitch:mo"}) // somebody else bans again
	w.act("lift")
	w.See(elementHasText(question, "Unban Spammer? It was given by mo on Twitch."))
	w.Accessible()
	w.choose("Unban")
	w.See(elementHasText(question, "Unbanned. It was given by mo on Twitch."))
	d.wantActs("ban of 42", "lift of 42")
}

// Where chatguard doesn't moderate the chat, and for viewers, there are no buttons to time out and
// ban.
func TestRowActions_NoActs(t *testing.T) {
	d := dash(t)
	d.control.Join(control.Chat{})
	w := d.open(1600, 900)
	d.say(spammer, 4)
	w.See(findControl("pardon"))
	if browsertest.Eval[bool](w.Window, "Boolean("+findControl("timeout")+"||"+findControl("ban")+")") {
		t.Error("the row has buttons to time out or ban")
	}
	w.act("name")
	w.See(`document.getElementById("amend-reset")`)
	if browsertest.Eval[bool](w.Window, `Boolean(document.getElementById("amend-timeout") || document.getElementById("amend-ban"))`) {
		t.Error("the card has buttons to time out or ban")
	}
}

func TestCard_TimeoutAndBan(t *testing.T) {
	for _, width := range []int64{360, 1400} {
		d, w := openThrottled(t, width, 900)
		w.act("name")
		w.See(`document.getElementById("amend-timeout")`)
		w.Click("#amend-timeout")
		w.See(`document.querySelector("form.amend #timeout-length").value === "10m"`)
		w.wantNoOverflow()
		w.Accessible()
		w.Write("#act-reason", "spam"+kb.Enter)
		w.See(hasText("Timed out until ") + "&&" + hasText("Spammer is timed out by anna (link) and may write again in "))
		w.See(`!document.getElementById("amend-lift").hidden && document.getElementById("amend-lift").innerText === "End timeout…"`)
		w.Click(".amends .note button") // Undo
		w.See(hasText("Timeout ended.") + `&& !document.getElementById("amend-lift")`)
		w.Click("#amend-ban")
		w.See(hasText("Ban spammer permanently? They can’t write until you unban them."))
		w.Accessible()
		w.Click("form.amend .primary")
		w.See(hasText("Spammer is banned by anna (link).") + `&& !document.getElementById("amend-timeout")`)
		w.Accessible()
		w.Click("#amend-lift")
		w.See(hasText("Unban spammer? It was given by anna (link)."))
		w.Click("form.amend .primary")
		w.See(hasText("Unbanned.") + `&& document.getElementById("amend-timeout")`)
		w.wantNoOverflow()
		d.wantActs("timeout 10m0s spam of 42", "lift of 42", "ban of 42", "lift of 42")
	}
}
