package chatguard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/state"
)

// newPacedGuard returns a Guard that releases one message per second and lets two wait.
func newPacedGuard(t testing.TB) *Guard {
	return newEnforcingGuard(t, func(p *Policy) {
		p.Limits = []Limit{{Name: "pace", Algorithm: LeakyBucket, Every: time.Second, Queue: 2}}
	}, nil)
}

// messageNow returns a message without a time, which counts as sent now.
func messageNow(user string) Message { return Message{ChannelID: "1", User: User{ID: user}} }

func TestHold(t *testing.T) {
	for _, test := range []struct {
		name  string
		at    time.Duration // when it was sent, relative to now
		delay time.Duration
		// ends is when the context ends, 0 for never; want is how long Hold waits.
		ends, want time.Duration
		err        error
	}{
		{name: "its turn has come"},
		{name: "from now on", delay: time.Second, want: time.Second},
		{name: "sent a while ago", at: -300 * time.Millisecond, delay: time.Second, want: 700 * time.Millisecond},
		{name: "sent long ago", at: -time.Hour, delay: time.Second},
		{name: "sent by a clock that is ahead", at: time.Hour, delay: time.Second, want: time.Second},
		{name: "cancelled", delay: time.Second, ends: 400 * time.Millisecond, want: 400 * time.Millisecond, err: context.DeadlineExceeded},
		{name: "cancelled before", delay: time.Second, ends: -1, err: context.DeadlineExceeded},
		{name: "cancelled before, and its turn has come", at: -time.Hour, delay: time.Second, ends: -1, err: context.DeadlineExceeded},
		{name: "cancelled before, but nothing to wait for", ends: -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, ctx := time.Now(), t.Context()
				if test.ends != 0 {
					ended, cancel := context.WithTimeout(ctx, test.ends)
					defer cancel()
					ctx = ended
				}
				v := Verdict{At: start.Add(test.at), Allowed: true, Delay: test.delay}
				if err := v.Hold(ctx); err != test.err || time.Since(start) != test.want {
					t.Errorf("held for %s, error %v; want %s and %v", time.Since(start), err, test.want, test.err)
				}
			})
		})
	}
}

// A message without a time is held for its Delay, even if the Guard's clock differs from this
// machine's.
func TestHold_GuardClockBehind(t *testing.T) {
	for _, off := range []time.Duration{-2 * time.Hour, -30 * time.Second, 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			g := newEnforcingGuard(t, func(p *Policy) {
				p.Limits = []Limit{{Name: "pace", Algorithm: LeakyBucket, Every: time.Second, Queue: 2}}
			}, &Options{Now: func() time.Time { return time.Now().Add(off) }})
			start := time.Now()
			for n := range 3 {
				v, err := g.Check(t.Context(), messageNow("anna"))
				must(t, err)
				if n < 2 {
					continue // the third is held for two seconds
				}
				if err := v.Hold(t.Context()); err != nil || time.Since(start) != 2*time.Second {
					t.Errorf("a clock %v away: held for %v, %v", off, time.Since(start), err)
				}
			}
		})
	}
}

func TestHoldQueue_DeliversInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, start := NewHoldQueue(newPacedGuard(t), 3), time.Now()
		type delivery struct {
			name string
			at   time.Duration
		}
		var got []delivery
		add := func(name string, delay time.Duration) bool {
			return q.Add(t.Context(), Verdict{At: time.Now(), Allowed: true, Delay: delay}, func() { got = append(got, delivery{name, time.Since(start)}) })
		}
		go q.Run(t.Context())
		for _, step := range []struct {
			at    time.Duration
			name  string
			delay time.Duration
			want  bool
		}{
			{0, "late", 3 * time.Second, true},
			{0, "sooner", time.Second, true},
			{0, "at once", 0, true},
			{0, "too many", 0, false},
			{time.Second, "still too many", 0, false}, // the earlier one waits for the late one
			{3500 * time.Millisecond, "alone", 0, true},
			{4 * time.Second, "later", 2 * time.Second, true},
		} {
			time.Sleep(step.at - time.Since(start))
			synctest.Wait()
			if added := add(step.name, step.delay); added != step.want {
				t.Errorf("%s: added is %v", step.name, added)
			}
		}
		if q.Add(t.Context(), Verdict{At: time.Now(), Limit: "burst"}, func() { t.Error("a throttled message is delivered") }) {
			t.Error("a throttled message is added")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		want := []delivery{{"late", 3e9}, {"sooner", 3e9}, {"at once", 3e9}, {"alone", 3.5e9}, {"later", 6e9}}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// If the embedder's clock is ahead, the difference must not add up over several messages.
func TestHoldQueue_BoundsEachDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, start := NewHoldQueue(newPacedGuard(t), 2), time.Now()
		var last time.Duration
		for _, delay := range []time.Duration{time.Second, 2 * time.Second} {
			q.Add(t.Context(), Verdict{At: start.Add(time.Hour), Allowed: true, Delay: delay}, func() { last = time.Since(start) })
		}
		go q.Run(t.Context())
		time.Sleep(time.Minute)
		synctest.Wait()
		if last != 2*time.Second {
			t.Errorf("the second message was held for %s", last)
		}
	})
}

func TestHoldQueue_EndsWithConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewHoldQueue(newPacedGuard(t), 0) // counts as 1
		ctx, cancel := context.WithCancel(t.Context())
		v := Verdict{At: time.Now(), Allowed: true, Delay: time.Second}
		never := func() { t.Error("a message is delivered to a connection that is closed") }
		if !q.Add(ctx, v, never) || q.Add(ctx, v, never) {
			t.Error("a queue of one doesn't hold one")
		}
		done := make(chan struct{})
		go func() { defer close(done); q.Run(ctx) }()
		synctest.Wait()
		cancel()
		<-done
		if q.Add(ctx, Verdict{Allowed: true}, never) {
			t.Error("a message is taken although nobody delivers any more")
		}
		time.Sleep(time.Minute)
	})
}

func TestHoldQueue_Panics(t *testing.T) {
	run := func(q *HoldQueue, ctx context.Context) (panicked any) {
		defer func() { panicked = recover() }()
		q.Run(ctx)
		return nil
	}
	q := NewHoldQueue(newPacedGuard(t), 5)
	broken := errors.New("broken")
	q.Add(t.Context(), Verdict{Allowed: true}, func() { panic(broken) })
	if got := run(q, t.Context()); got != broken {
		t.Errorf("a panic of deliver comes out as %v", got)
	}
	if q.Add(t.Context(), Verdict{Allowed: true}, func() {}) {
		t.Error("a message is taken after the panic")
	}
	if got := run(q, t.Context()); got != "chatguard: HoldQueue.Run is called a second time" {
		t.Errorf("the second Run: %v", got)
	}
}

// placesTaken returns how many places of the leaky-bucket a user's messages take, with the one that
// is leaving.
func placesTaken(t *testing.T, g *Guard) int {
	t.Helper()
	return int(explain(t, g, messageNow("7")).limits[0].Used)
}

// A message that isn't delivered takes no place in the leaky-bucket.
func TestHoldQueue_GivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newPacedGuard(t)
		q := NewHoldQueue(g, 1)
		mustCheck(t, g, messageNow("7")) // leaves at once
		never := func() { t.Error("a dropped message is delivered") }
		for _, want := range []bool{true, false} {
			added := q.Add(t.Context(), mustCheck(t, g, messageNow("7")), never)
			if added != want || placesTaken(t, g) != 2 {
				t.Errorf("added %v, %d places taken; want %v and 2", added, placesTaken(t, g), want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		q.Run(ctx)
		if n := placesTaken(t, g); n != 1 {
			t.Errorf("after the end of Run: %d places taken", n)
		}
		if v := mustCheck(t, g, messageNow("7")); q.Add(ctx, v, never) || placesTaken(t, g) != 1 {
			t.Errorf("after the end: %d places taken", placesTaken(t, g))
		}
	})
}

// queuePolicy returns a policy under which everyone except subscribers may queue messages.
func queuePolicy() Policy {
	return Policy{Mode: ModeEnforce, Roles: testRoles, Limits: []Limit{{
		Name: "slow", Algorithm: LeakyBucket, Every: time.Second, Queue: 2, Roles: map[Role]Override{subscriber: {Queue: NoQueue}, vip: {Queue: 5}},
	}}}
}

// countAtOnce counts the messages of a user that pass at the same moment.
func countAtOnce(t *testing.T, g *Guard, u User, at time.Time) (n int) {
	t.Helper()
	for ; ; n++ {
		v, err := g.Check(context.Background(), Message{ChannelID: "1", User: u, SentAt: at})
		must(t, err)
		if !v.Allowed {
			return n
		}
	}
}

// NoQueue differs from the limit's own value, for a role and for a user, also after a restart.
func TestNoQueue(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { *p = queuePolicy() }, nil)
	paying := User{ID: "2", Roles: Roles{subscriber}}
	for _, test := range []struct {
		user User
		want int
	}{{User{ID: "1"}, 3}, {paying, 1}, {User{ID: "3", Roles: Roles{vip, subscriber}}, 6}} {
		if got := countAtOnce(t, g, test.user, monday); got != test.want {
			t.Errorf("%+v: %d at once, want %d", test.user, got, test.want)
		}
	}
	if got := g.ChannelPolicy("1").Limits[0].Roles[subscriber].Queue; got != NoQueue {
		t.Errorf("a subscriber's queue has %d places", got)
	}
	own := UserOverride{Limits: map[string]Override{"slow": {Queue: NoQueue}}}
	must(t, g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}, own))
	rows := dirtyRows(g)
	slices.SortFunc(rows, func(a, b state.Row) int { return cmp.Compare(a.UserID+" "+a.Limit, b.UserID+" "+b.Limit) })
	again := newEnforcingGuard(t, func(p *Policy) { *p = queuePolicy() }, nil)
	for _, row := range rows {
		must(t, again.State().Restore(row, monday))
	}
	for name, g := range map[string]*Guard{"before": g, "after": again} {
		if o, err := g.UserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}); err != nil || o.Limits["slow"] != own.Limits["slow"] {
			t.Errorf("%s a restart: %+v, %v", name, o, err)
		}
		if got := countAtOnce(t, g, User{ID: "7", Roles: Roles{vip}}, monday.Add(time.Minute)); got != 1 {
			t.Errorf("%s a restart: %d at once", name, got)
		}
	}
}

// In JSON, NoQueue is 0, and an omitted queue is the limit's own value.
func TestNoQueue_JSON(t *testing.T) {
	for text, want := range map[string]Override{`{}`: {}, `{"queue":0}`: {Queue: NoQueue}, `{"refill":"4s","queue":3}`: {Queue: 3, Refill: 4 * time.Second}} {
		var o Override
		if err := json.Unmarshal([]byte(text), &o); err != nil || o != want {
			t.Errorf("%s: %+v, %v", text, o, err)
		}
		if again, err := json.Marshal(o); err != nil || string(again) != text {
			t.Errorf("%s: written as %s, %v", text, again, err)
		}
	}
	var o Override
	if err := json.Unmarshal([]byte(`{"queue":-1}`), &o); err == nil || err.Error() != "queue is -1, want 0 or more" {
		t.Errorf("-1: %+v, %v", o, err)
	}
	p := queuePolicy()
	data, err := json.Marshal(p)
	var again Policy
	if err == nil {
		err = json.Unmarshal(data, &again)
	}
	if err != nil || again.Limits[0].Roles[subscriber].Queue != NoQueue || again.Limits[0].Roles[vip].Queue != 5 {
		t.Errorf("%s, %v", data, err)
	}
}

// NoQueue is refused for algorithms without a queue, and as a limit's own value.
func TestNoQueue_Refused(t *testing.T) {
	p := observingPolicy()
	p.Limits[0].Roles = map[Role]Override{vip: {Queue: NoQueue}}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), `token-bucket has no "queue"`) {
		t.Errorf("token bucket: %v", err)
	}
	p = queuePolicy()
	p.Limits[0].Queue = NoQueue
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "queue is -1, want 0") {
		t.Errorf("a limit's own: %v", err)
	}
	p = queuePolicy()
	p.Limits[0].Roles[vip] = Override{Queue: -2}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "queue is -2, want 0") {
		t.Errorf("-2: %v", err)
	}
}
