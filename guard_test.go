package chatguard

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/state"
)

var monday = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// warn is an action that the library doesn't know.
const warn Action = "warn"

func newEnforcingGuard(t testing.TB, change func(*Policy), opts *Options) *Guard {
	t.Helper()
	p := observingPolicy()
	p.Mode = ModeEnforce
	if change != nil {
		change(&p)
	}
	return mustNew(t, p, opts)
}

func mustNew(t testing.TB, p Policy, opts *Options) *Guard {
	t.Helper()
	g, err := New(p, opts)
	must(t, err)
	return g
}

func messageFrom(user string, seconds float64, roles ...Role) Message {
	return Message{
		ChannelID: "1", User: User{ID: user, Roles: Roles(roles)},
		SentAt: monday.Add(time.Duration(seconds * float64(time.Second))),
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustCheck(t testing.TB, g *Guard, m Message) Verdict {
	t.Helper()
	v, err := g.Check(context.Background(), m)
	must(t, err)
	return v
}

// TestVerdict_DayEnds checks that a limit's day ends at its own time, in its own zone or the
// policy's.
func TestVerdict_DayEnds(t *testing.T) {
	plain, own := DailyWindowLimit("daily", 1), DailyWindowLimit("daily", 1)
	own.Timezone, own.ResetAt = "Asia/Tokyo", "04:30"
	for _, test := range []struct {
		limit Limit
		want  time.Duration // from noon in UTC
	}{{plain, 17 * time.Hour}, {own, 7*time.Hour + 30*time.Minute}} {
		g := mustNew(t, Policy{Mode: ModeEnforce, Timezone: "America/New_York", Limits: []Limit{test.limit}}, nil)
		mustCheck(t, g, messageFrom("7", 0))
		if v := mustCheck(t, g, messageFrom("7", 1)); v.Allowed || v.At.Add(v.RetryAfter).Sub(monday) != test.want {
			t.Errorf("%+v: the day ends after %s, want %s", test.limit, v.At.Add(v.RetryAfter).Sub(monday), test.want)
		}
	}
}

func TestVerdict_Throttled(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	for left := 2; left >= 0; left-- {
		v := mustCheck(t, g, messageFrom("7", 0))
		if want := (Verdict{At: monday, ChannelID: "1", UserID: "7", Allowed: true, Tightest: "burst", Remaining: left, ResetAt: v.ResetAt, Spent: 1}); v != want || v.Throttled() {
			t.Fatalf("got %#v\nwant %#v", v, want)
		}
	}
	v := mustCheck(t, g, messageFrom("7", 1))
	want := Verdict{
		At: monday.Add(time.Second), ChannelID: "1", UserID: "7", Series: v.Series, Limit: "burst", Tightest: "burst", RetryAfter: 3 * time.Second,
		EntryID: v.EntryID, Penalty: Penalty{Action: ActionDelete}, Strikes: 1, NewStrike: true, ResetAt: v.ResetAt,
	}
	if v != want || v.EntryID == 0 || !v.ResetAt.Equal(monday.Add(12*time.Second)) {
		t.Fatalf("got %#v\nwant %#v", v, want)
	}
	if other := mustCheck(t, g, Message{ChannelID: "2", User: User{ID: "7"}, SentAt: monday}); !other.Allowed {
		t.Error("a user's messages count in another channel")
	}
	if never := mustCheck(t, g, Message{ChannelID: "1", User: User{ID: "8"}, SentAt: monday, Cost: 4}); !never.Never || never.RetryAfter != 0 {
		t.Errorf("a cost beyond the burst: %+v", never)
	}
}

func TestPolicy_ObserveOnlyReports(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Mode = ModeObserve }, nil)
	for range 3 {
		mustCheck(t, g, messageFrom("7", 0))
	}
	v := mustCheck(t, g, messageFrom("7", 0))
	if !v.Allowed || !v.Observed || !v.Throttled() || v.Limit != "burst" || v.Penalty != (Penalty{}) || v.WouldBe.Action != ActionDelete || v.EntryID == 0 || v.RetryAfter != 4*time.Second {
		t.Errorf("got %+v", v)
	}
	mustCheck(t, g, messageFrom("7", 11))
	p := g.ChannelPolicy("1")
	p.Mode = ModeEnforce
	must(t, g.at(monday.Add(11*time.Second)).SetChannelPolicy("1", p))
	for range 3 {
		v = mustCheck(t, g, messageFrom("7", 11))
	}
	if v.Allowed || v.Strikes != 1 {
		t.Errorf("strikes of the rehearsal count: %+v", v)
	}
}

func TestPenalties_Ladder(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = []Limit{{Name: "once", Algorithm: TokenBucket, Burst: 1, Refill: 10 * time.Hour}}
		p.Penalties.Ladder = []Penalty{{Action: ActionDelete}, {Action: warn}, {Action: ActionTimeout, UntilRefill: true}}
	}, nil)
	mustCheck(t, g, messageFrom("7", 0))
	for _, step := range []struct {
		at   float64
		want string
	}{
		{0, "delete"}, {9, "delete"}, {10, "warn"}, {15, "delete"}, {20.5, "timeout 9h59m40s"}, {31, "delete"}, /* which would end sooner */
		{31 + 1800, "delete"}, {31 + 1900, "warn"},
	} {
		if v := mustCheck(t, g, messageFrom("7", step.at)); v.Penalty.String() != step.want {
			t.Errorf("at %v s: %s, want %s", step.at, v.Penalty, step.want)
		}
	}
	mustCheck(t, g, messageFrom("7", 31+1910))
	costly := messageFrom("7", 31+1921)
	costly.Cost = 2
	if v := mustCheck(t, g, costly); v.Penalty.Action != ActionDelete || !v.Never {
		t.Errorf("a timeout until never: %+v", v)
	}
}

func TestCheck_InvalidMessages(t *testing.T) {
	observed := 0
	g := newEnforcingGuard(t, nil, &Options{Observer: func(Message, Verdict) { observed++ }})
	for want, m := range map[error]Message{
		errNoChannel: {User: User{ID: "7"}},
		errNoUser:    {ChannelID: "1"},
		errLongID:    {ChannelID: "1", User: User{ID: strings.Repeat("7", 257)}},
		errCost:      {ChannelID: "1", User: User{ID: "7"}, Cost: -1},
		errTime:      {ChannelID: "1", User: User{ID: "7"}, SentAt: time.Date(2117, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if v, err := g.Check(context.Background(), m); !errors.Is(err, want) || v != (Verdict{}) {
			t.Errorf("error %v, want %v", err, want)
		}
		if err := m.Validate(); err != want {
			t.Errorf("Validate: %v, want %v", err, want)
		}
	}
	if m := (Message{ChannelID: "1", User: User{ID: "7"}}); m.Validate() != nil {
		t.Errorf("a message without a time: %v", m.Validate())
	}
	if observed != 0 {
		t.Errorf("the observer heard of %d", observed)
	}
}

func TestCheck_UnknownRoles(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	for i, unknown := range []Role{"", "king", "Moderator", "moderator ", Role(strings.Repeat("x", 1<<20))} {
		if v := mustCheck(t, g, messageFrom(strconv.Itoa(i), 0, unknown)); v.Exempt || v.Spent != 1 || !v.roles.IsEmpty() {
			t.Errorf("%.20q: %+v", unknown, v)
		}
	}
}

func TestSetPolicy_EnforceClearsPracticeStrikes(t *testing.T) {
	// While a policy changes from observing to enforcing, no message is judged by a mixture of
	// both.
	observing, enforcing := observingPolicy(), observingPolicy()
	enforcing.Mode = ModeEnforce
	for _, p := range []*Policy{&observing, &enforcing} {
		p.Limits = p.Limits[:1]
		p.Limits[0].Burst, p.Limits[0].Refill, p.Penalties.StrikeEvery = 1, time.Hour, 0
	}
	for range 20 {
		g := mustNew(t, observing, nil)
		for range 5 {
			for user := range 500 {
				mustCheck(t, g, messageFrom(strconv.Itoa(user), 0))
			}
		}
		changed := make(chan error)
		go func() { changed <- g.at(monday).SetChannelPolicy("1", enforcing) }()
		for user := range 500 {
			first := mustCheck(t, g, messageFrom(strconv.Itoa(user), 0))
			for first.Observed {
				first = mustCheck(t, g, messageFrom(strconv.Itoa(user), 0))
			}
			if first.Strikes != 1 {
				t.Fatalf("the first message throttled in earnest gives strike %d", first.Strikes)
			}
		}
		must(t, <-changed)
	}
}

func TestEntryID_ContinuesAfterClock(t *testing.T) {
	first := func(now time.Time) EntryID {
		g := newEnforcingGuard(t, nil, &Options{Now: func() time.Time { return now }})
		return mustCheck(t, g, Message{ChannelID: "1", User: User{ID: "7"}, Cost: 9}).EntryID
	}
	if a, b := first(monday), first(monday.Add(time.Second)); a >= b {
		t.Errorf("a later start has entry %d, an earlier one %d", b, a)
	}
}

func TestCheckAll(t *testing.T) {
	reads := 0
	g := newEnforcingGuard(t, nil, &Options{Now: func() time.Time { reads++; return monday }})
	reads = 0
	messages := []Message{{ChannelID: "1", User: User{ID: "7"}}, {ChannelID: "1"}, messageFrom("7", 0), messageFrom("7", 0), {ChannelID: "1", User: User{ID: "7"}}}
	verdicts := make([]Verdict, len(messages))
	err := g.CheckAll(context.Background(), messages, verdicts)
	if !errors.Is(err, errNoUser) || !strings.HasPrefix(err.Error(), "message 1: ") {
		t.Errorf("error %v", err)
	}
	for i, want := range []bool{true, false, true, true, false} {
		if verdicts[i].Allowed != want {
			t.Errorf("message %d: allowed is %v", i, verdicts[i].Allowed)
		}
	}
	if reads != 1 {
		t.Errorf("the clock was read %d times, want once", reads)
	}
}

func TestObserver_Peek(t *testing.T) {
	var heard []Verdict
	g := newEnforcingGuard(t, nil, &Options{Observer: func(m Message, v Verdict) {
		if m.User.ID != v.UserID {
			t.Errorf("message of %s, verdict on %s", m.User.ID, v.UserID)
		}
		heard = append(heard, v)
	}})
	for i := range 4 {
		peeked, err := g.Peek(t.Context(), messageFrom("7", 0))
		must(t, err)
		v := mustCheck(t, g, messageFrom("7", 0))
		if len(heard) != i+1 || heard[i] != v {
			t.Fatalf("heard %+v, want %+v last", heard, v)
		}
		peeked.EntryID = v.EntryID
		if peeked != v {
			t.Errorf("peeked %+v, then came %+v", peeked, v)
		}
	}
	exempt := mustCheck(t, g, messageFrom("8", 0, RoleModerator))
	if heard[len(heard)-1] != exempt {
		t.Error("the observer doesn't hear of exempt messages")
	}
}

func TestAddObserver_Order(t *testing.T) {
	var told []string
	note := func(name string) func(Message, Verdict) {
		return func(m Message, v Verdict) {
			if v.At.Equal(monday) && m.SentAt.Equal(monday) {
				// a message without a time gets the clock's
				told = append(told, name)
			}
		}
	}
	g := newEnforcingGuard(t, nil, &Options{Observer: note("a"), Now: func() time.Time { return monday }})
	g.AddObserver(note("b"))
	mustCheck(t, g, Message{ChannelID: "1", User: User{ID: "7"}})
	g.AddObserver(note("c"))
	mustCheck(t, g, Message{ChannelID: "1", User: User{ID: "7"}})
	if got := strings.Join(told, ""); got != "ababc" {
		t.Errorf("told %s", got)
	}
	newEnforcingGuard(t, nil, &Options{}).AddObserver(note("alone"))
}

func TestAddObserver_Remove(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	counts := make([]int, 2)
	count := func(i int) func() { return g.AddObserver(func(Message, Verdict) { counts[i]++ }) }
	removeFirst, removeSecond := count(0), count(1)
	mustCheck(t, g, messageFrom("7", 0))
	removeFirst()
	removeFirst() // removes no other
	mustCheck(t, g, messageFrom("7", 0))
	removeSecond()
	mustCheck(t, g, messageFrom("7", 0))
	if counts[0] != 1 || counts[1] != 2 {
		t.Errorf("the observers were called %v times, want 1 and 2", counts)
	}
	g.AddObserver(nil)()
}

func TestRestore_State(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	var last Verdict
	for range 5 {
		last = mustCheck(t, g, messageFrom("7", 0))
	}
	b := g.State().Dirty()
	rows := slices.Collect(b.Rows())
	if len(rows) != 3 || b.Len() != 3 {
		t.Fatalf("%d rows of %d, want two limits and the strikes", len(rows), b.Len())
	}
	b.Confirm()
	if n := len(dirtyRows(g)); n != 0 {
		t.Errorf("%d rows after confirming", n)
	}
	again := newEnforcingGuard(t, nil, &Options{Now: func() time.Time { return monday.AddDate(-1, 0, 0) }})
	for _, row := range rows {
		must(t, again.State().Restore(row, monday))
	}
	again.State().RestoreEntryID(int64(last.EntryID))
	again.State().RestoreEntryID(1)
	v := mustCheck(t, again, messageFrom("7", 10))
	if !v.Allowed {
		t.Errorf("after 10 s two tokens are back: %+v", v)
	}
	mustCheck(t, again, messageFrom("7", 10))
	if v = mustCheck(t, again, messageFrom("7", 11)); v.Strikes != 2 || v.EntryID != last.EntryID+1 {
		t.Errorf("got %+v, want the second strike and the entry after %d", v, last.EntryID)
	}
	if err := again.State().Restore(state.Row{ChannelID: "1", UserID: "7", Limit: "burst", Data: []byte("?")}, monday); err == nil {
		t.Error("bytes that can't be read are taken")
	}
}

func TestCheck_DoesNotAllocate(t *testing.T) {
	g := newEnforcingGuard(t, nil, &Options{Observer: func(Message, Verdict) {}})
	m := messageFrom("7", 0)
	ctx := context.Background()
	mustCheck(t, g, m)
	if n := testing.AllocsPerRun(100, func() { _, _ = g.Check(ctx, m) }); n != 0 {
		t.Errorf("%v allocations a decision", n)
	}
}

// observingPolicy returns the limits of DefaultPolicy in a policy that observes, with a ladder.
func observingPolicy() Policy {
	p := DefaultPolicy()
	p.Mode, p.Roles, p.Exempt = ModeObserve, slices.Clone(testRoles), []Role{broadcaster, leadModerator, RoleModerator}
	p.Penalties.Ladder = []Penalty{
		{Action: ActionDelete}, {Action: ActionDelete}, {Action: warn},
		{Action: ActionTimeout, Duration: 30 * time.Second}, {Action: ActionTimeout, Duration: 10 * time.Minute},
	}
	return p
}

// A user who stays within the limit is never throttled, whatever the wall clock does. A user who
// exceeds the limit is throttled.
func TestGuard_CalmUserUnderClockSteps(t *testing.T) {
	for _, step := range []time.Duration{20 * time.Second, 50 * time.Second, 61 * time.Second, 2 * time.Hour, 48 * time.Hour} {
		for _, step := range []time.Duration{step, -step} {
			var elapsed, ahead time.Duration
			c := clock.SmoothOf(monday, func() (wall, since time.Duration) { return elapsed + ahead, elapsed })
			g := newEnforcingGuard(t, nil, &Options{Now: c.Now})
			c.JumpedBack = g.Rewind // as New does for its own clock
			throttled := map[string]int{}
			for i := range 240 { // half seconds; the clock steps twice
				elapsed, ahead = time.Duration(i)*time.Second/2, 0
				if i >= 60 && i < 140 {
					ahead = step
				}
				for user, every := range map[string]int{"calm": 10, "brisk": 9, "spammer": 1} {
					if i%every != 0 {
						continue
					}
					v, err := g.Check(t.Context(), Message{ChannelID: "room", User: User{ID: user}})
					must(t, err)
					if !v.Allowed {
						throttled[user]++
					}
				}
			}
			if throttled["calm"]+throttled["brisk"] > 0 || throttled["spammer"] < 100 {
				t.Errorf("step %v: throttled %v", step, throttled)
			}
		}
	}
}
