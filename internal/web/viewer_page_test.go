//go:build browser

package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

// openViewer opens the page of a viewer who has signed in.
func (d *dashboard) openViewer(v auth.Viewer, width, height int64) *browsertest.Window {
	d.Helper()
	w := browsertest.Open(d.TB, width, height)
	w.SetTimezone("Asia/Kolkata")
	c := d.viewerCookie(v)
	w.Must(
		chromedp.Navigate("http://"+d.address+"/favicon.svg"),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.cookie = `%s=%s; path=/`", c.Name, c.Value)),
		chromedp.Navigate("http://"+d.address+"/viewer?channel=somechannel"),
	)
	w.See(`document.querySelector(".state")`)
	return w
}

// The page counts down and follows what happens, also while chatguard restarts. A hostile name and
// a narrow window don't break it.
func TestViewerPage_Follows(t *testing.T) {
	d := dash(t, showViewers)
	w := d.openViewer(auth.Viewer{ID: spammer.ID, Login: "spammer", DisplayName: "\u202e<b>" + fmt.Sprintf("%0150d", 0)}, 320, 640)
	w.See(`document.querySelector(".state.is-free") && document.querySelectorAll(".limits li").length === 2`)
	last := d.say(spammer, 4)
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	w.See(fmt.Sprintf(`document.querySelector(".viewer .card").innerText.includes(%q)`, journal.MaySpeakAt(last).In(kolkata).Format("15:04:05")))
	for _, scheme := range []string{"light", "dark"} {
		w.Prefer(map[string]string{"prefers-color-scheme": scheme})
		w.See(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, scheme))
		w.Accessible()
	}
	if wide := browsertest.Eval[int](w, `document.documentElement.scrollWidth`); wide > 320 {
		t.Errorf("the page is %d px wide", wide)
	}
	first := browsertest.Eval[string](w, `document.querySelector(".countdown").innerText`)
	w.See(fmt.Sprintf(`document.querySelector(".countdown").innerText !== %q`, first))
	if err := d.guard.Reset(t.Context(), chatguard.Key{ChannelID: channelID, UserID: spammer.ID}); err != nil {
		t.Fatal(err)
	}
	w.See(`document.querySelector(".state.is-free") && document.querySelector("[aria-live]").innerText === document.querySelector(".state").innerText`)
	sessions := d.server.viewers.sessions
	d.stop()
	w.See(`document.querySelector("[role=status]")?.innerText === "chatguard doesn’t answer. Trying again."`)
	d.start(d.opts)
	d.server.viewers.sessions = sessions // otherwise the viewer would have to sign in again
	w.See(`!document.querySelector("[role=status]") && document.querySelector(".state.is-free")`)
}

func TestViewerPage_SignInAndOut(t *testing.T) {
	s := dashWithTwitch(t, showViewers, func(o *Options) { o.Access.Site.PublicURL = nil })
	w := s.openViewer(viewerOf(spammer), 1400, 900)
	w.Click("#sign-out")
	w.See(`document.querySelector("#sign-in").getAttribute("href") === "signin/twitch?for=viewer"`)
	w.Accessible()
	w.Must(chromedp.Reload())
	w.See(`document.querySelector("#sign-in")`)
	// The sign-in comes back without the channel.
	c := s.viewerCookie(viewerOf(spammer))
	w.Must(
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.cookie = `%s=%s; path=/`", c.Name, c.Value)),
		chromedp.Navigate("http://"+s.address+"/viewer"),
	)
	w.See(`document.querySelector("h1").innerText === "Your messages in somechannel"`)
}
