package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/shared"
)

// sharedStore is a store in memory that this node shares with nobody, and that can be away.
type sharedStore struct {
	mu    sync.Mutex
	now   func() time.Time // set by the dashboard
	rows  map[[2]string][]byte
	state live.Shared

	written func() // is called when a swap has written rows
}

func newSharedStore() *sharedStore {
	return &sharedStore{rows: map[[2]string][]byte{}, state: live.Shared{Mode: shared.Exact, Health: shared.Health{Up: true, Since: time.Now()}}}
}

func (s *sharedStore) Timeout() time.Duration            { return time.Minute }
func (s *sharedStore) Number() (int, bool)               { return 0, true }
func (s *sharedStore) Clock() (time.Time, time.Duration) { return s.now(), 0 }

func (s *sharedStore) Overrides(context.Context, string) (ids []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil, s.err()
}

// err returns why the store makes no changes and lists nothing; nil if it does.
func (s *sharedStore) err() error {
	switch {
	case !s.state.Up:
		return fmt.Errorf("redisstore: dial tcp 10.0.0.9:6379: %w", shared.ErrAway)
	case s.state.Refusing:
		return fmt.Errorf("redisstore: 10.0.0.9:6379: the memory is full: %w", shared.ErrRefused)
	}
	return nil
}

func (s *sharedStore) Swap(_ context.Context, swaps []*shared.Swap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, swap := range swaps {
		if swap.Err = s.err(); swap.Err != nil {
			continue
		}
		swap.Done = true
		for i, r := range swap.Rows {
			swap.Rows[i].Now = s.rows[[2]string{r.ChannelID, r.UserID}]
			swap.Done = swap.Done && bytes.Equal(r.Was, swap.Rows[i].Now)
		}
		for _, r := range swap.Rows {
			if !swap.Done || bytes.Equal(r.Was, r.Is) {
				continue
			}
			s.rows[[2]string{r.ChannelID, r.UserID}] = r.Is
			if s.written != nil {
				s.written()
			}
		}
	}
}

// setState sets whether the store answers, since when, and its problem.
func (s *sharedStore) setState(up bool, since time.Time, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Up, s.state.Since, s.state.Problem = up, since, problem
}

// setRefusing sets whether the store refuses changes.
func (s *sharedStore) setRefusing(refusing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Refusing = refusing
}

func (s *sharedStore) health() live.Shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// dashShared is dash with limits that are shared over the store.
func dashShared(t testing.TB, s *sharedStore, adjust ...func(*Options)) *dashboard {
	t.Helper()
	return dashSharing(t, s, append([]func(*Options){func(o *Options) { o.Live.Shared = s.health }}, adjust...)...)
}

// While the store is away or refuses changes, changes of users are refused, and say why, without
// addresses and names of packages. An outage isn't logged again with each request.
func TestShared_ChangesWhileAway(t *testing.T) {
	s := newSharedStore()
	var log waittest.Output
	d := dashShared(t, s, func(o *Options) { o.Live.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	d.say(spammer, 4)
	d.flush()
	user := channelPath + "/users/" + spammer.ID
	changes := []struct {
		method, path string
		body         any
	}{
		{"POST", user + "/grant", map[string]any{"messages": 5, "limit": "burst"}},
		{"POST", user + "/reset", nil},
		{"POST", user + "/exempt", nil},
		{"PUT", user + "/override", chatguard.UserOverride{Timezone: "Europe/Berlin"}},
		{"POST", user + "/pardon", nil},
		{"POST", "/api/v1/check/refund", refundForm{Channel: channelID, UserID: "1", At: d.now(), Spent: 1}},
	}
	for _, state := range []struct {
		up     bool
		want   string
		errors int
	}{
		{false, "The shared store doesn't answer: nothing was ", 0},
		{true, "The shared store refuses changes: nothing was ", len(changes) + 1},
	} {
		s.setState(state.up, d.now(), "its problem")
		s.setRefusing(true)
		for _, change := range changes {
			d.wantProblem(change.path, change.method, change.path, change.body, owned, http.StatusServiceUnavailable, state.want)
		}
		d.wantProblem("list", "GET", channelPath+"/overrides", nil, owned, http.StatusServiceUnavailable, "The shared store doesn't list the custom limits")
		if got := strings.Count(log.String(), "level=ERROR"); got != state.errors || strings.Contains(log.String(), ".:") {
			t.Errorf("%d errors are logged, want %d:\n%s", got, state.errors, log.String())
		}
	}
	s.setState(true, d.now(), "")
	s.setRefusing(false)
	d.wantStatus("when the store is back", http.StatusOK, "POST", user+"/grant", map[string]any{"messages": 5, "limit": "burst"}, asOwner)
}

// A change that the store has made is answered and recorded, even if the store goes away right
// after it.
func TestShared_LastChangeIsRecorded(t *testing.T) {
	s := newSharedStore()
	d := dashShared(t, s)
	s.written = func() { s.state.Up = false }
	d.say(spammer, 1)
	user := channelPath + "/users/" + spammer.ID
	for _, change := range []struct {
		action       journal.AuditAction
		method, path string
		body         any
	}{
		{journal.UserOverridden, "PUT", user + "/override", chatguard.UserOverride{Timezone: "Europe/Berlin"}},
		{journal.UserExempted, "POST", user + "/exempt", nil},
		{journal.UserGranted, "POST", user + "/grant", map[string]any{"messages": 5, "limit": "burst"}},
		{journal.UserReset, "POST", user + "/reset", nil},
	} {
		s.setState(true, d.now(), "")
		d.wantStatus(change.path, http.StatusOK, change.method, change.path, change.body, asOwner)
		if got := d.newestAudit().Action; got != change.action || s.health().Up {
			t.Errorf("%s: the newest change is %s", change.path, got)
		}
	}
}

func TestShared_Status(t *testing.T) {
	s := newSharedStore()
	d := dashShared(t, s)
	at := time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC)
	for _, want := range []struct {
		up, refusing           bool
		problem, shared, ready string
	}{
		{true, false, "", `{"mode":"exact","up":true,"since":"2026-01-05T14:02:00Z"}`, `{"status":"ok"}`},
		{
			false, false, "the connection was refused", `{"mode":"exact","up":false,"since":"2026-01-05T14:02:00Z","problem":"the connection was refused"}`,
			`{"reasons":["shared store: away since 2026-01-05T14:02:00Z: the connection was refused"],"status":"degraded"}`,
		},
		{
			true, true, "the memory is full", `{"mode":"exact","up":true,"refusing":true,"since":"2026-01-05T14:02:00Z","problem":"the memory is full"}`,
			`{"reasons":["shared store: refuses changes: the memory is full"],"status":"degraded"}`,
		},
		{
			true, false, "another policy", `{"mode":"exact","up":true,"since":"2026-01-05T14:02:00Z","problem":"another policy"}`, `{"status":"ok"}`,
		},
	} {
		s.setState(want.up, at, want.problem)
		s.setRefusing(want.refusing)
		status := decode[struct{ Shared json.RawMessage }](t, d.do("GET", "/api/v1/status", nil, asOwner))
		if string(status.Shared) != want.shared {
			t.Errorf("status: %s, want %s", status.Shared, want.shared)
		}
		if a := d.do("GET", "/readyz", nil, asOwner); string(bytes.TrimSpace(a.body)) != want.ready {
			t.Errorf("readyz: %s, want %s", a.body, want.ready)
		}
	}
}

// A row that can't be read is a problem of the store, if it has no other.
func TestShared_UnreadableRow(t *testing.T) {
	s := newSharedStore()
	d := dashShared(t, s)
	s.rows[[2]string{channelID, spammer.ID}] = []byte("garbage")
	if v := d.say(spammer, 1); !v.Degraded {
		t.Fatalf("%+v", v)
	}
	for stored, want := range map[string]string{"": "A row can't be read: channel ", "another policy": "another policy"} {
		s.setState(true, d.now(), stored)
		if got := decode[live.Status](t, d.do("GET", "/api/v1/status", nil, asOwner)).Shared.Problem; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A node that shares nothing has no state of a store, so it can't be away.
func TestShared_Off(t *testing.T) {
	for name, shared := range map[string]func() live.Shared{
		"no hook": nil,
		"off":     func() live.Shared { return live.Shared{Mode: live.ShareOff} },
	} {
		d := dash(t, func(o *Options) { o.Live.Shared = shared })
		if a := d.do("GET", "/api/v1/status", nil, asOwner); bytes.Contains(a.body, []byte(`"shared"`)) {
			t.Errorf("%s: %s", name, a.body)
		}
		d.wantStatus(name, http.StatusOK, "GET", "/readyz", nil)
	}
}
