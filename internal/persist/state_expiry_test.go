//go:build !race

package persist

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/turntest"
)

// storedKeys returns the keys of the state.
func storedKeys(t *testing.T, s *Store) []string {
	t.Helper()
	return slices.Sorted(slices.Values(textsIn(t, s.db, "SELECT channel_id || '/' || user_id || '/' || limit_name FROM state")))
}

// walk lets the store go through the whole state table. It returns the number of turns, and the
// most rows that one of them deleted.
func walk(t *testing.T, s *Store, g *chatguard.Guard) (turns, most int) {
	t.Helper()
	for s.sweeper.idle = (idleWalk{}); s.sweeper.idle.at.IsZero(); turns++ {
		before := s.countRows(t, "state")
		s.runTurn(ctx, g)
		if s.wantHealth(t, OK, ""); t.Failed() {
			t.FailNow() // the walk would never end
		}
		most = max(most, before-s.countRows(t, "state"))
	}
	return turns, most
}

func addLimit(l chatguard.Limit) chatguard.Policy {
	p := policy()
	p.Limits = append(p.Limits, l)
	return p
}

func changePenalties(change func(p *chatguard.Penalties)) chatguard.Policy {
	p := policy()
	change(&p.Penalties)
	return p
}

// speaks lets a user write messages at the start; the fourth is throttled.
func speaks(times int) func(t *testing.T, g *chatguard.Guard) {
	return func(t *testing.T, g *chatguard.Guard) {
		for range times {
			say(t, g, "u", start)
		}
	}
}

// idleCases are the states that users leave behind at the start, and how much later each row no
// longer counts. The day ends after 4 h, and is remembered for another one.
var idleCases = map[string]struct {
	policy    chatguard.Policy
	live      func(t *testing.T, g *chatguard.Guard)
	change    func(g *chatguard.Guard) error // a later policy change; nil for none
	onRestart bool                           // the change comes only at a restart
	counts    map[string]time.Duration       // by the row's key
}{
	"a message": {
		policy: policy(),
		live:   speaks(1),
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour},
	},
	"throttled": {
		policy: policy(),
		live:   speaks(4),
		counts: map[string]time.Duration{"c1/u/burst": 12 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/": 30 * time.Minute},
	},
	"silenced for longer than strikes count": {
		policy: changePenalties(func(p *chatguard.Penalties) {
			p.Ladder = []chatguard.Penalty{{Action: chatguard.ActionTimeout, Duration: 2 * time.Hour}}
		}),
		live:   speaks(4),
		counts: map[string]time.Duration{"c1/u/burst": 12 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/": 2 * time.Hour},
	},
	"strikes that never lapse": {
		policy: changePenalties(func(p *chatguard.Penalties) { p.ForgetAfter = 0 }),
		live:   speaks(4),
		counts: map[string]time.Duration{"c1/u/burst": 12 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/": forEver},
	},
	"an override": {
		policy: policy(),
		live: func(t *testing.T, g *chatguard.Guard) {
			must(t, inner.At(g, start).SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c1", UserID: "u"}, chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 7}}}))
			say(t, g, "u", start)
		},
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/+": forEver},
	},
	"a grant": {
		policy: policy(),
		live: func(t *testing.T, g *chatguard.Guard) {
			_, err := inner.At(g, start).Grant(t.Context(), chatguard.Key{ChannelID: "c1", UserID: "u"}, "burst", 5)
			must(t, err)
			say(t, g, "u", start)
		},
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/+": 4 * time.Hour},
	},
	"a limit that is gone": {
		policy: addLimit(chatguard.Limit{Name: "long", Algorithm: chatguard.UserWindow, Messages: 50, Every: 100 * time.Hour}),
		live:   speaks(1),
		change: func(g *chatguard.Guard) error { return inner.At(g, start).SetPolicy(policy()) },
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/long": 100 * time.Hour},
	},
	"a limit of another algorithm now": {
		policy:    addLimit(chatguard.Limit{Name: "long", Algorithm: chatguard.UserWindow, Messages: 50, Every: 100 * time.Hour}),
		live:      speaks(1),
		onRestart: true, // or the Guard would restart counting at once
		change: func(g *chatguard.Guard) error {
			return inner.At(g, start).SetPolicy(addLimit(chatguard.Limit{Name: "long", Algorithm: chatguard.SlidingLog, Messages: 50, Every: time.Hour}))
		},
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/long": 100 * time.Hour},
	},
	"per user everywhere": {
		policy: addLimit(chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 50, Every: 30 * time.Hour}),
		live:   speaks(1),
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour, "/u/total": 30 * time.Hour},
	},
	"per user everywhere, gone": {
		policy: addLimit(chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 50, Every: 30 * time.Hour}),
		live:   speaks(1),
		change: func(g *chatguard.Guard) error { return inner.At(g, start).SetPolicy(policy()) },
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour, "/u/total": 30 * time.Hour},
	},
	"shared by the channel": {
		policy: addLimit(chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 50, Every: 20 * time.Minute}),
		live:   speaks(1),
		counts: map[string]time.Duration{"c1/u/burst": 4 * time.Second, "c1/u/daily": 28 * time.Hour, "c1//crowd": 20 * time.Minute},
	},
	"a channel with a policy of its own": {
		policy: policy(),
		change: func(g *chatguard.Guard) error {
			p := policy()
			p.Penalties.ForgetAfter = 90 * time.Hour
			return inner.At(g, start).SetChannelPolicy("c2", p)
		},
		live: func(t *testing.T, g *chatguard.Guard) {
			for _, channelID := range []string{"c1", "c2"} {
				for range 4 {
					m := message("u", start)
					m.ChannelID = channelID
					_, err := g.Check(ctx, m)
					must(t, err)
				}
			}
		},
		counts: map[string]time.Duration{
			"c1/u/burst": 12 * time.Second, "c1/u/daily": 28 * time.Hour, "c1/u/": 30 * time.Minute,
			"c2/u/burst": 12 * time.Second, "c2/u/daily": 28 * time.Hour, "c2/u/": 90 * time.Hour,
		},
	},
}

const forEver = 1000 * time.Hour

// State is deleted a day after it last counted, and not a nanosecond earlier. This holds whether
// the Guard remembers the user or has restarted since.
func TestIdleWalk_DeletesADayLater(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	for name, test := range idleCases {
		for _, remembered := range []bool{true, false} {
			if remembered && test.onRestart {
				continue
			}
			t.Run(fmt.Sprintf("%s/remembered %v", name, remembered), func(t *testing.T) {
				now := start
				s := open(t, newDatabase(t), &Options{Now: func() time.Time { return now }})
				g := guardOf(t, s, test.policy)
				test.live(t, g)
				s.mustFlush(t, g)
				if !remembered {
					var err error
					g, err = chatguard.New(test.policy, &chatguard.Options{Now: s.opts.Now})
					// now the Guard knows the channel
					must(t, errors.Join(err, inner.At(g, start).Reset(t.Context(), chatguard.Key{ChannelID: "c1", UserID: "somebody"})))
				}
				if test.change != nil {
					must(t, test.change(g))
				}

				keys := []string{}
				for key := range test.counts {
					keys = append(keys, key)
				}
				slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(test.counts[a], test.counts[b]), cmp.Compare(a, b)) })
				for len(keys) > 0 {
					counts := test.counts[keys[0]]
					now = start.Add(counts + idleTime - 1)
					walk(t, s, g)
					if got, want := storedKeys(t, s), slices.Sorted(slices.Values(keys)); !slices.Equal(got, want) {
						t.Fatalf("%v and a day later, less 1 ns: %q, want %q", counts, got, want)
					}
					if counts == forEver {
						break
					}
					keys = slices.DeleteFunc(keys, func(key string) bool { return test.counts[key] == counts })
					now = now.Add(1)
					walk(t, s, g)
					if got, want := storedKeys(t, s), slices.Sorted(slices.Values(keys)); !slices.Equal(got, want) {
						t.Fatalf("%v and a day later: %q, want %q", counts, got, want)
					}
				}
			})
		}
	}
}

func TestIdleWalk_KeepsUnreadableState(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	for _, user := range []string{"1", "2", "3"} {
		say(t, g, user, start)
	}
	s.mustFlush(t, g)
	s.exec(t, "UPDATE state SET data = x'FF' WHERE user_id = '2'")
	// too long for a user ID
	s.exec(t, "INSERT INTO state VALUES ('c1', ?, 'daily', x'')", strings.Repeat("long", 1000))
	now = start.Add(forEver)
	walk(t, s, g)
	if got := storedKeys(t, s); len(got) != 3 || got[0] != "c1/2/burst" || got[1] != "c1/2/daily" {
		t.Errorf("%d rows are left, want 3: %.100q", len(got), got)
	}
}

// The walk checks one step of rows per turn, whatever it finds.
func TestIdleWalk_Steps(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	now := start.Add(-72 * time.Hour)
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	const each = 700
	users := func(kind string, do func(user string)) {
		for i := range each {
			do(fmt.Sprint(i, " ", kind)) // mixes them in the table
		}
	}
	throttle := func(user string) {
		for range 4 {
			say(t, g, user, now)
		}
	}
	own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 7}}}
	users("idle", throttle)
	users("unreadable", func(user string) { say(t, g, user, now) })
	users("own", func(user string) {
		must(t, inner.At(g, now).SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c1", UserID: user}, own))
		throttle(user)
	})
	s.mustFlush(t, g)
	// The day of the next users ends 20 h before start, so their usage of the day isn't deleted at
	// start. All earlier state has expired by then.
	now = start.Add(-25 * time.Hour)
	users("yesterday", throttle)
	s.mustFlush(t, g)
	now = start.Add(-time.Hour)
	users("today", throttle)
	users("granted", func(user string) {
		_, err := inner.At(g, now).Grant(t.Context(), chatguard.Key{ChannelID: "c1", UserID: user}, "daily", 5)
		must(t, err)
	})
	s.mustFlush(t, g)
	s.exec(t, "UPDATE state SET data = x'FF' WHERE user_id LIKE '% unreadable' AND limit_name = 'daily'")
	rows := s.countRows(t, "state")

	now = start
	turns, most := walk(t, s, g)
	if turns != rows/sweepStep+1 || most > sweepStep {
		t.Errorf("%d rows took %d turns, one of which deleted %d", rows, turns, most)
	}
	left := map[string]int{}
	for _, key := range storedKeys(t, s) {
		_, kind, _ := strings.Cut(key, " ")
		left[kind]++
	}
	want := map[string]int{"unreadable/daily": each, "own/+": each, "yesterday/daily": each, "today/": each, "today/burst": each, "today/daily": each, "granted/+": each}
	if fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("left are\n%v, want\n%v", left, want)
	}
}

func TestIdleWalk_RestsForAnHour(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	say(t, g, "u", start)
	now = start.Add(forEver)
	s.runTurn(ctx, g)
	if got := storedKeys(t, s); len(got) != 0 {
		t.Fatalf("%q", got)
	}
	say(t, g, "u", start)
	s.mustFlush(t, g)
	for _, step := range []struct {
		rest time.Duration
		left int
	}{{0, 2}, {idleInterval - 1, 2}, {idleInterval, 0}} {
		now = start.Add(forEver + step.rest)
		s.runTurn(ctx, g)
		if got := storedKeys(t, s); len(got) != step.left {
			t.Errorf("after %v: %q, want %d rows", step.rest, got, step.left)
		}
	}
}

// The walk doesn't change the usage of users who speak again. They may speak before the walk
// reaches their row, just after that, or while the table can't be written.
func TestIdleWalk_ActiveUsersStayStored(t *testing.T) {
	t.Parallel()
	path, now := newDatabase(t), start.Add(-72*time.Hour)
	clock := func() time.Time { return now }
	s := open(t, path, &Options{Now: clock})
	g := guardOf(t, s, everyAlgorithm())
	never, err := chatguard.New(everyAlgorithm(), &chatguard.Options{Now: clock})
	must(t, err)
	users := 0
	name := func(user int) string { return fmt.Sprint("u", user) }
	both := func(user, times int) {
		for range times {
			say(t, g, name(user), now)
			say(t, never, name(user), now)
		}
	}
	for ; users < 600; users++ {
		both(users, 1+users%5)
		now = now.Add(time.Second)
	}
	s.mustFlush(t, g)

	now = start
	rows := s.countRows(t, "state")
	spoke := []string{}
	for turn := 0; s.sweeper.idle.at.IsZero(); turn++ {
		for user := turn % 3; user < users; user += 7 {
			both(user, 1+turn%4)
			spoke = append(spoke, name(user))
		}
		repair := func() {}
		if turn == 1 {
			repair = failures["locked"].harm(t, s)
		}
		s.runTurn(ctx, g)
		repair()
	}
	if left := s.countRows(t, "state"); left >= rows {
		t.Errorf("of %d rows %d are left", rows, left)
	}
	s.mustFlush(t, g)
	must(t, s.Close())

	slices.Sort(spoke)
	again := open(t, path, &Options{Now: clock})
	fresh := guardOf(t, again, everyAlgorithm())
	assertSame(t, never, fresh, slices.Compact(spoke)...)
	assertSame(t, never, fresh, name(6), name(599), "nobody")
}

func TestIdleWalk_RetriesFailedStep(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	for user := range sweepStep { // 2 rows each
		say(t, g, fmt.Sprint(user), start)
	}
	s.mustFlush(t, g)
	now = start.Add(forEver)
	for _, left := range []int{sweepStep, 0} {
		repair := failures["locked"].harm(t, s)
		s.runTurn(ctx, g)
		s.wantHealth(t, Failing, lockedByOther)
		repair()
		s.runTurn(ctx, g)
		s.wantRows(t, "state", left)
	}
}
