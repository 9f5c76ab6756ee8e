package main

import (
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
)

// TestRun_TwitchSignIn checks that a moderator signs in with a code on Twitch, and is signed out as
// soon as the chat shows that something has changed: over EventSub when the channel removes the
// moderator, and over IRC when somebody times the user out.
func TestRun_TwitchSignIn(t *testing.T) {
	for transport, dismiss := range map[string]func(*scene){
		"irc":      func(s *scene) { s.twitch.Silence("gardenhour", "anna", time.Minute) },
		"eventsub": func(*scene) {},
	} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, threeMessages)
			s.twitch.SetModerator("gardenhour", "anna", true)
			s.twitch.SetDeviceTimes(30*time.Minute, time.Second)
			s.env = append(s.env, "CHATGUARD_WEB_TWITCH_SIGN_IN=true", "CHATGUARD_TWITCH_CLIENT_ID="+s.twitch.ClientID(),
				"CHATGUARD_TWITCH_TRANSPORT="+transport, "CHATGUARD_TWITCH_EVENTSUB_URL="+s.twitch.EventSubURL())
			s.bot = startCommand(s, s.runCommand())
			waittest.Until(t, func() bool {
				_, text := s.ask("GET", "api/v1/channels", "")
				return strings.Contains(text, "gardenhour") && (transport == "irc" || s.twitch.EventSubscriptions("channel.moderate") == 1)
			})
			b := newBrowser(s)
			d := decode[twitchsignin.Device](t, b.ask("POST", "api/v1/session/device"))
			s.twitch.ApproveAs(d.UserCode, "anna")
			waittest.Until(t, func() bool {
				return strings.Contains(b.ask("GET", "api/v1/session/device"), string(twitchsignin.DeviceDone))
			})
			who := decode[access.SignedInAs](t, b.ask("GET", "api/v1/session"))
			if who.Name != "anna" || who.Author != "twitch:anna" || who.Channels[s.twitch.UserID("gardenhour")] != auth.Moderate {
				t.Errorf("%+v", who)
			}
			if log := s.bot.log(); !strings.Contains(log, `msg="signed in with Twitch" login=anna`) || strings.Contains(log, "fake0access") {
				t.Errorf("the log says\n%s", log)
			}
			s.twitch.SetModerator("gardenhour", "anna", false)
			dismiss(s)
			waittest.Until(t, func() bool { return strings.Contains(b.ask("GET", "api/v1/session"), "Sign in first") })
			s.stop()
		})
	}
}

// browser sends requests to the dashboard with the cookies that it has got.
type browser struct {
	*scene
	client *http.Client
	host   string // name of the dashboard's host; "" means its IP address
}

func newBrowser(s *scene) browser {
	s.Helper()
	jar, err := cookiejar.New(nil)
	must(s, err)
	return browser{scene: s, client: &http.Client{Jar: jar, Timeout: maxWait}}
}

// ask sends a request, and returns the answer's text.
func (b browser) ask(method, path string) string {
	b.Helper()
	_, text := send(b, b.client, b.request(method, path))
	return text
}

// request returns a request to the dashboard.
func (b browser) request(method, path string) *http.Request {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, b.bot.address+path, nil)
	must(b, err)
	if b.host != "" {
		request.Host = net.JoinHostPort(b.host, request.URL.Port())
	}
	return request
}
