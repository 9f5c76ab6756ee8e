//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/waittest"
)

// status asks the bot for its status as JSON, and returns it with the exit code.
func (s *scene) status(args ...string) (status request.Status, code int) {
	s.Helper()
	out, _, code := s.runWithInput("", append([]string{"status", "--json"}, args...)...)
	return decode[request.Status](s, out), code
}

// TestStatus_OfRunning checks what the status says of a chatguard that works, also if a proxy and
// its name stand between it and people, and that asking leaves no file behind.
func TestStatus_OfRunning(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.configure("[web]", "[web]\npublic_url = \"https://chat.example.org/guard/\"")
	s.start()
	s.exhaustLimit("anna")
	var status request.Status
	waittest.Until(t, func() (ok bool) {
		got, code := s.status()
		status = got
		return code == 0 && got.WaitingRecords == 0 && got.PendingActs == 0 && got.MessagesLastMinute == 4
	})
	want := request.Channel{ID: s.twitch.UserID("gardenhour"), Login: "gardenhour", Mode: "enforce", Read: true}
	f := status.Figures
	if status.State != request.OK || len(status.Problems) != 0 || f.PID != s.bot.Process.Pid || !slices.Equal(f.Channels, []request.Channel{want}) ||
		f.ThrottledUsers != 1 || f.TokenState != "valid" || f.DatabaseState != "ok" || f.DatabaseBytes == 0 || f.MemoryBytes < 1<<20 ||
		f.UptimeSeconds <= 0 || f.Version == "" || f.Address != "https://chat.example.org/guard/" || len(f.Connections) == 0 || !f.Connections[0].OK {
		t.Errorf("the status is %+v, %+v", status, f)
	}
	if keys := decode[map[string]json.RawMessage](s, s.run("status", "--json")); string(keys["problems"]) != "[]" {
		t.Errorf("the problems are %s, not an empty list", keys["problems"])
	}
	text := s.run("status")
	for _, line := range []string{
		"state       ok\n", fmt.Sprintf("process     %d, chatguard ", f.PID), "mode        enforces in gardenhour\n",
		"twitch      connected\n", "token       valid\n", "throttled   1 user now\n",
		"queue       0 acts, 0 records for the database, 0 webhook messages\n", "database    ok, ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	if out := s.run("status", "--health"); out != "" {
		t.Errorf("the health is %q", out)
	}
	for _, mistake := range []string{"[twitch", `burst = 3`} {
		whole, err := os.ReadFile(s.configuration)
		must(t, err)
		s.configure(mistake, "mistake = 3")
		if _, complaint, code := s.runWithInput("", "status", "--health"); code != 0 {
			t.Errorf("with a mistake in the configuration: %d: %s", code, complaint)
		}
		if _, _, code := s.runWithInput("", "status"); code != exitUsage {
			t.Errorf("with a mistake in the configuration, the status ends with %d", code)
		}
		s.checkMistake()
		must(t, os.WriteFile(s.configuration, whole, 0o600))
	}
	s.stop()
	if left, err := os.ReadDir(strings.TrimSuffix(s.database(), "/chatguard.db")); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool {
		return strings.Contains(e.Name(), ".question-") || strings.Contains(e.Name(), ".outcome-")
	}) {
		t.Errorf("left are %v, %v", left, err)
	}
	if status, code := s.status(); code != exitNotRunning || status.State != request.NotRunning || status.Figures != nil {
		t.Errorf("after the stop: %d, %+v", code, status)
	}
}

// checkMistake checks that with a mistake in the configuration, the status prints no object as
// JSON, and the doctor prints one with the mistake.
func (s *scene) checkMistake() {
	s.Helper()
	if out, complaint, code := s.runWithInput("", "status", "--json"); out != "" || complaint == "" || code != exitUsage {
		s.Errorf("the status ends with %d, and prints %q and %q", code, out, complaint)
	}
	out, complaint, code := s.runWithInput("", "doctor", "--json")
	if e := decode[examination](s, out); code != exitUsage || complaint == "" || e.Problems != 1 || len(e.Findings) != 1 ||
		"chatguard: "+e.Findings[0].Found+"\n" != complaint {
		s.Errorf("the doctor ends with %d, and prints %q and %q", code, out, complaint)
	}
}

// TestStatus_OfTrouble checks that a trouble is named, with exit code 1, and that the process still
// counts as healthy.
func TestStatus_OfTrouble(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for SQLite's time-outs")
	}
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.sayAllowed("anna")
	release := persisttest.Lock(s, s.database())
	s.sayAllowed("anna")
	s.waitForReadyz(http.StatusServiceUnavailable)
	status, code := s.status()
	if code != exitFailed || status.State != request.Unavailable || !strings.HasPrefix(strings.Join(status.Problems, "\n"), lockedReason) || status.DatabaseState != "failing" {
		t.Errorf("the status is %d, %+v, %+v", code, status, status.Figures)
	}
	out, complaint, code := s.runWithInput("", "status")
	if code != exitFailed || !strings.Contains(out, "state       unavailable\nproblem     "+lockedReason) || complaint != "chatguard: chatguard runs, but not everything works: 1 problem\n" {
		t.Errorf("%d: %s%s", code, out, complaint)
	}
	if out, _, code := s.runWithInput("", "doctor"); code != exitFailed || !strings.Contains(out, "problem  process        the running chatguard says: "+lockedReason) {
		t.Errorf("the doctor ends with %d, and says\n%s", code, out)
	}
	if out, complaint, code := s.runWithInput("", "status", "--health"); code != 0 || out+complaint != "" {
		t.Errorf("health: %d %s%s", code, out, complaint)
	}
	release()
	waittest.Until(t, func() bool { _, code := s.status(); return code == 0 })
	s.stop()
}

// askAddress runs `chatguard status` about an address, without a configuration.
func askAddress(t *testing.T, address string, args ...string) (out, complaint string, code int) {
	t.Helper()
	s := &scene{T: t}
	c := s.chatguard()
	c.Args = append([]string{c.Path, "status", "--address", address}, args...)
	c.Dir = t.TempDir()
	return runToEnd(t, c)
}

// TestStatus_OverHTTP checks the question to an address, for a chatguard without a database and for
// other servers.
func TestStatus_OverHTTP(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start("--no-database")
	s.waitForReadyz(http.StatusOK)
	if out, complaint, code := askAddress(t, s.bot.address); out != "state       ok\n" || complaint != "" || code != 0 {
		t.Errorf("%d: %s%s", code, out, complaint)
	}
	if out, complaint, code := askAddress(t, strings.TrimPrefix(s.bot.address, "http://"), "--health"); out+complaint != "" || code != 0 {
		t.Errorf("health: %d: %s%s", code, out, complaint)
	}
	s.stop()
	if out, complaint, code := askAddress(t, s.bot.address, "--health"); out != "" || !strings.Contains(complaint, "nothing listens at ") || code != exitNotRunning {
		t.Errorf("after the stop: %d: %s%s", code, out, complaint)
	}

	var isOther atomic.Bool // the server isn't chatguard
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isOther.Load():
			fmt.Fprint(w, "<html>")
		case r.URL.Path == "/guard/healthz":
			fmt.Fprint(w, `{"status":"ok"}`)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"status":"unavailable"}`)
		}
	}))
	defer server.Close()
	out, complaint, code := askAddress(t, server.URL+"/guard/", "--json")
	if got := decode[request.Status](t, out); code != exitFailed || got.State != request.Unavailable || len(got.Problems) != 1 || got.Figures != nil {
		t.Errorf("unavailable: %d: %s%s", code, out, complaint)
	}
	if out, complaint, code := askAddress(t, server.URL+"/guard/", "--health"); code != 0 {
		t.Errorf("unavailable, but healthy: %d: %s%s", code, out, complaint)
	}
	isOther.Store(true)
	if out, complaint, code := askAddress(t, server.URL+"/guard/"); code != exitFailed || !strings.Contains(complaint, "not as chatguard does") {
		t.Errorf("another server: %d: %s%s", code, out, complaint)
	}
}

// TestStatus_DocumentedForm checks that the keys of the JSON are those that docs/deploy.md lists.
func TestStatus_DocumentedForm(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(request.Status{Figures: &request.Figures{}})
	must(t, err)
	page, err := os.ReadFile("../../docs/deploy.md")
	must(t, err)
	for key := range decode[map[string]any](t, string(text)) {
		if !strings.Contains(string(page), "| `"+key+"` |") {
			t.Errorf("docs/deploy.md has no row for %s", key)
		}
	}
}

// TestStatus_WithoutConfiguration checks that the status of an address that nobody named says so.
func TestStatus_WithoutConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"status":"ok"}`) }))
	defer server.Close()
	ask := func(o statusOptions) (out, complaint string, err error) {
		var printed, said bytes.Buffer
		o.config, o.fallback, o.timeout = defaultConfig, server.URL, duration(time.Minute)
		err = showStatus(t.Context(), &printed, &said, o)
		return printed.String(), said.String(), err
	}
	want := "There is no chatguard.toml here, so this is what answers at " + server.URL + ".\n"
	if out, complaint, err := ask(statusOptions{}); out != "state       ok\n" || complaint != want || err != nil {
		t.Errorf("%s%s%v, want %s", out, complaint, err, want)
	}
	if out, complaint, err := ask(statusOptions{json: true}); decode[request.Status](t, out).State != request.OK || complaint != want || err != nil {
		t.Errorf("as JSON: %s%s%v", out, complaint, err)
	}
	if out, complaint, err := ask(statusOptions{health: true}); out+complaint != "" || err != nil {
		t.Errorf("health: %s%s%v", out, complaint, err)
	}
	if _, complaint, err := ask(statusOptions{address: server.URL}); complaint != "" || err != nil {
		t.Errorf("with an address: %s%v", complaint, err)
	}
	server.Close()
	var coded *exitError
	if _, complaint, err := ask(statusOptions{}); complaint != "" || !errors.As(err, &coded) || coded.code != exitNotRunning ||
		!strings.HasPrefix(err.Error(), "there is no chatguard.toml here, and nothing listens at "+server.URL+": ") {
		t.Errorf("after the end: %s%v", complaint, err)
	}
}
