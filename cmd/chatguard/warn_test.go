package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/waittest"
)

// TestRun_EnforceWithoutToken checks that chatguard observes, says so everywhere, and enforces as
// soon as somebody has logged in.
func TestRun_EnforceWithoutToken(t *testing.T) {
	t.Parallel()
	const why = "Not enforcing yet: the bot has no token. Run `chatguard login`."
	s := newScene(t, threeMessages)
	s.env = append(s.env, "CHATGUARD_TWITCH_TOKEN=", "CHATGUARD_TWITCH_CLIENT_ID="+s.twitch.ClientID())
	s.twitch.SetDeviceTimes(30*time.Minute, time.Second)
	s.start()
	for range 5 {
		s.sayAllowed("anna")
	}
	if log := s.bot.log(); !strings.Contains(log, `level=WARN msg="`+why+`"`) {
		t.Errorf("the log says\n%s", log)
	}
	ready := func() (int, string) {
		answer, text := s.ask("GET", "readyz", "")
		return answer.StatusCode, text
	}
	waittest.Until(t, func() bool {
		status, text := ready()
		return status == http.StatusServiceUnavailable && strings.Contains(text, "Token: missing: "+why)
	})
	if _, text := s.ask("GET", "api/v1/status", ""); !strings.Contains(text, `{"name":"Token","state":"missing",`) || !strings.Contains(text, `"detail":"`+why+`"`) {
		t.Errorf("the status says %s", text)
	}
	if out, _, code := s.runWithInput("", "doctor"); code != exitFailed || !strings.Contains(out, "problem  token          there is none: chatguard only observes, although it should enforce") {
		t.Errorf("the doctor says\n%s", out)
	}
	if n := s.twitch.Deleted(); n != 0 {
		t.Errorf("%d messages were deleted", n)
	}

	approved := make(chan error, 1)
	go func() {
		code, err := s.twitch.WaitLogin(t.Context())
		s.twitch.Approve(code)
		approved <- err
	}()
	s.run("login")
	must(t, <-approved)
	waittest.Until(t, func() bool {
		if _, err := s.twitch.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		return s.twitch.Deleted() > 0
	})
	waittest.Until(t, func() bool { status, _ := ready(); return status == http.StatusOK })
	s.stop()
}

// TestRun_WarnsOfAnUntrustedProxy checks the warning about an untrusted proxy, behind which all
// clients count as one address.
func TestRun_WarnsOfAnUntrustedProxy(t *testing.T) {
	t.Parallel()
	for proxies, warned := range map[string]bool{"": true, "127.0.0.1": false} {
		s := newScene(t, threeMessages)
		s.env = append(s.env, "CHATGUARD_WEB_PUBLIC_URL=https://chat.example.org", "CHATGUARD_WEB_TRUSTED_PROXIES="+proxies)
		s.start()
		s.stop()
		if n := strings.Count(s.bot.log(), "level=WARN msg=\""+app.UntrustedProxyProblem); (n == 1) != warned || n > 1 {
			t.Errorf("with trusted_proxies %q it is said %d times:\n%s", proxies, n, s.bot.log())
		}
	}
}
