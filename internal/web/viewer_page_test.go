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

const viewerState = `document.querySelector(".viewer .state").innerText`

func TestViewerPage_WaitsAndIsFree(t *testing.T) {
	d := dash(t, showViewers)
	w := d.openViewer(viewerOf(spammer), 1400, 900)
	w.See(viewerState + ` === "You may write now."`)
	w.See(`document.querySelector("h1").innerText === "Your messages in somechannel" && document.querySelectorAll(".limits li").length === 2`)
	last := d.say(spammer, 4)
	w.See(`/^You may write again in\s+(10:00|9:\d\d)$/.test(` + viewerState + `)`)
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	w.See(fmt.Sprintf(`document.querySelector(".viewer .card").innerText.includes("That is at %s.")`, last.MaySpeakAt().In(kolkata).Format("15:04:05")))
	w.See(`document.querySelector(".viewer .card").innerText.includes("You have used up the limit burst: 3 messages at once, then one more every 10 minutes.")`)
	w.See(`document.querySelector(".limits li").innerText.includes("0 of 3 left") && document.querySelectorAll(".limits li")[1].innerText.includes("297 of 300 left")`)
	w.See(`document.querySelector("footer").innerText.includes("Signed in as Spammer") && document.querySelector("footer").innerText.includes("Times are in Asia/Calcutta.")`)
	for _, scheme := range []string{"light", "dark"} {
		w.Prefer(map[string]string{"prefers-color-scheme": scheme})
		w.See(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, scheme))
		w.Accessible()
	}
	first := browsertest.Eval[string](w, `document.querySelector(".countdown").innerText`)
	w.See(fmt.Sprintf(`document.querySelector(".countdown").innerText !== %q`, first))
	if err := d.guard.Reset(chatguard.Key{ChannelID: channelID, UserID: spammer.ID}); err != nil {
		t.Fatal(err)
	}
	w.See(viewerState + ` === "You may write now."`)
	w.See(`document.querySelector("[aria-live]").innerText === "You may write now."`)
}

// A hostile name and a narrow window don't break the page.
func TestViewerPage_Phone(t *testing.T) {
	d := dash(t, showViewers)
	d.do("POST", "/api/v1/channels/7/users/42/timeout", map[string]string{"length": "2d"}, asOwner)
	w := d.openViewer(auth.Viewer{ID: spammer.ID, Login: "spammer", DisplayName: "\u202e<b>" + fmt.Sprintf("%0150d", 0)}, 320, 640)
	w.See(`document.querySelector(".countdown").innerText.startsWith("47:59:") || document.querySelector(".countdown").innerText === "48:00:00"`)
	w.See(`document.querySelector(".card").innerText.includes("You are timed out until")`)
	if wide := browsertest.Eval[int](w, `document.documentElement.scrollWidth`); wide > 320 {
		t.Errorf("the page is %d px wide", wide)
	}
	w.Accessible()
}

func TestViewerPage_SignInAndOut(t *testing.T) {
	s := dashWithTwitch(t, showViewers, func(o *Options) { o.Site.PublicURL = nil })
	w := s.openViewer(viewerOf(spammer), 1400, 900)
	w.Click("#sign-out")
	w.See(`document.querySelector("h1").innerText === "When may you write again?"`)
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

func TestViewerPage_NoSignIn(t *testing.T) {
	d := dash(t, showViewers)
	w := browsertest.Open(t, 1400, 900)
	w.Must(chromedp.Navigate("http://" + d.address + "/viewer"))
	w.See(`document.querySelector(".card").innerText === "Signing in with Twitch isn’t set up here."`)
}

func TestViewerPage_UnknownChannel(t *testing.T) {
	d := dash(t, showViewers)
	w := d.openViewer(viewerOf(spammer), 1400, 900)
	w.Must(chromedp.Navigate("http://" + d.address + "/viewer/elsewhere"))
	w.See(viewerState + ` === 'There is no channel "elsewhere" here.'`)
}

// Without an answer, the page says so and goes on by itself.
func TestViewerPage_Away(t *testing.T) {
	d := dash(t, showViewers)
	w := d.openViewer(viewerOf(spammer), 1400, 900)
	sessions := d.server.viewers.sessions
	d.stop()
	w.See(`document.querySelector("[role=status]")?.innerText === "chatguard doesn’t answer. Trying again."`)
	d.start(d.opts)
	d.server.viewers.sessions = sessions // otherwise the viewer would have to sign in again
	w.See(`!document.querySelector("[role=status]") && ` + viewerState + ` === "You may write now."`)
}
