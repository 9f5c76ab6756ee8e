//go:build browser

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/waittest"
)

func init() { stopBrowser = browsertest.Stop }

// openWindow opens the page for a user.
func openWindow(t *testing.T, address, name string, width, height int64) *browsertest.Window {
	t.Helper()
	w := browsertest.Open(t, width, height)
	enter(w, address, name)
	return w
}

// enter shows the page in a window, for a user.
func enter(w *browsertest.Window, address, name string) {
	w.Helper()
	w.Must(chromedp.Navigate("http://" + address + "/"))
	w.Write("#name", name+"\r")
	w.See(`document.querySelector("#said .empty")`)
}

// pageShows returns a script condition that is true once the page shows a message.
func pageShows(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#said p")].some((p) => p.textContent === %q)`, text)
}

func TestPage_CountsDown(t *testing.T) {
	address, _ := start(t, settings{policy: chatguard.DefaultPolicy()})
	anna, ben := openWindow(t, address, "Anna", 360, 640), openWindow(t, address, "Ben", 1400, 900)
	ben.Write("#text", "hello\r")
	anna.See(pageShows("Benhello"))
	ben.See(pageShows("Benhello"))
	anna.Must(chromedp.Evaluate[chromedp.Void](`{
		window.heard = [];
		window.seen = [];
		const watch = (id, note) => new MutationObserver(note).observe(document.querySelector(id), { childList: true });
		watch("#aloud", () => heard.push(document.querySelector("#aloud").textContent));
		watch("#wait", () => seen.push([document.querySelector("#wait").textContent, document.querySelector("#send").ariaDisabled, document.querySelector("#text").value].join("|")));
	}`))
	last, lines := "", 1
	for ; !browsertest.Eval[bool](anna, "heard.length > 0"); lines++ {
		// a slow machine may write more than three
		if last = fmt.Sprint("line ", lines); lines == 100 {
			t.Fatal("nobody is ever too fast")
		}
		anna.Write("#text", last+"\r")
		anna.See(pageShows("Anna"+last) + "|| heard.length > 0")
	}
	anna.Accessible()
	// the page reads each text aloud once
	anna.See(`/^Too fast: next message in [1-4] s. You may write again.$/.test(heard.join(" "))`)
	anna.See(fmt.Sprintf(`seen.some((line) => /^Too fast: next message in [1-4] s\.\|true\|%s$/.test(line))`, last))
	anna.Press("#send")
	anna.See(pageShows("Anna" + last))
	ben.See(pageShows("Anna" + last))
	if n := browsertest.Eval[int](ben, `document.querySelectorAll("#said p").length`); n != lines {
		t.Errorf("Ben sees %d lines, and %d were said", n, lines)
	}
	anna.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector("#text").value = "日".repeat(700)`))
	anna.Press("#send")
	anna.See(`/too long/.test(document.querySelector("#wait").textContent) && document.querySelector("#text").value.length === 700`)
}

func TestPage_LongWaits(t *testing.T) {
	days := chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{
		{Name: "days", Algorithm: chatguard.UserWindow, Messages: 1, Every: 48 * time.Hour},
	}}
	anna := browsertest.Open(t, 360, 640)
	for want, p := range map[string]chatguard.Policy{
		`/^Used up: next message from \S+day/`:         days,
		`/^Your message goes out in \d+ min \d+ s\.$/`: leakyPolicy(30 * time.Minute),
	} {
		s := openPage(t, p)
		enter(anna, s.address, "Anna")
		for _, text := range []string{"one", "two"} {
			anna.Write("#text", text+"\r")
		}
		anna.See(want + `.test(document.querySelector("#wait").textContent)`)
		s.stop()
		anna.See(`document.querySelector("#text").value === "two"`) // it was never sent
		anna.Must(chromedp.Navigate("about:blank"))
	}
}

// openPage starts a chat with its page.
func openPage(t *testing.T, p chatguard.Policy) *served {
	t.Helper()
	return openChat(t, p, connguard.Options{}, func(mux *http.ServeMux, _ func(http.Handler) http.Handler) { mux.Handle("/", pageHandler()) })
}

// folds returns a script condition that is true once the page shows folds with these summaries.
func folds(summaries ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#said summary")].map((s) => s.textContent).join("|") === %q`, strings.Join(summaries, "|"))
}

// inSight is a script condition: the last message can be read.
const inSight = `(() => {
	const line = [...document.querySelectorAll("#said p")].at(-1);
	return line.checkVisibility() && line.getBoundingClientRect().bottom <= document.querySelector("#said").getBoundingClientRect().bottom + 1;
})()`

func TestPage_FoldsLowPriority(t *testing.T) {
	const hostile = "<img src=x onerror=alert(1)>"
	s := openPage(t, slowCascade())
	anna, ben := openWindow(t, s.address, "Anna", 360, 260), openWindow(t, s.address, "Ben", 360, 320)
	carl, dora := s.visit(t, hostile, "main"), s.visit(t, "Dora", "main")
	waittest.Until(t, func() bool { return s.members() == 4 })
	for n, shown := range []string{"Anna1", "Anna2", "Anna3", "4", "5"} {
		anna.Write("#text", fmt.Sprint(n+1, "\r"))
		anna.See(pageShows(shown))
	}
	ben.See(folds("2 more from Anna") + "&& !" + inSight)
	anna.See(folds("2 more from you, folded for others") + "&&" + inSight)
	ben.TypeIn("#said summary", "\r")
	ben.See(pageShows("5") + "&&" + inSight)
	ben.Click("#said summary")
	ben.See("!" + inSight)

	for _, text := range []string{"1", "2", "3", "<b>4</b>"} {
		carl.say(text)
	}
	ben.See(folds("2 more from Anna", "1 more from "+hostile))
	for _, text := range []string{"1", "2", "3"} {
		dora.say(text)
	}
	ben.See(pageShows("Dora3"))
	carl.say("5")
	ben.See(folds("2 more from Anna", "1 more from "+hostile, "1 more from "+hostile))
	dora.say("4")
	ben.See(folds("2 more from Anna", "1 more from "+hostile, "1 more from "+hostile, "1 more from Dora"))
	ben.See(pageShows("<b>4</b>") + `&& !document.querySelector("#said img, #said p b b")`)
	ben.Click("#said details:last-child summary")
	ben.See(inSight)
	for _, scheme := range []string{"light", "dark"} {
		ben.Prefer(map[string]string{"prefers-color-scheme": scheme})
		ben.Accessible()
	}
	anna.Accessible()
}

// TestPage_DropsOldest fills the page. The fold of a user whose messages are all dropped goes with
// them, and the number of a fold that loses messages falls.
func TestPage_DropsOldest(t *testing.T) {
	s := openPage(t, chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.CascadeLimit("burst", 1, 4*time.Hour, 600, 20*time.Hour),
	}})
	ben, carl := openWindow(t, s.address, "Ben", 1000, 640), s.visit(t, "Carl", "main")
	waittest.Until(t, func() bool { return s.members() == 2 })
	carl.say("1")
	carl.say("2")
	ben.See(folds("1 more from Carl"))
	carl.CloseNow()
	dora := s.visit(t, "Dora", "main")
	write := func(lines int) {
		for n := range lines {
			text := fmt.Sprint(n + 1)
			dora.say(text)
			if dora.hear(); n%(outbox/2) == 0 { // so that the page can follow
				ben.See(fmt.Sprintf(`document.querySelector("#said").textContent.endsWith(%q)`, text))
			}
		}
	}
	const full = `&& document.querySelectorAll("#said p").length === 500`
	write(500) // the first is of normal priority
	ben.See(folds("499 more from Dora") + full)
	write(2)
	ben.See(folds("500 more from Dora") + full)
}

func TestDashboard_ChangesALimit(t *testing.T) {
	address, _ := start(t, settings{policy: slowPolicy(), db: filepath.Join(t.TempDir(), "chat.db"), moderator: "eve:secret"})
	eve := browsertest.Open(t, 1400, 900)
	eve.Must(chromedp.Navigate("http://eve:secret@"+address+"/moderate/"), chromedp.Navigate("http://"+address+"/moderate/"))
	anna := visitTo(t, address, "chat", "Anna", "main")
	for _, text := range []string{"1", "2", "3", "4"} {
		anna.say(text)
	}
	anna.wantLines("Anna: 1", "Anna: 2", "Anna: 3")
	if f := anna.hear(); f.Verdict == nil || f.Verdict.Allowed {
		t.Fatalf("heard %+v", f)
	}
	shows := func(text string) { t.Helper(); eve.See(fmt.Sprintf("document.body.innerText.includes(%q)", text)) }
	shows("Anna")
	shows("blocked")
	eve.Click(`header nav a[href^="#/limits"]`)
	eve.Write("#burst-0", "50")
	eve.Press(".finish .primary")
	shows("Saved by eve")
	anna.say("5")
	anna.wantLines("Anna: 5")
	eve.Must(chromedp.Navigate("about:blank"))
}
