//go:build browser

package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

var screenshots = flag.String("screenshots", "", "folder to write pictures of the dashboard to")

func init() { stopBrowser = browsertest.Stop }

// dashboard is the whole app with a fake Twitch, and a window that has followed its sign-in link.
type dashboard struct {
	*browsertest.Window
	twitch *faketwitch.Server
	app    *app.App
}

// openDashboard opens a dashboard with the chat of the last hours. It uses the demo's
// configuration, adjusted.
func openDashboard(t *testing.T, width, height int64, hours int, adjust ...func(*config.Config)) *dashboard {
	t.Helper()
	server, err := faketwitch.Start(faketwitch.Options{Channels: []string{demoChannel}})
	if err != nil {
		t.Fatal(err)
	}
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	for _, f := range adjust {
		f(&c)
	}
	if hours > 0 {
		fillDatabase(t, server, c, hours)
	}
	a, err := app.Open(t.Context(), app.Options{Config: c, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if err := printLink(t.Context(), a, &printed); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		a.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.WaitJoined(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	d := &dashboard{browsertest.Open(t, width, height), server, a}
	d.Must(chromedp.Navigate(strings.Fields(printed.String())[1]))
	d.See(`document.querySelector(".figures dd") && document.querySelector(".figures dd").textContent !== "–"`)
	return d
}

// saveScreenshot saves a screenshot of the window if screenshots are requested.
func (d *dashboard) saveScreenshot(name string) {
	d.Helper()
	picture := d.Picture()
	if *screenshots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644); err != nil {
		d.Fatal(err)
	}
}

// rows returns an expression that is true if n rows of the table show the user.
func rows(name string, n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".row:not(.leaving) bdi")].filter((e) => e.textContent === %q).length === %d`, name, n)
}

// TestDashboard_Moderator checks a short evening. A user is throttled and appears, the moderator
// lowers the burst, and another user's next message, allowed before, is deleted.
func TestDashboard_Moderator(t *testing.T) {
	// nothing is refilled during the test
	d := openDashboard(t, 1400, 900, 0, func(c *config.Config) { c.Policy.Limits[0].Refill = time.Hour })
	var want []string
	for i := range 4 {
		id := say(t, d.twitch, "anna", "", fmt.Sprint("hello ", i))
		if i == 3 {
			want = append(want, id)
		}
	}
	d.See(rows("anna", 1))
	d.See(`document.querySelector(".row").innerText.includes("deleted")`)
	waitForDeletes(t, d.twitch, want)

	say(t, d.twitch, "berta", "", "one")
	d.Click(`nav a[href^="#/limits"]`)
	d.See(`document.querySelector("#burst-0")`)
	d.Write("#burst-0", "1")
	d.Press(".finish .primary")
	d.See(`document.body.innerText.includes("Saved by owner")`)
	waitForDeletes(t, d.twitch, append(want, say(t, d.twitch, "berta", "", "two")))
	d.Click(`nav a[href^="#/now"]`)
	d.See(rows("berta", 1))
	revisions, err := d.app.Host.Store.Revisions(t.Context(), d.app.Web.Channels()[0].ID)
	if err != nil || len(revisions) != 1 || revisions[0].Author != app.Owner || fmt.Sprint(revisions[0].Changes) != "[{limit.burst.burst 3 1}]" {
		t.Errorf("revisions %+v, %v", revisions, err)
	}
}

// look holds the settings of a screenshot.
type look struct {
	suffix        string
	width, height int64
	scheme        string
	pages         []string // besides Now
}

// TestDemo_FillsDashboard runs the demo's crowd and takes the screenshots for the
// documentation.
func TestDemo_FillsDashboard(t *testing.T) {
	looks := []look{
		{"", 1400, 800, "light", []string{"limits", "people", "journal", "audit"}},
		{"-dark", 1400, 800, "dark", []string{"limits"}},
		{"-phone", 360, 740, "light", []string{"limits", "people"}},
	}
	if *screenshots == "" {
		looks = looks[:1] // the others show the same
	}
	for _, l := range looks {
		t.Run("now"+l.suffix, func(t *testing.T) {
			d := openDashboard(t, l.width, l.height, 30)
			d.Prefer(map[string]string{"prefers-color-scheme": l.scheme, "prefers-reduced-motion": "reduce"})
			talking, hush := context.WithCancel(t.Context())
			hushed := make(chan error, 1)
			go func() {
				hushed <- (&faketwitch.Crowd{Channel: demoChannel, Seed: 1, Spammers: 8, RaidAt: 3 * time.Second}).Run(talking, d.twitch)
			}()
			d.See(`document.body.innerText.includes("Peak: ") && document.querySelector(".rows").innerText.includes("Badger") && document.querySelectorAll(".row").length >= 6`)
			d.saveScreenshot("now" + l.suffix)
			user := d.twitch.UserID(regulars[0])
			d.moderate(user)
			for _, page := range l.pages {
				d.show(page, user)
				d.saveScreenshot(page + l.suffix)
			}
			hush()
			if err := <-hushed; err != nil {
				t.Error(err)
			}
			if p := d.app.Guard.ChannelPolicy(d.app.Web.Channels()[0].ID); p.Mode != chatguard.Enforce {
				t.Errorf("the demo's mode is %s", p.Mode)
			}
		})
	}
}

// moderate makes the changes that the audit then shows.
func (d *dashboard) moderate(userID string) {
	d.Helper()
	channel := d.app.Web.Channels()[0].ID
	_, err := d.app.Host.Policies.Revise(d.Context(), control.Request{ChannelID: channel, Author: "anna"}, func(p chatguard.Policy) (chatguard.Policy, error) {
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 6}, chatguard.Subscriber: {Burst: 5, Refill: 3 * time.Second}}
		return p, nil
	})
	if err != nil {
		d.Fatal(err)
	}
	if _, _, err := d.app.Host.Controls.Grant(d.Context(), journal.Target{ChannelID: channel, UserID: userID, Author: "berta"}, "daily", 20); err != nil {
		d.Fatal(err)
	}
}

// show opens a page and waits until it has its content.
func (d *dashboard) show(page, userID string) {
	d.Helper()
	address := "#/" + page
	if page == "people" {
		address += "?user=" + userID
	}
	d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", address)))
	switch page {
	case "limits":
		d.See(`document.querySelector("#burst-0")`)
		d.Write("#burst-0", "2")
		d.See(`document.querySelector(".preview .headline")?.innerText.includes("messages more")`)
	case "people":
		d.See(`document.querySelector(".person canvas") && document.querySelector(".person").innerText.includes("20")`)
	case "journal":
		d.See(`document.querySelector("main").innerText.includes("deleted")`)
	case "audit":
		d.See(`["anna", "berta", "20 "].every((part) => document.querySelector("main").innerText.includes(part))`)
	}
}
