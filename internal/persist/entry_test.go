package persist

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// wantEntry returns a check for the results of Entry or lastEntry. The check fails unless they are
// the entry want; nil means no entry.
func wantEntry(t *testing.T, when string, want *journal.Entry) func(journal.Entry, bool, error) {
	return func(got journal.Entry, ok bool, err error) {
		t.Helper()
		if err != nil || ok != (want != nil) || ok && !reflect.DeepEqual(got, *want) {
			t.Errorf("%s: %v, %v\ngot  %+v\nwant %+v", when, ok, err, got, want)
		}
	}
}

// An entry is found with its last outcome, whether entry and outcome are in the queue, being
// written, or stored.
func TestEntry_QueuedWritingOrStored(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	want := journal.NewEntry(throttledMessage(1, "c1", "u1", time.Second))
	check := func(when string) {
		t.Helper()
		wantEntry(t, when, &want)(s.Entry(ctx, 1))
		wantEntry(t, when, &want)(lastEntry(ctx, s, "c1", "u1"))
	}
	report := func(o journal.Outcome) {
		s.Report(o)
		want.Outcome = o
	}
	wantEntry(t, "before it is made", nil)(s.Entry(ctx, 1))
	wantEntry(t, "before it is made", nil)(lastEntry(ctx, s, "c1", "u1"))
	s.Report(outcome(9, journal.Done, "")) // of no entry

	s.Observe(throttledMessage(1, "c1", "u1", time.Second))
	check("while it waits")
	// a different penalty than the one due
	report(journal.Outcome{Entry: 1, At: start, Action: chatguard.ActionDelete, Result: journal.Failed, Reason: "no budget"})
	check("while its outcome waits")
	taken := s.queue.take()
	check("while it is written")
	report(outcome(1, journal.Done, ""))
	check("while a newer outcome waits")
	s.queue.putBack(taken)
	check("after a flush that failed")
	s.mustFlush(t, g)
	check("stored")
	report(outcome(1, journal.Failed, "late"))
	check("stored, while an outcome waits")
	taken = s.queue.take()
	check("stored, while an outcome is written")
	report(outcome(1, journal.Skipped, "later"))
	check("stored, with one outcome on its way and another that waits")
	s.queue.putBack(taken)
	s.mustFlush(t, g)
	check("all stored")

	wantEntry(t, "another", nil)(s.Entry(ctx, 2))
	wantEntry(t, "another user's", nil)(lastEntry(ctx, s, "c1", "u2"))
	wantEntry(t, "another channel's", nil)(lastEntry(ctx, s, "c2", "u1"))
}

// lastEntry returns the newest of a user's Entries.
func lastEntry(ctx context.Context, s *Store, channelID, userID string) (journal.Entry, bool, error) {
	entries, err := s.Entries(ctx, journal.EntryFilter{ChannelID: channelID, UserID: userID, N: 1})
	if len(entries) == 0 {
		return journal.Entry{}, false, err
	}
	return entries[0], true, err
}

// During continuous flushes, everything that was observed can be found at any time.
func TestEntry_FoundDuringFlushes(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	flushed := make(chan struct{})
	defer func() { <-flushed }()
	go func() {
		defer close(flushed)
		for range 10 {
			if _, err := s.flush(ctx, g); err != nil {
				t.Error(err)
			}
		}
	}()
	for id := 1; ; id++ {
		select {
		case <-flushed:
			return
		default:
		}
		s.Observe(throttledMessage(id, "c1", "u1", time.Second))
		s.Report(outcome(id, journal.Done, ""))
		for range 3 {
			e, ok, err := lastEntry(ctx, s, "c1", "u1")
			if err != nil || !ok || e.ID != chatguard.EntryID(id) || e.Outcome.Result != journal.Done {
				t.Fatalf("entry %d: found %v, %v, %+v", id, ok, err, e)
			}
			if user, ok, err := s.UserByLogin(ctx, "c1", "loginu1"); user != "u1" || !ok || err != nil {
				t.Fatalf("%q, %v, %v", user, ok, err)
			}
		}
	}
}
