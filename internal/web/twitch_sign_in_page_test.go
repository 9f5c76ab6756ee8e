//go:build browser

package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// navigations are the documents that a browser has requested.
type navigations struct {
	mu    sync.Mutex
	paths []string
}

func (n *navigations) see(r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		n.paths = append(n.paths, r.URL.Path)
	}
}

// take returns the requests since the last call.
func (n *navigations) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.paths
	n.paths = nil
	return taken
}

// A whole sign-in at Twitch and back, through a proxy below a path: a stranger is refused, and a
// moderator gets in within three requests.
func TestTwitchSignInPage_Code(t *testing.T) {
	var s *twitchScene
	var seen navigations
	proxy := startProxy(t, httptest.NewServer, func() string { return s.address }, seen.see)
	home := strings.Replace(proxy.URL, "127.0.0.1", "localhost", 1) + "/chat/guard/" // for a browser, the fake Twitch is another site
	s = dashWithTwitchAt(t, clientSecret, trustProxy(strings.TrimSuffix(home, "/")))
	w := &window{browsertest.Open(t, 360, 800), s.dashboard}
	w.Must(chromedp.Navigate(home))
	w.See(hasText("Sign in with Twitch"))
	w.Accessible()

	w.Click("#with-twitch")
	w.See(hasText("Authorize chatguard?"))
	w.Write("#field", "stranger")
	w.Click("#Authorize")
	w.See(hasText("On Twitch, you are signed in as stranger."))
	w.Accessible()
	w.Click("#again")
	w.See(hasText("Authorize chatguard?"))
	w.Click("#Deny")
	w.See(hasText("You have not authorized chatguard"))
	w.Click("#back")
	w.See(hasText("Sign in with Twitch"))

	seen.take()
	w.Click("#with-twitch")
	w.See(hasText("Authorize chatguard?"))
	w.Write("#field", "anna")
	w.Click("#Authorize")
	w.See(`document.title === "Now · #garden · chatguard"`)
	w.See(hasText("anna"))
	if got, want := seen.take(), []string{"/signin/twitch", "/signin/twitch/callback", "/"}; !slices.Equal(got, want) {
		t.Errorf("requested %q, want %q", got, want)
	}
	if at := browsertest.Eval[string](w.Window, "location.href"); !strings.HasPrefix(at, home) || strings.Contains(at, "code") {
		t.Errorf("the page is at %s", at)
	}
	w.Must(chromedp.Reload())
	w.See(`document.title === "Now · #garden · chatguard"`)
}

// Without a secret, the sign-in page shows a code to enter on Twitch.
func TestTwitchSignInPage_Device(t *testing.T) {
	s := dashWithTwitchAt(t, "")
	s.twitch.SetDeviceTimes(30*time.Minute, time.Second)
	w := s.openBlank(360, 800)
	w.Must(chromedp.Navigate("http://" + s.address + "/"))
	w.Click("#with-twitch")
	w.See(`document.querySelector(".user-code code") && document.querySelector("#open-twitch").href.includes("/activate")`)
	w.Accessible()
	twitchtest.Eventually(t, "a login", func() bool {
		code, err := s.twitch.WaitLogin(t.Context())
		return err == nil && s.twitch.ApproveAs(code, "anna")
	})
	w.See(`document.title === "Now · #garden · chatguard"`)
}
