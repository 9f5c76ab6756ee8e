package persist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/signin"
)

// openInMemory opens a store in memory, in an empty folder that must stay empty.
func openInMemory(t *testing.T, opts *Options) *Store {
	t.Helper()
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(variable, t.TempDir())
	}
	t.Chdir(t.TempDir())
	if opts == nil {
		opts = &Options{Now: at(start)}
	}
	opts.Logger = quiet
	s, err := OpenMemory(ctx, opts)
	must(t, err)
	t.Cleanup(func() {
		must(t, s.Close())
		assertEmpty(t, ".")
		assertEmpty(t, os.TempDir())
	})
	return s
}

func TestMemory_KeepsWhatAFileDoes(t *testing.T) {
	s := openInMemory(t, nil)
	g, stats := restoreGuard(t, s, policy())
	if stats != (RestoreStats{}) {
		t.Errorf("restored %+v of nothing", stats)
	}
	stop := startRun(t, s, g)
	for range 4 {
		say(t, g, "u", start)
	}
	s.Observe(throttledMessage(1, "c1", "waits", time.Hour))
	s.Report(outcome(1, journal.Done, ""))
	s.NoteChannel("c1", "gardenhour")
	session := signIn(t, s.Tokens)
	ended := signIn(t, s.Tokens)
	must(t, s.Tokens.EndSession(ctx, ended))
	stop()

	wantSession(t, s.Tokens, session, "Ada")
	wantSession(t, s.Tokens, ended, "")
	waits := journal.NewEntry(throttledMessage(1, "c1", "waits", time.Hour))
	waits.Outcome = outcome(1, journal.Done, "")
	wantEntries(t, waits)(s.Throttled(ctx, start.Add(time.Minute), 10))
	if entries, err := s.Entries(ctx, journal.EntryFilter{ChannelID: "c1", N: 10}); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if logins, err := s.Channels(ctx); err != nil || logins["c1"] != "gardenhour" {
		t.Errorf("channels %v, %v", logins, err)
	}
	s.wantRows(t, "timeline", 5)
	if h := s.Health(); h.State != OK || h.Waiting != 0 || !h.LastFlush.Equal(start) {
		t.Errorf("%+v", h)
	}
	if size := s.Size(); size != 0 {
		t.Errorf("%d bytes on disk", size)
	}
	assertSame(t, g, guardOf(t, s, policy()), "u", "nobody")
}

// Nothing is kept after the process ends, so nothing is reported as saved. The changes take effect
// anyway.
func TestMemory_SavesNoChange(t *testing.T) {
	s := openInMemory(t, &Options{FlushInterval: time.Hour, Now: at(start)})
	g := guardOf(t, s, policy())
	stop := startRun(t, s, g)
	first, saved, err := s.SaveRevision(ctx, revision("c1", 5))
	if saved || err != nil || first.Number != 1 {
		t.Errorf("revision %d: saved %v, %v", first.Number, saved, err)
	}
	second, saved, err := s.DiscardRevisions(ctx, "c1", "Grace")
	if saved || err != nil || second.Number != 2 {
		t.Errorf("revision %d: saved %v, %v", second.Number, saved, err)
	}
	wantSaved(t, false)(s.Record(ctx, journal.Audit{At: start, Author: "Ada", Action: journal.UserGranted}))
	wantSaved(t, false)(s.SaveSetting(ctx, "1", "paused", "yes"))
	wantRevisions(t, second, first)(newest(s.Revisions(ctx, "c1", 0, 50)))
	stop()
	wantRevisions(t, second, first)(newest(s.Revisions(ctx, "c1", 0, 50)))
	wantSettings(t, s, "map[1:map[paused:yes]]")
	wantRevisions(t)(s.CurrentRevisions(ctx))
	s.wantRows(t, "audit", 3)
}

func TestMemory_TwoAreSeparate(t *testing.T) {
	a, b := openInMemory(t, nil), openInMemory(t, nil)
	code := newCode(t, a.Tokens)
	if _, _, err := b.Tokens.RedeemCode(ctx, code); !errors.Is(err, signin.ErrCode) {
		t.Errorf("redeemed in another one: %v", err)
	}
	g := guardOf(t, a, policy())
	say(t, g, "u", start)
	a.mustFlush(t, g)
	if inA, inB := a.countRows(t, "state"), b.countRows(t, "state"); inA != 2 || inB != 0 {
		t.Errorf("%d rows in one and %d in the other", inA, inB)
	}
}

// Readers and the writer share a database in memory, which has no log. They wait for each other,
// and none fails.
func TestMemory_ReadDuringWrite(t *testing.T) {
	s := openInMemory(t, nil)
	g := guardOf(t, s, policy())
	ended, end := context.WithCancel(ctx)
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for ended.Err() == nil {
				_, errEntries := s.Entries(ctx, journal.EntryFilter{ChannelID: "c1", N: 100})
				_, errThrottled := s.Throttled(ctx, start, 10)
				_, _, errSession := s.Tokens.Session(ctx, "none")
				if errEntries != nil || errThrottled != nil || errSession != nil {
					t.Errorf("entries: %v, throttled: %v, session: %v", errEntries, errThrottled, errSession)
					return
				}
			}
		})
	}
	for id := 1; id <= 200; id++ {
		s.Observe(throttledMessage(id, "c1", fmt.Sprint(id), time.Second))
		s.runTurn(ctx, g)
		s.wantHealth(t, OK, "")
	}
	end()
	reading.Wait()
}

// The database in memory exists as long as its connection. A cancelled request must not close that
// connection.
func TestMemory_SurvivesCancelledRequests(t *testing.T) {
	s := openInMemory(t, nil)
	g := guardOf(t, s, policy())
	code := newCode(t, s.Tokens)
	for range 50 {
		cancelled, cancel := context.WithCancel(ctx)
		var asking sync.WaitGroup
		asking.Go(func() { _, _ = s.Throttled(cancelled, start, 10) })
		asking.Go(func() { _, _ = s.Tokens.NewSignInCode(cancelled, ada, 0) })
		asking.Go(func() { _, _, _ = s.Tokens.RedeemCode(cancelled, "none") })
		cancel()
		asking.Wait()
		s.runTurn(ctx, g)
	}
	_, _, err := s.Tokens.RedeemCode(ctx, code)
	must(t, err)
}

func TestMemory_NoMetrics(t *testing.T) {
	set := metrics.NewSet()
	s := openInMemory(t, &Options{Now: at(start), Metrics: set})
	g := guardOf(t, s, policy())
	s.Observe(message("u", start), chatguard.Verdict{At: start})
	s.runTurn(ctx, g)
	if names := set.ListMetricNames(); len(names) != 0 {
		t.Errorf("it tells %q of what isn't kept", names)
	}
}

// The database doesn't grow beyond its limit, and the oldest records are dropped.
func TestMemory_DropsOldest(t *testing.T) {
	now := start
	s := openInMemory(t, &Options{Now: func() time.Time { return now }, MaxMemory: 2 << 20})
	g := guardOf(t, s, policy())
	id := 0
	for range 20 {
		for range 100 {
			id++
			m, v := throttledMessage(id, fmt.Sprint("c", id%3), "u", time.Hour)
			now = now.Add(time.Second)
			m.Text, v.Limit, v.At = strings.Repeat("x", journal.MaxText), "burst", now
			s.Observe(m, v)
		}
		s.runTurn(ctx, g)
		if used, err := s.db.Used(ctx); err != nil || used > 2<<20 {
			t.Fatalf("after %d messages it takes %d bytes, %v", id, used, err)
		}
	}
	if n, lines := s.countRows(t, "journal"), s.countRows(t, "timeline"); n < 400 || n > 800 || lines != n {
		t.Errorf("%d entries and %d messages are left of 2000", n, lines)
	}
	if _, ok, err := s.Entry(ctx, chatguard.EntryID(id)); !ok || err != nil {
		t.Errorf("the newest is gone, %v", err)
	}
	s.wantHealth(t, OK, "")
}
