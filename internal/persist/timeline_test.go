//go:build !race

package persist

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/turntest"
)

// timeline returns the stored timeline in table order.
func timeline(t *testing.T, s *Store) (list []journal.TimelineMessage) {
	t.Helper()
	must(t, s.db.Query(ctx, func(rows *sql.Rows) error {
		var m journal.TimelineMessage
		err := rows.Scan(&m.ChannelID, statement.Time(&m.At), &m.UserID, &m.Login, statement.Names(&m.Roles), &m.Cost, statement.Names(&m.MessageKinds))
		list = append(list, m)
		return err
	}, "SELECT channel_id, at, user_id, login, roles, cost, kinds FROM timeline ORDER BY channel_id, at, number"))
	return list
}

func TestTimeline_EveryVerdict(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	must(t, inner.At(g, start).SetChannelPolicy("observing", config.DefaultPolicy()))
	const secret = "what nobody is to read in it"
	var want []journal.TimelineMessage
	kinds := []string{roles.Bits, roles.Highlighted} // the policies exempt none
	check := func(channelID string, after time.Duration, cost int, having chatguard.Roles, is func(v *chatguard.Verdict) bool) {
		t.Helper()
		m := chatguard.Message{
			ID: "id " + secret, ChannelID: channelID, Text: secret, SentAt: start.Add(after), Cost: cost, Kinds: kinds,
			User: chatguard.User{ID: "7", Login: "ada", DisplayName: "Ada L.", Roles: having},
		}
		v, err := g.Check(ctx, m)
		must(t, err)
		if !is(&v) {
			t.Errorf("another verdict than was meant: %+v", v)
		}
		want = append(want, journal.TimelineMessage{At: start.Add(after), ChannelID: channelID, UserID: "7", Login: "ada", Roles: having, Cost: max(cost, 1), MessageKinds: kinds})
	}
	allowed := func(v *chatguard.Verdict) bool { return v.Allowed && !v.Observed && !v.Exempt }
	throttled := func(v *chatguard.Verdict) bool { return !v.Allowed && !v.Never }
	subscriber, moderator := chatguard.Roles{roles.Subscriber, roles.VIP}, chatguard.Roles{chatguard.RoleModerator, roles.FirstTimer}
	check("c1", 0, 0, nil, allowed)
	check("c1", 1, 2, subscriber, allowed)
	check("c1", 2, 1, subscriber, throttled)
	check("c1", 3, 4, nil, func(v *chatguard.Verdict) bool { return v.Never })
	check("c1", 4, 9, moderator, func(v *chatguard.Verdict) bool { return v.Exempt })
	check("observing", 5, 3, nil, allowed)
	check("observing", 6, 1, nil, func(v *chatguard.Verdict) bool { return v.Observed })
	check("observing", time.Hour, 1<<31-1, chatguard.Roles{roles.Broadcaster}, func(v *chatguard.Verdict) bool { return v.Exempt })
	s.mustFlush(t, g)
	must(t, s.Close())

	s = open(t, path, nil)
	if got := timeline(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	hasText := textsIn(t, s.db, "SELECT 'instr(' || name || ', ''"+secret+"'')' FROM pragma_table_info('timeline')")
	s.wantCount(t, 0, "SELECT count(*) FROM timeline WHERE "+strings.Join(hasText, " OR "))
}

// Messages without a time get the Guard's time. Messages that can't be judged, and checks that
// spend nothing, aren't in the timeline.
func TestTimeline_JudgedOnly(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	say(t, g, "now", time.Time{})
	for _, m := range []chatguard.Message{{ChannelID: "c1"}, {User: chatguard.User{ID: "u"}}, {ChannelID: "c1", User: chatguard.User{ID: "u"}, Cost: -1}} {
		if _, err := g.Check(ctx, m); err == nil {
			t.Errorf("no error for %+v", m)
		}
	}
	_, err := g.Peek(t.Context(), message("peeked", start))
	must(t, err)
	messages := []chatguard.Message{message("first", start.Add(1)), message("first", start.Add(2)), message("second", start.Add(3))}
	must(t, g.CheckAll(ctx, messages, make([]chatguard.Verdict, 3)))
	s.mustFlush(t, g)
	var got []string
	for _, m := range timeline(t, s) {
		got = append(got, fmt.Sprint(m.UserID, " ", m.At.Sub(start)))
	}
	if want := []string{"now 0s", "first 1ns", "first 2ns", "second 3ns"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTimeline_HostileNames(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	names := []struct{ login, want string }{
		{"", ""},
		{"\xff\xfe ada \xc3", "\uFFFD ada \uFFFD"},
		{"a\x00b\u009b", "ab"},
		{"'); DROP TABLE timeline; --", "'); DROP TABLE timeline; --"},
		{strings.Repeat("x", 10_000), strings.Repeat("x", journal.MaxName-3) + "…"},
		{strings.Repeat("é", 10_000), strings.Repeat("é", journal.MaxName/2-2) + "…"},
		{strings.Repeat("\xff", 10_000), "\uFFFD"},
		{strings.Repeat("\x00", 10_000), ""},
	}
	for i, name := range names {
		m := message(fmt.Sprint(i, "\x00\xff"), start.Add(time.Duration(i)))
		m.User.Login = name.login
		_, err := g.Check(ctx, m)
		must(t, err)
	}
	s.mustFlush(t, g)
	got := timeline(t, s)
	if len(got) != len(names) {
		t.Fatalf("%d messages, want %d", len(got), len(names))
	}
	for i, name := range names {
		if m := got[i]; m.Login != name.want || !utf8.ValidString(m.Login) || m.UserID != fmt.Sprint(i, "\x00\xff") {
			t.Errorf("login %.40q of user %q, want %.40q", m.Login, m.UserID, name.want)
		}
	}
	// Text after a NUL is kept and can be found.
	for condition, value := range map[string]string{"login = ?": "ab", "user_id = ?": "2\x00\xff"} {
		s.wantCount(t, 1, "SELECT count(*) FROM timeline WHERE "+condition, value)
	}
}

// Every message is stored once, and messages of the same time keep their order, even if flushes
// fail.
func TestTimeline_KeepsOrder(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFilledDatabase(t)
			s := open(t, path, nil)
			g := guardOf(t, s, policy())
			s.runTurn(ctx, g)
			said := map[string][]string{}
			instant := start.Add(time.Hour)
			next := 0
			talk := func(messages int) {
				for range messages {
					channelID := []string{"b", "a", "c"}[next%3]
					m := message(fmt.Sprint(next), instant)
					m.ChannelID = channelID
					v, err := g.Check(ctx, m)
					must(t, err)
					if v.Degraded != (s.Health().State == Failing) {
						t.Errorf("message %d: degraded %v", next, v.Degraded)
					}
					said[channelID] = append(said[channelID], m.User.ID)
					next++
				}
			}
			talk(100)
			s.mustFlush(t, g)
			for range 2 {
				repair := failure.harm(t, s)
				for range 3 {
					talk(300)
					s.runTurn(ctx, g)
					if h := s.Health(); h.State != Failing {
						t.Fatalf("%+v", h)
					}
				}
				talk(10)
				repair()
				s.runTurn(ctx, g)
				if h := s.Health(); h.State != OK || h.Dropped != (Dropped{}) {
					t.Fatalf("%+v", h)
				}
				talk(50)
				s.runTurn(ctx, g)
			}
			got := map[string][]string{}
			for _, m := range timeline(t, s) {
				if m.ChannelID != "c1" { // it was there before
					got[m.ChannelID] = append(got[m.ChannelID], m.UserID)
				}
			}
			if !reflect.DeepEqual(got, said) {
				t.Errorf("got %d messages in another order than the %d that were said", len(got["a"])+len(got["b"])+len(got["c"]), next)
			}
		})
	}
}

// A late message is stored at the time it was sent. Numbers continue after a restart, so that
// messages of the same time aren't confused.
func TestTimeline_TimeOfSending(t *testing.T) {
	t.Parallel()
	path, now := newDatabase(t), start
	opts := &Options{Now: func() time.Time { return now }}
	s := open(t, path, opts)
	g := guardOf(t, s, policy())
	say(t, g, "second", start.Add(time.Second))
	say(t, g, "third", start.Add(time.Second))
	say(t, g, "first", start)
	s.mustFlush(t, g)
	must(t, s.Close())

	now = start.Add(3 * time.Second)
	s = open(t, path, opts)
	g = guardOf(t, s, policy())
	say(t, g, "fourth", start.Add(time.Second))
	s.mustFlush(t, g)
	var got []string
	for _, m := range timeline(t, s) {
		got = append(got, m.UserID)
	}
	if want := []string{"first", "second", "third", "fourth"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
