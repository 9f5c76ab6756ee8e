//go:build browser

package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
)

func init() { stopBrowser = browsertest.Stop }

// dashboard is the whole app with a fake Twitch, and a window that has followed its sign-in link.
type dashboard struct {
	*browsertest.Window
	twitch *faketwitch.Server
	app    *app.App
	crowd  *faketwitch.Crowd // of the demo's first channel; nil without a crowd
}

// openDashboard opens a dashboard of the demo's first channel, with the configuration adjusted.
func openDashboard(t *testing.T, width, height int64, adjust ...func(*config.Config)) *dashboard {
	t.Helper()
	server := twitchtest.Start(t, demoChannel)
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	for _, f := range adjust {
		f(&c)
	}
	return startDashboard(t, server, c, width, height)
}

// startDashboard runs the app and follows its sign-in link.
func startDashboard(t *testing.T, server *faketwitch.Server, c config.Config, width, height int64) *dashboard {
	t.Helper()
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	t.Cleanup(stop)
	var printed strings.Builder
	must(t, printLink(t.Context(), a, &printed))
	awaitJoined(t, server, len(c.Twitch.Channels))
	d := &dashboard{browsertest.Open(t, width, height), server, a, nil}
	d.Must(chromedp.Navigate(strings.Fields(printed.String())[1]))
	d.See(`document.querySelector(".figures dd") && document.querySelector(".figures dd").textContent !== "–"`)
	return d
}

// rows returns an expression that is true if n rows of the table show the user.
func rows(name string, n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".row:not(.leaving) bdi")].filter((e) => e.textContent === %q).length === %d`, name, n)
}

// TestDashboard_Moderator checks a short evening. A user is throttled and appears, the moderator
// lowers the burst, and another user's next message, allowed before, is deleted.
func TestDashboard_Moderator(t *testing.T) {
	// nothing is refilled during the test
	d := openDashboard(t, 1400, 900, func(c *config.Config) { c.Policy.Limits[0].Refill = time.Hour })
	var want []string
	for i := range 4 {
		id := say(t, d.twitch, "anna", fmt.Sprint("hello ", i))
		if i == 3 {
			want = append(want, id)
		}
	}
	d.See(rows("anna", 1))
	d.See(`document.querySelector(".row").innerText.includes("deleted")`)
	waitForDeletes(t, d.twitch, want)

	say(t, d.twitch, "berta", "one")
	d.Click(`nav a[href^="#/limits"]`)
	d.See(`document.querySelector("#burst-0")`)
	d.Write("#burst-0", "1")
	d.Press(".finish .primary")
	d.See(`document.body.innerText.includes("Saved by owner")`)
	waitForDeletes(t, d.twitch, append(want, say(t, d.twitch, "berta", "two")))
	d.Click(`nav a[href^="#/now"]`)
	d.See(rows("berta", 1))
	revisions, _, err := d.app.Host.Store.Revisions(t.Context(), d.app.Web.Channels()[0].ID, 0, 50)
	if err != nil || len(revisions) != 1 || revisions[0].Author != auth.OwnerName || fmt.Sprint(revisions[0].Changes) != "[{limit.burst.burst 3 1}]" {
		t.Errorf("revisions %+v, %v", revisions, err)
	}
}
