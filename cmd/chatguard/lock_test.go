//go:build !race

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// checkNotReady checks that /readyz answers 503, with the reason for the owner and without it for
// others.
func (s *scene) checkNotReady(reason string) {
	s.Helper()
	answer, text := s.ask("GET", "readyz", "")
	if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, reason) {
		s.Errorf("/readyz answers %s %s, want %q", answer.Status, text, reason)
	}
	if answer, text = s.ask("GET", "readyz", "", "Authorization: "); answer.StatusCode != http.StatusServiceUnavailable || strings.Contains(text, "database") {
		s.Errorf("/readyz answers a stranger %s %s", answer.Status, text)
	}
}

// waitForReadyz waits until /readyz answers with a status.
func (s *scene) waitForReadyz(want int) {
	s.Helper()
	waittest.Until(s.T, func() bool {
		answer, _ := s.ask("GET", "readyz", "")
		return answer.StatusCode == want
	})
}

const lockedReason = "database: failing: another program keeps it locked: close that program"

// databaseStatus is the part of GET /status about the database.
type databaseStatus struct {
	State      string
	Detail     string
	LagSeconds float64 `json:"lag_seconds"`
	Queued     int
	Dropped    int
}

func (s *scene) databaseStatus() databaseStatus {
	s.Helper()
	_, text := s.ask("GET", "api/v1/status", "")
	return decode[struct{ Database databaseStatus }](s, text).Database
}

// setTwoMessages lowers the limit of threeMessages to two messages.
func setTwoMessages(p *chatguard.Policy) { p.Limits[0].Burst = 2 }

// TestRun_LockedDatabase checks that while another program locks the database, chatguard moderates,
// changes apply, and the dashboard reports the problem. Afterwards everything is written.
func TestRun_LockedDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for SQLite's time-outs")
	}
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.sayAllowed("anna")
	waittest.Until(t, func() bool {
		return s.databaseStatus().Queued == 0 && s.metric(`rows_written_total{table="timeline"}`) == 1
	})
	release := persisttest.Lock(s, s.database())
	if s.change(setTwoMessages) { // the lock hasn't been noticed yet
		t.Error("what can't be written was called saved")
	}
	s.sayAllowed("anna")
	s.sayExcess("anna")
	s.waitForReadyz(http.StatusServiceUnavailable)
	s.checkNotReady(lockedReason)
	if d := s.databaseStatus(); d.State != "failing" || d.Detail != strings.TrimPrefix(lockedReason, "database: failing: ") || d.LagSeconds == 0 || d.Queued < 3 {
		t.Errorf("the status says %+v", d)
	}
	for _, name := range []string{"errors_total", "lag_seconds", "waiting_records"} {
		if n := s.metric(name); n <= 0 {
			t.Errorf("%s is %v", name, n)
		}
	}
	if s.change(func(p *chatguard.Policy) { p.Limits[0].Burst = 1 }) {
		t.Error("what can't be written was called saved")
	}
	s.sayAllowed("berta")
	s.sayExcess("berta")

	release()
	s.waitForReadyz(http.StatusOK)
	waittest.Until(t, func() bool { return s.databaseStatus().Queued == 0 })
	if r := s.export(); len(r.revisions) != 2 || r.audits != 2 || len(r.timeline) != 5 || len(r.journal) != 2 || r.resultCounts()[journal.Done] != 2 {
		t.Errorf("written is %+v", r)
	}
	s.stop()
	s.start()
	s.sayExcess("berta")
	s.sayAllowed("carla")
	s.sayExcess("carla")
	if text := s.bot.log(); !strings.Contains(text, "key=limit.few.burst value=1 configured=3") || !strings.Contains(text, "revision=2 author=owner") {
		t.Errorf("the start doesn't name what was changed live:\n%s", text)
	}
	s.stop()
}

// TestRun_StartsWithLockedDatabase checks that chatguard can start while the database is locked. It
// moderates with the stored data, and knows who is signed in. A code to sign in works afterwards.
func TestRun_StartsWithLockedDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for SQLite's time-outs")
	}
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	cookie := s.signIn(s.newCode())
	s.stop()

	code := s.newCode()
	release := persisttest.Lock(s, s.database())
	s.start()
	s.sayExcess("anna")
	s.sayAllowed("berta")
	if name := s.signedInName(cookie); name != auth.OwnerName {
		t.Errorf("with a locked database the session is %q's", name)
	}
	if answer, text := s.askToSignIn(code); answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "the database is failing") {
		t.Errorf("signing in with a locked database: %s %s", answer.Status, text)
	}
	s.waitForReadyz(http.StatusServiceUnavailable)
	s.checkNotReady(lockedReason)
	if s.change(setTwoMessages) {
		t.Error("what can't be written was called saved")
	}
	s.sayAllowed("berta")
	s.sayExcess("berta")

	release()
	s.waitForReadyz(http.StatusOK)
	cookie = s.signIn(code)
	waittest.Until(t, func() bool { return s.databaseStatus().Queued == 0 })
	s.stop()
	s.start()
	if name := s.signedInName(cookie); name != auth.OwnerName {
		t.Errorf("after a restart the session is %q's", name)
	}
	s.sayExcess("berta")
	s.sayExcess("anna")
	s.stop()
	if r := s.export(); len(r.revisions) != 1 || len(r.timeline) != 10 || len(r.journal) != 5 || r.resultCounts()[journal.Done] != 5 {
		t.Errorf("written is %+v", r)
	}
}

// newCode returns the body of a request that signs in with a new code.
func (s *scene) newCode() string {
	s.Helper()
	_, code, _ := strings.Cut(strings.TrimSpace(s.run("signin")), "#signin=")
	return fmt.Sprintf(`{"code":%q}`, code)
}

// signIn signs in with a code or a token, and returns the session's cookie.
func (s *scene) signIn(secret string) (session string) {
	s.Helper()
	answer, text := s.askToSignIn(secret)
	if answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
		s.Fatalf("signing in: %s %s", answer.Status, text)
	}
	return answer.Cookies()[0].Value
}

func (s *scene) askToSignIn(secret string) (*http.Response, string) {
	return s.ask("POST", "api/v1/session", secret, "Content-Type: application/json", "Authorization: ")
}

// signedInName returns the name that the bot shows for a session's cookie.
func (s *scene) signedInName(session string) (name string) {
	s.Helper()
	port := s.bot.address[strings.LastIndex(s.bot.address, ":")+1:]
	cookie := "Cookie: chatguard_" + strings.TrimSuffix(port, "/") + "=" + session
	answer, text := s.ask("GET", "api/v1/status", "", "Authorization: ", cookie)
	if answer.StatusCode != http.StatusOK {
		s.Fatalf("with the session's cookie: %s %s", answer.Status, text)
	}
	return decode[struct{ Name string }](s, text).Name
}
