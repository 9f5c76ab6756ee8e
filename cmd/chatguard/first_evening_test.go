//go:build browser

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// firstEvening is a first start in an empty folder, with a window at its setup page and a fake
// Twitch. It counts what the person has to do.
type firstEvening struct {
	*browsertest.Window
	tab          *browsertest.Window // where links lead; nil before the first
	twitch       *faketwitch.Server
	folder       string
	clicks, keys int
}

// beginEvening serves the setup page and follows its link. The App that results runs until the test
// ends.
func beginEvening(t testing.TB, width, height int64) *firstEvening {
	t.Helper()
	server, err := faketwitch.Start(faketwitch.Options{})
	must(t, err)
	server.SetDeviceTimes(30*time.Minute, time.Second)
	e := &firstEvening{twitch: server, folder: t.TempDir()}
	s := newDemoSetup(server, filepath.Join(e.folder, defaultConfig), "127.0.0.1:0", io.Discard)
	links := make(chan string, 1)
	s.open = func(link string) bool { links <- link; return true }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runEvening(ctx, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	e.Window = browsertest.Open(t, width, height)
	select {
	case link := <-links:
		e.Must(chromedp.Navigate(link))
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return e
}

// runEvening runs the setup and then the App until the context ends.
func runEvening(ctx context.Context, s *setup) (err error) {
	a, err := s.run(ctx)
	defer s.close()
	if a == nil || err != nil {
		return err
	}
	defer a.Close()
	return a.Run(ctx)
}

// press clicks as the person does.
func (e *firstEvening) press(selector string) { e.Helper(); e.clicks++; e.Press(selector) }

// write types as the person does, after a click into the field.
func (e *firstEvening) write(field, text string) {
	e.Helper()
	e.clicks, e.keys = e.clicks+1, e.keys+len(text)
	e.Write(field, text)
}

// visit opens a link of the page in another tab, and presses a button there.
func (e *firstEvening) visit(link, button string) {
	e.Helper()
	e.clicks += 2
	if e.tab == nil {
		e.tab = browsertest.Open(e.TB, 900, 800)
	}
	e.tab.Must(chromedp.Navigate(browsertest.Eval[string](e.Window, fmt.Sprintf("document.querySelector(%q).href", link))))
	e.tab.Press(button)
}

// step waits until a step of the checklist has a state.
func (e *firstEvening) step(name, state string) {
	e.Helper()
	e.See(fmt.Sprintf(`document.querySelector("#step-%s.%s")`, name, state))
}

// look checks the page as shown, and saves its picture if pictures are wanted.
func (e *firstEvening) look(name string) {
	e.Helper()
	e.Accessible()
	e.photograph(name)
	if *pages != "" {
		d := &dashboard{Window: e.Window}
		d.photograph("start-"+name, sizes)
		d.resize(laptop)
	}
}

func (e *firstEvening) photograph(name string) {
	e.Helper()
	if *screenshots != "" {
		must(e, os.WriteFile(filepath.Join(*screenshots, "start-"+name+".png"), e.Picture(), 0o644))
	}
}

// TestFirstEvening_FromAnEmptyFolder walks from an empty folder to the first deleted message,
// without a terminal after the command.
func TestFirstEvening_FromAnEmptyFolder(t *testing.T) {
	e := beginEvening(t, 1400, 900)
	began := time.Now()
	e.See(`document.querySelector("#begin")`)
	e.look("setup")
	e.press("#begin")
	e.See(`document.querySelector("#channel-about").textContent.startsWith("Enter the channel")`)
	e.write("#channel", "https://twitch.tv/GardenHour")
	e.press("#begin")

	e.step("connect", "todo")
	e.step("watch", "running")
	if file, err := os.ReadFile(filepath.Join(e.folder, defaultConfig)); err != nil || !strings.Contains(string(file), `channels = ["gardenhour"]`) {
		t.Fatalf("the configuration is %s, %v", file, err)
	}
	e.See(`!location.hash.includes("signin")`)
	say(t, e.twitch, "anna", "good evening")
	e.look("checklist")

	e.press("#connect")
	e.See(`document.querySelector("#client-id")`)
	e.look("client-id")
	e.write("#client-id", "nobodysapplication\r")
	e.See(`document.querySelector("#client-id-error").textContent.includes("knows no application")`)
	e.write("#client-id", e.twitch.ClientID()+"\r")
	e.See(`document.querySelector(".qr path") && document.querySelector(".user-code")`)
	e.look("code")
	e.visit("#open-twitch", "#Authorize")
	e.See(`document.querySelector(".connected")?.textContent.includes("chatguard_bot")`)
	e.look("connected")
	e.press("#connected")

	e.step("connect", "done")
	e.step("moderator", "todo")
	e.See(`document.querySelector("#step-moderator code").textContent === "/mod chatguard_bot"`)
	e.look("moderator")
	e.visit("#step-moderator a", "#Chat")
	e.step("moderator", "done")

	e.press("#enforce")
	e.look("enforce")
	e.press("#enforce-now")
	e.step("enforce", "done")
	e.look("done")

	var want []string
	for i := range 5 {
		if id := say(t, e.twitch, "spammer", fmt.Sprint("buy followers ", i)); i > 2 {
			want = append(want, id)
		}
	}
	waitForDeletes(t, e.twitch, want)
	e.See(rows("spammer", 1))
	t.Logf("from an empty folder to enforcing: %d clicks, %d keystrokes, %s", e.clicks, e.keys, time.Since(began).Round(time.Second))
}

// TestFirstEvening_Phone checks that the way fits a phone.
func TestFirstEvening_Phone(t *testing.T) {
	e := beginEvening(t, 320, 700)
	const fits = `document.documentElement.scrollWidth <= innerWidth`
	e.See(`document.querySelector("#begin")`)
	e.See(fits)
	e.photograph("setup-phone")
	e.write("#channel", "gardenhour")
	e.press("#begin")
	e.step("connect", "todo")
	e.See(fits)
	e.photograph("checklist-phone")
	e.press("#connect")
	e.See(`document.querySelector("#client-id")`)
	e.See(fits)
	e.photograph("client-id-phone")
	e.write("#client-id", e.twitch.ClientID()+"\r")
	e.See(`document.querySelector(".qr path")`)
	e.See(fits)
	e.photograph("code-phone")
}
