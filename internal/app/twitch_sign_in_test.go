package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// installationRoutes are requests over the whole installation, each with a valid body.
var installationRoutes = map[string]string{
	"GET /access": "", "GET /nodes": "", "GET /webhooks": "", "GET /login": "", "POST /login": `{}`,
	"POST /tokens":   `{"name": "back", "role": "own"}`,
	"POST /links":    `{"name": "back", "role": "own"}`,
	"POST /webhooks": `{"name": "back", "url": "https://discord.com/api/webhooks/1/x", "format": "discord", "events": ["raid"]}`,
	"POST /check":    `{"channel": "room7", "user_id": "1"}`,
}

// signInConfig returns the configuration of a chatguard at which people sign in with Twitch.
func signInConfig(channels ...string) config.Config {
	c := oneMessageConfig(config.TransportIRC)
	c.Twitch.Channels = channels
	c.Twitch.ClientSecret, c.Web.TwitchSignIn = "fake0client0secret", true
	return c
}

// The broadcaster of the only channel that is known has all rights in it, and none over the
// installation, however the others are hidden.
func TestTwitchSignIn_OnlyKnownChannel(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(*simulation){
		"one channel": func(*simulation) {},
		"a room that no server has asked about since the restart": func(s *simulation) {
			token, err := s.bot.Host.Store.Tokens.NewToken(s.Context(), auth.Identity{Name: "server", Access: auth.Check}, 0)
			must(s, err)
			if a := s.request("POST", "/check", installationRoutes["POST /check"], setBearer(token)); a.StatusCode != http.StatusOK {
				s.Fatalf("the server's question: %s", a.Status)
			}
			s.stop()
			s.start()
		},
		"a channel that a reload has removed": func(s *simulation) {
			s.reload(func(c *config.Config) { c.Twitch.Channels = []string{"gardenhour", "tea"} })
			s.reload(func(c *config.Config) { c.Twitch.Channels = []string{"gardenhour"} })
		},
		"a channel that can't be joined": func(s *simulation) {
			s.reload(func(c *config.Config) { c.Twitch.Channels = []string{"gardenhour", "gone"} })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSimulation(t, signInConfig("gardenhour"), faketwitch.Options{Channels: []string{"gardenhour", "tea"}, ClientSecret: "fake0client0secret"})
			s.start()
			hide(s)
			cookies := s.signIn("gardenhour")
			for route, body := range installationRoutes {
				method, path, _ := strings.Cut(route, " ")
				if a := s.request(method, path, body, setCookies(cookies)); a.StatusCode != http.StatusForbidden {
					t.Errorf("%s: %s: %s", name, route, a.Status)
				}
			}
			for _, what := range []string{"policy", "settings", "overrides"} {
				if a := s.browse("/api/v1/channels/"+s.server.UserID("gardenhour")+"/"+what, cookies); a.StatusCode != http.StatusOK {
					t.Errorf("%s: %s of the own channel: %s", name, what, a.Status)
				}
			}
		})
	}
}

// An owner is named by login and held by ID: also after a restart and under another login, and not
// the account that has taken the login since. A reload takes effect at once.
func TestTwitchSignIn_Owners(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, signInConfig("gardenhour"), faketwitch.Options{Channels: []string{"gardenhour"}, ClientSecret: "fake0client0secret"})
		s.config.Web.Owners = []string{"anna"}
		s.start()
		owns := func(cookies []*http.Cookie, want bool, when string) {
			t.Helper()
			if a := s.browse("/api/v1/access", cookies); (a.StatusCode == http.StatusOK) != want {
				t.Errorf("%s: %s", when, a.Status)
			}
		}
		owns(s.signIn("anna"), true, "the owner")
		owns(s.signIn("gardenhour"), false, "a broadcaster")
		s.server.Rename("anna", "annabel")
		s.server.Rename("stranger", "anna")
		s.server.SetModerator("gardenhour", "anna", true)
		s.stop()
		s.start()
		owns(s.signIn("annabel"), true, "the owner's account after a restart")
		taker := s.signIn("anna")
		owns(taker, false, "the account that has taken the login")
		if log := s.log.String(); !strings.Contains(log, "remove the login from web.owners, reload, and add it again") {
			t.Errorf("the log says\n%s", log)
		}
		s.reload(func(c *config.Config) { c.Web.Owners = []string{} })
		s.reload(func(c *config.Config) { c.Web.Owners = []string{"anna", "gardenhour"} })
		s.advance(time.Minute)
		owns(taker, true, "the login was removed and added again")
		owner := s.signIn("gardenhour")
		owns(owner, true, "a new owner")
		s.config.Web.Owners = []string{"anna"}
		_, err := s.bot.Reload(s.config)
		must(t, err)
		owns(owner, false, "right after a reload without them")
	})
}

// reload loads a changed configuration, and advances time until its channels are read.
func (s *simulation) reload(change func(*config.Config)) {
	s.Helper()
	change(&s.config)
	_, err := s.bot.Reload(s.config)
	must(s, err)
	s.advance(readingTime)
}

// request sends a request to the API.
func (s *simulation) request(method, path, body string, adjust func(*http.Request)) *http.Response {
	r, w := httptest.NewRequest(method, "http://localhost:8080/api/v1"+path, strings.NewReader(body)), httptest.NewRecorder()
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	adjust(r)
	s.bot.Web.Handler().ServeHTTP(w, r)
	return w.Result()
}

func setBearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

func setCookies(cookies []*http.Cookie) func(*http.Request) {
	return func(r *http.Request) {
		for _, c := range cookies {
			r.AddCookie(c)
		}
	}
}

// browse sends a request of a browser to the dashboard.
func (s *simulation) browse(path string, cookies []*http.Cookie) *http.Response {
	r, w := httptest.NewRequest("GET", "http://localhost:8080"+path, nil), httptest.NewRecorder()
	setCookies(cookies)(r)
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
