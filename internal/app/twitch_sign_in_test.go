package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// A broadcaster has all rights over an installation of one channel. While one of two channels isn't
// known, because it can't be joined, the broadcaster of the other one has none that are about both.
func TestTwitchSignIn_UnknownChannel(t *testing.T) {
	t.Parallel()
	for channels, want := range map[string]int{"gardenhour": http.StatusOK, "gardenhour gone": http.StatusForbidden} {
		synctest.Test(t, func(t *testing.T) {
			c := oneMessageConfig(config.TransportIRC)
			c.Twitch.Channels = strings.Fields(channels)
			c.Twitch.ClientSecret, c.Web.TwitchSignIn = "fake0client0secret", true
			s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}, ClientSecret: "fake0client0secret"})
			s.start()
			cookies := s.signIn("gardenhour")
			if a := s.browse("/api/v1/access", cookies); a.StatusCode != want {
				t.Errorf("%s: who has access: %s", channels, a.Status)
			}
			if a := s.browse("/api/v1/channels/"+s.server.UserID("gardenhour")+"/policy", cookies); a.StatusCode != http.StatusOK {
				t.Errorf("%s: the own channel: %s", channels, a.Status)
			}
		})
	}
}

// browse sends a request of a browser to the dashboard.
func (s *simulation) browse(path string, cookies []*http.Cookie) *http.Response {
	r, w := httptest.NewRequest("GET", "http://localhost:8080"+path, nil), httptest.NewRecorder()
	for _, c := range cookies {
		r.AddCookie(c)
	}
	s.bot.Web.Handler().ServeHTTP(w, r)
	return w.Result()
}

// signIn signs in with an account on Twitch, and returns the browser's cookies.
func (s *simulation) signIn(login string) []*http.Cookie {
	s.Helper()
	s.server.RegisterRedirect(s.bot.SignInRedirect())
	begun := s.browse("/signin/twitch", nil)
	back, err := s.server.Authorize(begun.Header.Get("Location"), login)
	must(s, err)
	to, err := url.Parse(back)
	must(s, err)
	return s.browse(to.RequestURI(), begun.Cookies()).Cookies()
}
