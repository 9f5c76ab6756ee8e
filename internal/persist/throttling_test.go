package persist

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// observeEntry records a throttled message of channel c1, and its outcome unless that is pending.
func (s *Store) observeEntry(id int, user string, second int, action chatguard.Action, result journal.Result) {
	at := start.Add(time.Duration(second) * time.Second)
	m := message(user, at)
	m.User.Login, m.User.DisplayName = "login"+user, fmt.Sprint("Name", id)
	s.Observe(m, chatguard.Verdict{At: at, ChannelID: m.ChannelID, UserID: user, EntryID: chatguard.EntryID(id), Observed: result == journal.Observed})
	if result == journal.Done || result == journal.Failed {
		s.Report(journal.Outcome{Entry: chatguard.EntryID(id), At: at, Action: action, Result: result})
	}
}

func TestThrottling_CountsByUser(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	want := journal.Throttling{
		Users: 3, Messages: 6, ObservedUsers: 2, Observed: 2, TimedOut: 2, Banned: 1,
		Top: []journal.UserThrottling{
			{UserID: "a", Login: "logina", DisplayName: "Name7", Throttled: 3, Observed: 1, TimedOut: 1},
			{UserID: "b", Login: "loginb", DisplayName: "Name6", Throttled: 2, TimedOut: 1, Banned: 1},
		},
	}
	check := func(when string) {
		t.Helper()
		got, err := s.Throttling(ctx, "c1", start.Add(time.Second), start.Add(10*time.Second), 2)
		must(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", when, got, want)
		}
	}
	s.observeEntry(1, "a", 0, chatguard.ActionTimeout, journal.Done)  // before the period
	s.observeEntry(2, "a", 1, chatguard.ActionTimeout, journal.Done)  // its first instant
	s.observeEntry(3, "a", 2, chatguard.ActionDelete, journal.Failed) // throttled all the same
	s.observeEntry(4, "a", 3, chatguard.ActionDelete, journal.Done)
	s.observeEntry(5, "b", 3, chatguard.ActionTimeout, journal.Done)
	s.mustFlush(t, g)
	s.observeEntry(6, "b", 4, chatguard.ActionBan, journal.Pending)
	s.observeEntry(7, "a", 5, "", journal.Observed)
	s.observeEntry(8, "c", 5, "", journal.Observed)
	s.observeEntry(9, "d", 6, chatguard.ActionTimeout, journal.Failed)
	s.observeEntry(10, "d", 10, chatguard.ActionDelete, journal.Done) // after the period
	s.Report(journal.Outcome{Entry: 6, At: start, Action: chatguard.ActionBan, Result: journal.Done})
	check("partly pending")
	s.mustFlush(t, g)
	check("stored")
	s.Report(journal.Outcome{Entry: 4, At: start, Action: chatguard.ActionBan, Result: journal.Done})
	want.Banned, want.Top[0].Banned = 2, 1
	check("with a pending outcome")
	s.mustFlush(t, g)
	check("with a stored outcome")
}

// The counts come from the index alone, however large the journal is.
func TestThrottling_UsesIndex(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	plan := planOf(t, s.db, throttlingRows, "c1", 0, 1)
	if want := "SEARCH journal USING COVERING INDEX journal_throttling (channel_id=? AND at>? AND at<?)"; plan[0] != want {
		t.Errorf("%q, want %s", plan, want)
	}
}
