//go:build !race

package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// newLoginScene returns a scene whose Twitch approves logins.
func newLoginScene(t *testing.T, more string) *scene {
	t.Helper()
	s := newScene(t, more)
	s.env = append(s.env, "CHATGUARD_TWITCH_CLIENT_ID="+s.twitch.ClientID(), "CHATGUARD_TWITCH_REFRESH_TOKEN="+s.twitch.RefreshToken())
	s.twitch.SetDeviceTimes(30*time.Minute, time.Second)
	return s
}

// logIn runs a login, approves it in the browser, and returns the output.
func (s *scene) logIn() (out string) {
	s.Helper()
	approved := make(chan error, 1)
	go func() {
		code, err := s.twitch.WaitLogin(s.Context())
		if err == nil {
			s.twitch.Approve(code)
		}
		approved <- err
	}()
	out = s.run("login")
	must(s, <-approved)
	return out
}

// readiness returns the answer of /readyz and the reasons that it gives to its owner.
func (s *scene) readiness() (status int, reasons []string) {
	s.Helper()
	answer, text := s.ask("GET", "readyz", "")
	return answer.StatusCode, decode[struct{ Reasons []string }](s, text).Reasons
}

// token returns the token's state in the dashboard.
func (s *scene) token() live.Connection {
	s.Helper()
	_, text := s.ask("GET", "api/v1/status", "")
	for _, c := range decode[struct{ Connections []live.Connection }](s, text).Connections {
		if c.Name == "Token" {
			return c
		}
	}
	return live.Connection{}
}

// waitForMessages waits until a user has n messages in the timeline.
func (s *scene) waitForMessages(login string, n int) (r record) {
	s.Helper()
	waittest.Until(s.T, func() bool {
		r = s.export()
		return r.messageCounts()[login] == n
	})
	return r
}

// waitForActions sends excess messages from a user until one is deleted, then one more.
func (s *scene) waitForActions(login string) {
	s.Helper()
	before := s.twitch.Deleted()
	waittest.Until(s.T, func() bool {
		s.say(login)
		return s.twitch.Deleted() > before
	})
	last := s.say(login)
	waittest.Until(s.T, func() bool {
		deletes := s.twitch.Deletes()
		return deletes[len(deletes)-1].Message.ID == last
	})
}

// TestToken_Revoked checks a revocation at run time. The dashboard reports it to signed-in users,
// and the bot reads chat without an account. The bot acts on nobody until a new login, which needs
// no restart.
func TestToken_Revoked(t *testing.T) {
	t.Parallel()
	s := newLoginScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	if status, reasons := s.readiness(); status != http.StatusOK || s.token().State != live.Valid {
		t.Errorf("before: /readyz answers %d %q, the token is %+v", status, reasons, s.token())
	}
	s.twitch.Revoke()
	s.say("anna") // this reveals the revocation
	waittest.Until(t, func() bool { status, _ := s.readiness(); return status != http.StatusOK })
	status, reasons := s.readiness()
	if status != http.StatusServiceUnavailable || len(reasons) != 1 || !strings.HasPrefix(reasons[0], "Token: "+string(live.Refused)+": ") || !strings.Contains(reasons[0], "run `chatguard login`") {
		t.Errorf("/readyz answers %d %q", status, reasons)
	}
	if answer, text := s.ask("GET", "readyz", "", "Authorization: Bearer another"); answer.StatusCode != http.StatusServiceUnavailable || strings.Contains(text, "oken") {
		t.Errorf("to strangers /readyz answers %s %s", answer.Status, text)
	}
	if c := s.token(); c.State != live.Refused || !strings.Contains(c.Detail, "run `chatguard login`") {
		t.Errorf("the dashboard says %+v", c)
	}

	if !strings.Contains(s.bot.log(), "chatguard login") {
		t.Errorf("the log says\n%s", s.bot.log())
	}

	s.twitch.Disconnect()
	waittest.Until(t, func() bool { return strings.Contains(s.chatLines(), "NICK justinfan") })
	awaitJoined(t, s.twitch, 1)
	for range 5 {
		s.say("berta")
	}
	r := s.waitForMessages("berta", 5)
	if n := r.resultCounts()[journal.Observed]; n != 2 || s.twitch.Deleted() != 1 {
		t.Errorf("%d messages were observed, %d deleted; outcomes %v", n, s.twitch.Deleted(), r.resultCounts())
	}

	if out := s.logIn(); !strings.Contains(out, "The running chatguard uses this login within seconds.") {
		t.Errorf("login prints %s", out)
	}
	waittest.Until(t, func() bool { status, _ := s.readiness(); return status == http.StatusOK })
	// The bot first checks it.
	waittest.Until(t, func() bool { return s.token().State == live.Valid })
	if c := s.token(); c.Detail != "" {
		t.Errorf("after the login the dashboard says %+v", c)
	}
	s.waitForActions("berta")
	s.stop()
}
