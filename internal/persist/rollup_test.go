package persist

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// wantRolledUp fails unless the quarter hours contain each message of the timeline up to the stored
// positions exactly once, and nothing else.
func wantRolledUp(t *testing.T, s *Store) {
	t.Helper()
	const upTo = "FROM timeline JOIN rolled_up USING (channel_id) WHERE (timeline.at, timeline.number) <= (rolled_up.at, rolled_up.number)"
	in, of := s.count(t, "SELECT ifnull(sum(spent), 0) FROM quarter_hour"), s.count(t, "SELECT ifnull(sum(cost - unspent), 0) "+upTo)
	if in != of {
		t.Errorf("%d in quarters of an hour, of %d", in, of)
	}
	s.wantCount(t, 0, "SELECT count(*) FROM (SELECT DISTINCT channel_id, user_id "+upTo+" EXCEPT SELECT channel_id, user_id FROM person)")
}

func TestRollUp_Steps(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	for i := range 2*rollStep + 7 {
		s.observeMessage([]string{"a", "b"}[i%2], fmt.Sprint(i%10), "anna", start, 0)
	}
	s.observeMessage("b", "late", "berta", start.Add(rollAge), 0)
	s.mustFlush(t, g)
	for _, step := range []struct {
		now     time.Time
		rolled  int
		more    bool
		channel string
	}{
		{start.Add(rollAge), 0, false, ""},
		{start.Add(rollAge + 1), rollStep, true, "a"},
		{start.Add(rollAge + 1), 2 * rollStep, true, "b"},
		{start.Add(rollAge + 1), 2*rollStep + 7, false, "b"},
		{start.Add(2 * rollAge), 2*rollStep + 7, false, "b"},
		{start.Add(2*rollAge + 1), 2*rollStep + 8, false, "b"},
	} {
		now = step.now
		more, err := s.sweeper.rollUp(ctx, now)
		if err != nil || more != step.more {
			t.Errorf("after %v: more %v, %v", now.Sub(start), more, err)
		}
		if n := s.count(t, "SELECT ifnull(sum(spent), 0) FROM quarter_hour"); n != step.rolled {
			t.Errorf("after %v: %d messages are rolled up, want %d", now.Sub(start), n, step.rolled)
		}
		wantRolledUp(t, s)
	}
}

// A store that was closed for longer than the timeline is kept rolls up the timeline before
// deleting it.
func TestRollUp_BeforeDeletion(t *testing.T) {
	t.Parallel()
	path, now := newDatabase(t), start
	opts := &Options{Now: func() time.Time { return now }}
	s := open(t, path, opts)
	g := guardOf(t, s, policy())
	const messages = 3*rollStep + 1
	for i := range messages {
		s.observeMessage([]string{"a", "b", "c"}[i%3], "7", "anna", start.Add(time.Duration(i)), 0)
	}
	s.mustFlush(t, g)
	must(t, s.Close())

	now = start.Add(timelineTime + 24*time.Hour)
	s = open(t, path, opts)
	g = guardOf(t, s, policy())
	for turns := 0; s.countRows(t, "timeline") > 0; turns++ {
		if turns > messages/sweepStep {
			t.Fatal("the timeline stays")
		}
		s.runTurn(ctx, g)
	}
	s.wantCount(t, messages, "SELECT sum(spent) FROM quarter_hour")
}

// Late messages are rolled up too, even if the timeline deletes them at once or the clock was set
// back.
func TestRollUp_LateMessages(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	sweep := func() {
		s.sweeper.at, s.sweeper.idle = time.Time{}, idleWalk{}
		s.runTurn(ctx, g)
		wantRolledUp(t, s)
	}
	s.observeMessage("1", "7", "anna", start, 0)
	now = start.Add(time.Hour)
	sweep()
	s.observeMessage("1", "7", "anne", start.Add(-1), 0) // before the last rolled-up message
	s.observeMessage("1", "8", "berta", start.Add(-time.Hour), 0)
	s.observeMessage("2", "8", "berta", start.Add(-time.Hour), 0) // a channel with nothing rolled up
	sweep()
	now = start.Add(-24 * time.Hour)
	s.observeMessage("1", "7", "anna", now, 0)
	sweep()
	s.wantCount(t, 4, "SELECT sum(spent) FROM quarter_hour WHERE channel_id = '1'")
	p, ok, err := s.Person(ctx, "1", "7")
	if want := (journal.Person{UserID: "7", Login: "anna", LastSeen: start}); err != nil || !ok || !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v, %v, %v", p, ok, err)
	}
	now = start.Add(timelineTime + time.Hour)
	s.observeMessage("1", "9", "clara", start, 0) // too old for the timeline on arrival
	for range 2 {
		s.sweeper.at, s.sweeper.idle = time.Time{}, idleWalk{}
		s.runTurn(ctx, g)
	}
	if q, err := s.QuarterHours(ctx, "1", "9", start); err != nil || len(q) != 1 || s.countRows(t, "timeline") != 0 {
		t.Errorf("%+v, %v", q, err)
	}
}

// The timeline of the last version is rolled up as if this version had been running, and the
// journal provides the people.
func TestRollUp_TimelineOfVersion3(t *testing.T) {
	t.Parallel()
	path := newOldDatabase(t, 3, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
		INSERT INTO timeline SELECT 'c1', ?1 + i, i, 'u' || (i % 2), 'anna' || (i % 2), 8, 2 FROM n;
		INSERT INTO journal VALUES
		(1, ?1, 'c1', 'u9', 'clara', '', '', '', 'burst', NULL, NULL, 1, 'delete', ?1, 'delete', 'done', '', 1, 0, 0, 0, 0),
		(2, ?1 + 1, 'c1', 'u1', 'old', '', '', '', 'burst', NULL, NULL, 1, 'delete', ?1, 'delete', 'done', '', 2, 0, 0, 0, 0)`, start.UnixNano())
	s := open(t, path, &Options{Now: at(start.Add(time.Hour))})
	g := guardOf(t, s, policy())
	check := func(when string) {
		t.Helper()
		quarters, err := s.QuarterHours(ctx, "c1", "u1", start)
		if err != nil || len(quarters) != 1 || quarters[0] != (journal.QuarterHour{At: start, Spent: 6000}) {
			t.Errorf("%s: %+v, %v", when, quarters, err)
		}
		people, err := s.FindPeople(ctx, "c1", "", 9)
		want := fmt.Sprint([]journal.Person{
			{UserID: "u0", Login: "anna0", Roles: chatguard.Roles{"vip"}, LastSeen: start.Add(6000)}, {UserID: "u1", Login: "anna1", Roles: chatguard.Roles{"vip"}, LastSeen: start.Add(5999)},
			{UserID: "u9", Login: "clara", LastSeen: start},
		})
		if err != nil || fmt.Sprint(people) != want {
			t.Errorf("%s: got %v, %v\nwant %s", when, people, err, want)
		}
	}
	check("at first")
	s.runTurn(ctx, g)
	check("half rolled up")
	s.runTurn(ctx, g)
	check("rolled up")
	wantRolledUp(t, s)
	s.wantCount(t, 12_000, "SELECT sum(spent) FROM quarter_hour")
}

// A caller that waits for a flush waits for at most one step.
func TestRollUp_WaitingCallersFirst(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, &Options{Now: at(start.Add(time.Hour))})
	for range 4 * rollStep {
		s.observeMessage("1", "7", "anna", start, 0)
	}
	s.commits.add()
	s.runTurn(ctx, g)
	s.wantRows(t, "quarter_hour", 0)
}

// Extremely large costs add up to a number that the database accepts.
func TestRollUp_AnyCost(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, &Options{Now: at(start.Add(time.Hour))})
	for range 3 {
		s.Observe(chatguard.Message{ChannelID: "1", User: chatguard.User{ID: "7"}, Cost: 1<<63 - 1}, chatguard.Verdict{At: start, Allowed: true})
	}
	for range 2 {
		quarters, err := s.QuarterHours(ctx, "1", "7", start)
		if err != nil || len(quarters) != 1 || quarters[0].Spent != 3*maxCost {
			t.Errorf("%+v, %v", quarters, err)
		}
		s.runTurn(ctx, g)
	}
	s.wantHealth(t, OK, "")
}
