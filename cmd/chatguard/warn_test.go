//go:build !race

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/waittest"
)

// TestRun_EnforceWithoutToken checks that chatguard observes, says so everywhere, and enforces as
// soon as somebody has logged in.
func TestRun_EnforceWithoutToken(t *testing.T) {
	t.Parallel()
	const why = "Not enforcing yet: the bot has no token. Run `chatguard login`."
	s := newLoginScene(t, threeMessages)
	s.env = append(s.env, "CHATGUARD_TWITCH_TOKEN=", "CHATGUARD_TWITCH_REFRESH_TOKEN=")
	s.start()
	for range 5 {
		s.sayAllowed("anna")
	}
	if log := s.bot.log(); !strings.Contains(log, `level=WARN msg="`+why+`"`) {
		t.Errorf("the log says\n%s", log)
	}
	awaitReadiness := func(want int, reason string) {
		t.Helper()
		waittest.Until(t, func() bool {
			status, reasons := s.readiness()
			return status == want && strings.Contains(strings.Join(reasons, "\n"), reason)
		})
	}
	awaitReadiness(http.StatusServiceUnavailable, "Token: missing: "+why)
	s.change(func(p *chatguard.Policy) { p.Mode = chatguard.ModeObserve })
	awaitReadiness(http.StatusOK, "") // for reading, no token is needed
	s.change(func(p *chatguard.Policy) { p.Mode = chatguard.ModeEnforce })
	awaitReadiness(http.StatusServiceUnavailable, "Token: missing: "+why)
	if _, text := s.ask("GET", "api/v1/status", ""); !strings.Contains(text, `{"name":"Token","state":"missing",`) || !strings.Contains(text, `"detail":"`+why+`"`) {
		t.Errorf("the status says %s", text)
	}
	if out, _, code := s.runWithInput("", "doctor"); code != exitFailed || !strings.Contains(out, "problem  token          there is none: chatguard only observes, although it should enforce") {
		t.Errorf("the doctor says\n%s", out)
	}
	if n := s.twitch.Deleted(); n != 0 {
		t.Errorf("%d messages were deleted", n)
	}

	s.logIn()
	s.waitForActions("anna")
	awaitReadiness(http.StatusOK, "")
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
