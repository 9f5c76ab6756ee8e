package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/journal"
)

// notReady checks that /readyz answers 503, with the reason for the owner and without it for
// others.
func (s *scene) notReady(reason string) {
	s.Helper()
	answer, text := s.ask("GET", "readyz", "")
	if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, reason) {
		s.Errorf("/readyz answers %s %s, want %q", answer.Status, text, reason)
	}
	if answer, text = s.ask("GET", "readyz", "", "Authorization: "); answer.StatusCode != http.StatusServiceUnavailable || strings.Contains(text, "database") {
		s.Errorf("/readyz answers a stranger %s %s", answer.Status, text)
	}
}

// untilReady waits until /readyz answers with a status.
func (s *scene) untilReady(want int) {
	s.Helper()
	until(s.T, func() bool {
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

// twoMessages changes the limit of threeMessages.
func twoMessages(p *chatguard.Policy) { p.Limits[0].Burst = 2 }

// TestRun_LockedDatabase checks that while another program locks the database, chatguard moderates,
// changes apply, and the dashboard reports the problem. Afterwards everything is written.
func TestRun_LockedDatabase(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.fine("anna")
	until(t, func() bool {
		return s.databaseStatus().Queued == 0 && s.figure(`rows_written_total{table="timeline"}`) == 1
	})
	release := s.lock()
	if s.change(twoMessages) { // the lock hasn't been noticed yet
		t.Error("what can't be written was called saved")
	}
	s.fine("anna")
	s.tooMuch("anna")
	s.untilReady(http.StatusServiceUnavailable)
	s.notReady(lockedReason)
	if d := s.databaseStatus(); d.State != "failing" || d.Detail != strings.TrimPrefix(lockedReason, "database: failing: ") || d.LagSeconds == 0 || d.Queued < 3 {
		t.Errorf("the status says %+v", d)
	}
	for _, name := range []string{"errors_total", "lag_seconds", "waiting_records"} {
		if n := s.figure(name); n <= 0 {
			t.Errorf("%s is %v", name, n)
		}
	}
	if s.change(func(p *chatguard.Policy) { p.Limits[0].Burst = 1 }) {
		t.Error("what can't be written was called saved")
	}
	s.fine("berta")
	s.tooMuch("berta")

	release()
	s.untilReady(http.StatusOK)
	until(t, func() bool { return s.databaseStatus().Queued == 0 })
	if r := s.export(); len(r.revisions) != 2 || r.audits != 2 || len(r.timeline) != 5 || len(r.journal) != 2 || r.results()[journal.Done] != 2 {
		t.Errorf("written is %+v", r)
	}
	s.stop()
	s.start()
	s.tooMuch("berta")
	s.fine("carla")
	s.tooMuch("carla")
	if text := s.bot.log(); !strings.Contains(text, "key=limit.few.burst value=1 configured=3") || !strings.Contains(text, "revision=2 author=owner") {
		t.Errorf("the start doesn't name what was changed live:\n%s", text)
	}
	s.stop()
}

// TestRun_StartsWithLockedDatabase checks that chatguard can start while the database is locked. It
// moderates with the stored data and lets its owner sign in.
func TestRun_StartsWithLockedDatabase(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.useUp("anna")
	s.stop()

	_, code, _ := strings.Cut(strings.TrimSpace(s.do("signin")), "#signin=")
	release := s.lock()
	s.start()
	s.tooMuch("anna")
	s.fine("berta")
	cookie := s.signIn(fmt.Sprintf(`{"code":%q}`, code))
	if name := s.signedInAs(cookie); name != app.Owner {
		t.Errorf("the link signs in as %q", name)
	}
	s.untilReady(http.StatusServiceUnavailable)
	s.notReady(lockedReason)
	if s.change(twoMessages) {
		t.Error("what can't be written was called saved")
	}
	s.fine("berta")
	s.tooMuch("berta")

	release()
	s.untilReady(http.StatusOK)
	until(t, func() bool { return s.databaseStatus().Queued == 0 })
	s.stop()
	s.start()
	if name := s.signedInAs(cookie); name != app.Owner {
		t.Errorf("after a restart the session is %q's", name)
	}
	s.tooMuch("berta")
	s.tooMuch("anna")
	s.stop()
	if r := s.export(); len(r.revisions) != 1 || len(r.timeline) != 10 || len(r.journal) != 5 || r.results()[journal.Done] != 5 {
		t.Errorf("written is %+v", r)
	}
}

// signIn signs in with a code or a token, and returns the session's cookie.
func (s *scene) signIn(secret string) (session string) {
	s.Helper()
	answer, text := s.ask("POST", "api/v1/session", secret, "Content-Type: application/json", "Authorization: ")
	if answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
		s.Fatalf("signing in: %s %s", answer.Status, text)
	}
	return answer.Cookies()[0].Value
}

// signedInAs returns the name that the bot shows for a session's cookie.
func (s *scene) signedInAs(session string) (name string) {
	s.Helper()
	port := s.bot.address[strings.LastIndex(s.bot.address, ":")+1:]
	cookie := "Cookie: chatguard_" + strings.TrimSuffix(port, "/") + "=" + session
	answer, text := s.ask("GET", "api/v1/status", "", "Authorization: ", cookie)
	if answer.StatusCode != http.StatusOK {
		s.Fatalf("with the session's cookie: %s %s", answer.Status, text)
	}
	return decode[struct{ Name string }](s, text).Name
}
