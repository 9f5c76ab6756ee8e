package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

// start runs the program, and returns its address and what ends it.
func start(t *testing.T, s settings) (address string, end func()) {
	t.Helper()
	s.listen = "127.0.0.1:0"
	ctx, stop := context.WithCancel(context.Background())
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, s, out)
		out.CloseWithError(fmt.Errorf("it has ended: %w", err))
		ended <- err
	}()
	end = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(strings.TrimSpace(line), "htp:/"), end
}

func TestARestartForgivesNothing(t *testing.T) {
	s := settings{policy: slow(), db: filepath.Join(t.TempDir(), "chat.db"), moderator: "eve:secret"}
	address, end := start(t, s)
	anna := visitTo(t, address, "chat", "Anna", "main")
	for _, text := range []string{"1", "2", "3"} {
		anna.say(text)
	}
	anna.hears("Anna: 1", "Anna: 2", "Anna: 3")
	go end()
	if _, _, err := anna.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the end was %v", err)
	}
	end()

	address, _ = start(t, s)
	anna = visitTo(t, address, "chat", "anna", "nowhere") // which is the room main
	anna.say("4")
	if f := anna.hear(); f.Verdict == nil || f.Verdict.Allowed || f.Verdict.Limit != "burst" {
		t.Errorf("heard %+v", f)
	}
	anna.CloseNow()
}

func TestOnlyTheModeratorSeesTheDashboard(t *testing.T) {
	address, _ := start(t, settings{policy: policy(), moderator: "eve:secret"})
	for credentials, want := range map[string]int{"": 401, "eve:wrong": 401, "eve:": 401, "eve:secret": 200} {
		r, err := http.NewRequest("GET", "http://"+address+"/moderate/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if name, password, ok := strings.Cut(credentials, ":"); ok {
			r.SetBasicAuth(name, password)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q gets %s, want %d", credentials, answer.Status, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := run(t.Context(), settings{policy: policy(), listen: "127.0.0.1:0", moderator: "eve"}, io.Discard); err == nil {
		t.Error("a moderator without a password")
	}
}

// window opens the page for somebody.
func window(t *testing.T, address, name string, width, height int64) *browsertest.Window {
	t.Helper()
	w := browsertest.Open(t, width, height)
	w.Must(chromedp.Navigate("http://" + address + "/"))
	w.Write("#name", name+"\r")
	w.See(`document.querySelector("#said .empty")`)
	return w
}

// said is true once the page shows a message.
func said(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#said p")].some((p) => p.textContent === %q)`, text)
}

func TestThePageCountsDown(t *testing.T) {
	address, _ := start(t, settings{policy: policy()})
	anna, ben := window(t, address, "Anna", 360, 640), window(t, address, "Ben", 1400, 900)
	ben.Write("#text", "hello\r")
	anna.See(said("Benhello"))
	ben.See(said("Benhello"))
	anna.Must(chromedp.Evaluate[chromedp.Void](`{
		window.heard = [];
		window.seen = [];
		const watch = (id, note) => new MutationObserver(note).observe(document.querySelector(id), { childList: true });
		watch("#aloud", () => heard.push(document.querySelector("#aloud").textContent));
		watch("#wait", () => seen.push([document.querySelector("#wait").textContent, document.querySelector("#send").ariaDisabled, document.querySelector("#text").value].join("|")));
	}`))
	last, lines := "", 1
	for ; !browsertest.Eval[bool](anna, "heard.length > 0"); lines++ { // a slow machine may write more than three
		if last = fmt.Sprint("line ", lines); lines == 100 {
			t.Fatal("nobody is ever too fast")
		}
		anna.Write("#text", last+"\r")
		anna.See(said("Anna"+last) + "|| heard.length > 0")
	}
	anna.Accessible()
	anna.See(`/^Too fast: next message in [1-4] s. You may write again.$/.test(heard.join(" "))`) // each once
	anna.See(fmt.Sprintf(`seen.some((line) => /^Too fast: next message in [1-4] s\.\|true\|%s$/.test(line))`, last))
	anna.Press("#send")
	anna.See(said("Anna" + last))
	ben.See(said("Anna" + last))
	if n := browsertest.Eval[int](ben, `document.querySelectorAll("#said p").length`); n != lines {
		t.Errorf("Ben sees %d lines, and %d were said", n, lines)
	}
	anna.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector("#text").value = "日".repeat(700)`))
	anna.Press("#send")
	anna.See(`/too long/.test(document.querySelector("#wait").textContent) && document.querySelector("#text").value.length === 700`)
	for _, scheme := range []string{"light", "dark"} {
		ben.Prefer(map[string]string{"prefers-color-scheme": scheme})
		ben.Accessible()
	}
}

func TestThePageTellsLongWaits(t *testing.T) {
	days := chatguard.Policy{Mode: chatguard.Enforce, Limits: []chatguard.Limit{
		{Name: "days", Algorithm: chatguard.UserWindow, Messages: 1, Every: 48 * time.Hour},
	}}
	for want, p := range map[string]chatguard.Policy{
		`/^Used up: next message from \S+day/`:         days,
		`/^Your message goes out in \d+ min \d+ s\.$/`: leaky(30 * time.Minute),
	} {
		s := open(t, p, chatguard.MiddlewareOptions{}, func(mux *http.ServeMux, _ func(http.Handler) http.Handler) { mux.Handle("/", page()) })
		anna := window(t, s.address, "Anna", 360, 640)
		for _, text := range []string{"one", "two"} {
			anna.Write("#text", text+"\r")
		}
		anna.See(want + `.test(document.querySelector("#wait").textContent)`)
		s.stop()
		anna.See(`document.querySelector("#text").value === "two"`) // which never went out
		anna.Must(chromedp.Navigate("about:blank"))
	}
}

func TestThereAreNoOtherRooms(t *testing.T) {
	for path, want := range map[string]int{"/": http.StatusOK, "/?room=music": http.StatusOK, "/?room=cellar": http.StatusNotFound} {
		w := httptest.NewRecorder()
		page().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s is answered with %d, want %d", path, w.Code, want)
		}
	}
}

func TestTheModeratorChangesALimit(t *testing.T) {
	address, _ := start(t, settings{policy: slow(), db: filepath.Join(t.TempDir(), "chat.db"), moderator: "eve:secret"})
	eve := browsertest.Open(t, 1400, 900)
	eve.Must(chromedp.Navigate("http://eve:secret@"+address+"/moderate/"), chromedp.Navigate("http://"+address+"/moderate/"))
	anna := visitTo(t, address, "chat", "Anna", "main")
	for _, text := range []string{"1", "2", "3", "4"} {
		anna.say(text)
	}
	anna.hears("Anna: 1", "Anna: 2", "Anna: 3")
	if f := anna.hear(); f.Verdict == nil || f.Verdict.Allowed {
		t.Fatalf("heard %+v", f)
	}
	shows := func(text string) { t.Helper(); eve.See(fmt.Sprintf("document.body.innerText.includes(%q)", text)) }
	shows("Anna")
	shows("dropped")
	eve.Click(`header nav a[href^="#/limits"]`)
	eve.Write("#burst-0", "50")
	eve.Press(".finish .primary")
	shows("Saved by eve")
	anna.say("5")
	anna.hears("Anna: 5")
	eve.Must(chromedp.Navigate("about:blank"))
}
