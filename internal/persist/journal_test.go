package persist

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// throttledMessage returns the message and verdict of entry id.
func throttledMessage(id int, channelID, user string, retryAfter time.Duration) (chatguard.Message, chatguard.Verdict) {
	m := message(user, start)
	m.ChannelID = channelID
	return m, chatguard.Verdict{
		At: start, ChannelID: channelID, UserID: user, RetryAfter: retryAfter, ResetAt: start.Add(time.Hour),
		Limit:   strings.Repeat("a long name ", 500), // more than a page, so a full disk is noticed
		EntryID: chatguard.EntryID(id), Strikes: 2, Penalty: chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: 30 * time.Second},
	}
}

func outcome(id int, result journal.Result, reason string) journal.Outcome {
	return journal.Outcome{Entry: chatguard.EntryID(id), At: start.Add(time.Second), Action: chatguard.ActionTimeout, Result: result, Reason: reason}
}

var wantEntries = wantList[journal.Entry]

// wantList returns a check for the results of a method that returns a list.
func wantList[T any](t *testing.T, want ...T) func([]T, error) {
	return func(got []T, err error) {
		t.Helper()
		must(t, err)
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

// newInterruptedDatabase returns the path of a database with an entry that was acted on, 1, and one
// that wasn't, 2.
func newInterruptedDatabase(t *testing.T) string {
	t.Helper()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	s.Observe(throttledMessage(1, "c1", "u1", time.Second))
	s.Observe(throttledMessage(2, "c1", "u2", time.Second))
	s.Report(outcome(1, journal.Done, ""))
	s.mustFlush(t, g)
	must(t, s.Close())
	return path
}

func wantOutcome(t *testing.T, s *Store, id int, result journal.Result, reason string) {
	t.Helper()
	if s.count(t, "SELECT count(*) FROM journal WHERE id = ? AND outcome_result = ? AND outcome_reason = ?", id, string(result), reason) != 1 {
		t.Errorf("entry %d isn't %s %q", id, result, reason)
	}
}

func TestJournal_PendingUnknownAfterRestart(t *testing.T) {
	t.Parallel()
	s := open(t, newInterruptedDatabase(t), nil)
	g, stats := restoreGuard(t, s, policy())
	if stats.Interrupted != 1 || stats.LastEntry != 2 {
		t.Errorf("%+v", stats)
	}
	s.Observe(throttledMessage(3, "c1", "u3", time.Second))
	s.runTurn(ctx, g)
	wantOutcome(t, s, 1, journal.Done, "")
	wantOutcome(t, s, 2, journal.Unknown, journal.Interrupted)
	wantOutcome(t, s, 3, journal.Pending, "")
}

func TestJournal_PendingUnknownAfterFailure(t *testing.T) {
	t.Parallel()
	s := open(t, newInterruptedDatabase(t), nil)
	repair := failures["locked"].harm(t, s)
	g := guardOf(t, s, policy())
	s.Observe(throttledMessage(3, "c1", "u3", time.Second))
	s.runTurn(ctx, g)
	wantOutcome(t, s, 2, journal.Pending, "")
	repair()
	s.runTurn(ctx, g)
	wantOutcome(t, s, 2, journal.Unknown, journal.Interrupted)
	wantOutcome(t, s, 3, journal.Pending, "")
}

func TestJournal_IDsContinue(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	const last = 1 << 52 // later than any clock
	s.Observe(throttledMessage(last, "c1", "u1", time.Second))
	s.mustFlush(t, g)
	must(t, s.Close())

	g = guardOf(t, open(t, path, nil), policy())
	for range 3 {
		say(t, g, "u", start)
	}
	if v := say(t, g, "u", start); v.EntryID != last+1 {
		t.Errorf("got entry %d, want %d", v.EntryID, last+1)
	}
}

// TestSilencing checks that each user's newest timeout or ban is found that was carried out since a
// time and that is wanted.
func TestSilencing(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	wanted := map[chatguard.EntryID]bool{2: true, 3: true, 5: true, 6: true, 7: true, 8: true}
	for id, user := range []string{"u1", "u1", "u1", "u2", "u3", "u4", "u5", "u3"} {
		m, v := throttledMessage(id+1, "c1", user, time.Second)
		if v.At = start.Add(time.Hour); user == "u5" {
			v.At = start
		}
		s.Observe(m, v)
	}
	for id := range 8 {
		s.Report(outcome(id+1, journal.Done, ""))
	}
	s.Report(journal.Outcome{Entry: 8, At: start.Add(time.Second), Action: chatguard.ActionDelete, Result: journal.Done})
	s.Report(journal.Outcome{Entry: 5, At: start.Add(time.Second), Action: chatguard.ActionBan, Result: journal.Done})
	s.Report(outcome(6, journal.Failed, ""))
	s.mustFlush(t, g)
	for n, want := range map[int][]int{10: {5, 3}, 1: {5}} {
		entries, err := s.Silencing(ctx, start.Add(time.Hour), func(e *journal.Entry) bool { return wanted[e.ID] }, n)
		var ids []int
		for _, e := range entries {
			ids = append(ids, int(e.ID))
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("of at most %d, found %v, want %v (%v)", n, ids, want, err)
		}
	}
}

func TestThrottled_StillWaiting(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	s.Observe(throttledMessage(1, "c1", "until midnight", 4*time.Hour))
	s.Observe(throttledMessage(2, "c1", "until midnight", 4*time.Hour))
	s.Observe(throttledMessage(3, "c2", "until midnight", 3*time.Hour))
	s.Observe(throttledMessage(4, "c1", "short", time.Minute))
	m, v := throttledMessage(5, "c1", "never", 0)
	v.Never = true
	s.Observe(m, v)
	s.Observe(throttledMessage(6, "c1", "until midnight", time.Minute)) // newer, but ends sooner
	s.mustFlush(t, g)

	never := journal.NewEntry(m, v)
	wantEntries(t, never, journal.NewEntry(throttledMessage(3, "c2", "until midnight", 3*time.Hour)),
		journal.NewEntry(throttledMessage(2, "c1", "until midnight", 4*time.Hour)))(s.Throttled(ctx, start.Add(time.Minute), 10))
	wantEntries(t, never)(s.Throttled(ctx, start.Add(4*time.Hour), 10))
	wantEntries(t)(s.Throttled(ctx, start.Add(time.Minute), 0))
}

// All texts that chat sends are stored and returned unchanged, byte by byte.
func TestJournal_RoundTrip(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	id := chatguard.EntryID(0)
	rapid.Check(t, func(t *rapid.T) {
		id++
		text := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
		instant := rapid.Custom(func(t *rapid.T) time.Time { return statement.TimeAt(rapid.Int64Range(0, 1<<62).Draw(t, "ns")) })
		want := journal.Entry{
			ID: id, At: instant.Draw(t, "at"), ChannelID: fmt.Sprint(id), UserID: text.Draw(t, "user"), Login: text.Draw(t, "login"),
			DisplayName: text.Draw(t, "name"), MessageID: text.Draw(t, "message"), Text: text.Draw(t, "text"), Limit: text.Draw(t, "limit"),
			MaySpeakAt: journal.OptionalTime{Time: rapid.OneOf(rapid.Just(time.Time{}), instant).Draw(t, "may speak")}, ResetAt: instant.Draw(t, "reset"),
			Strikes: rapid.Int().Draw(t, "strikes"),
			Penalty: rapid.SampledFrom([]chatguard.Penalty{{}, {Action: chatguard.ActionBan}, {Action: chatguard.ActionTimeout, UntilRefill: true},
				{Action: chatguard.ActionTimeout, Duration: 14 * 24 * time.Hour}}).Draw(t, "penalty"),
			Outcome: journal.Outcome{Entry: id, At: instant.Draw(t, "reported"), Action: penalties.Warn, Result: journal.Failed,
				Reason: text.Draw(t, "reason")},
			Cost: rapid.Int().Draw(t, "cost"),
			Offence: journal.Offence{Late: time.Duration(rapid.Int64().Draw(t, "late")), Counted: rapid.Int().Draw(t, "counted"),
				Series: rapid.Uint8().Draw(t, "series"), NewStrike: rapid.Bool().Draw(t, "new strike")},
		}
		e := want
		s.queue.waiting.entries = []*journal.Entry{&e}
		if _, err := s.flush(ctx, g); err != nil {
			t.Fatal(err)
		}
		got, err := s.Entries(ctx, journal.EntryFilter{ChannelID: want.ChannelID, N: 1})
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
		}
	})
}
