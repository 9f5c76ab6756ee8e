package chatguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// TestWait_Paces checks that messages leave exactly when a bucket allows them, without any trace of
// the waiting.
func TestWait_Paces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Verdict
		g := newEnforcingGuard(t, nil, &Options{Now: time.Now, Observer: func(_ Message, v Verdict) { told = append(told, v) }})
		start := time.Now()
		for n, want := range []time.Duration{0, 0, 0, 4 * time.Second, 8 * time.Second} {
			v, err := g.Wait(t.Context(), messageNow("7"))
			if err != nil || !v.Allowed || v.Spent != 1 || time.Since(start) != want {
				t.Errorf("message %d after %s: %s, %v; want it after %s", n, time.Since(start), v, err, want)
			}
		}
		for _, v := range told {
			if v.Throttled() {
				t.Errorf("an observer was told of the waiting: %s", v)
			}
		}
		if e := explain(t, g, messageNow("7")); len(told) != 5 || e.strikes != 0 {
			t.Errorf("%d observed, %d strikes", len(told), e.strikes)
		}
	})
}

// TestWait_Together checks that goroutines that wait for one user share the allowance.
func TestWait_Together(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newEnforcingGuard(t, nil, &Options{Now: time.Now})
		start := time.Now()
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := g.Wait(t.Context(), messageNow("7")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(start); took != 12*time.Second {
			t.Errorf("6 messages took %s, want 12s", took)
		}
	})
}

func TestWait_Errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newEnforcingGuard(t, nil, &Options{Now: time.Now})
		for range 3 {
			mustCheck(t, g, messageNow("7"))
		}
		start := time.Now()
		soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := g.Wait(soon, messageNow("7")); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 {
			t.Errorf("beyond the deadline: %v after %s, want an error at once", err, time.Since(start))
		}
		cancelled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := g.Wait(cancelled, messageNow("7")); err != context.Canceled || time.Since(start) != time.Second {
			t.Errorf("cancelled: %v after %s", err, time.Since(start))
		}
		if _, err := g.Wait(cancelled, messageNow("8")); err != context.Canceled {
			t.Errorf("cancelled before: %v", err)
		}
		costly := messageNow("8")
		costly.Cost = 4
		var throttled *ThrottledError
		if _, err := g.Wait(t.Context(), costly); !errors.As(err, &throttled) || !throttled.Verdict.Never {
			t.Errorf("a cost that never passes: %v", err)
		}
		if _, err := g.Wait(t.Context(), Message{ChannelID: "1"}); err != errNoUser {
			t.Errorf("no user: %v", err)
		}
		for _, user := range []string{"7", "8"} {
			if e := explain(t, g, messageNow(user)); e.strikes != 0 || user == "8" && e.limits[0].Used != 0 {
				t.Errorf("user %s: %d strikes, %d used", user, e.strikes, e.limits[0].Used)
			}
		}
	})
}

// A leaky-bucket's message waits for its turn, and gives its place back if the wait is cancelled.
func TestWait_Delay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newPacedGuard(t)
		start := time.Now()
		for range 2 {
			if _, err := g.Wait(t.Context(), messageNow("7")); err != nil {
				t.Fatal(err)
			}
		}
		gone, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := g.Wait(gone, messageNow("7")); !errors.Is(err, context.DeadlineExceeded) || placesTaken(t, g) != 1 || time.Since(start) != time.Second {
			t.Errorf("%v after %s, %d places taken", err, time.Since(start), placesTaken(t, g))
		}
		cancelled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		if _, err := g.Wait(cancelled, messageNow("7")); err != context.Canceled || placesTaken(t, g) != 1 || time.Since(start) != 1100*time.Millisecond {
			t.Errorf("%v after %s, %d places taken", err, time.Since(start), placesTaken(t, g))
		}
	})
}

func TestReservation_Cancel(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = append(p.Limits,
			Limit{Name: "abroad", Algorithm: UserWindow, Per: PerUserEverywhere, Messages: 9, Every: time.Hour},
			Limit{Name: "all", Algorithm: UserWindow, Per: PerChannel, Messages: 9, Every: time.Hour})
	}, nil)
	m := messageNow("7")
	m.Cost = 2
	r, err := g.Reserve(t.Context(), m)
	if err != nil || !r.Verdict.Allowed {
		t.Fatal(r, err)
	}
	mustCheck(t, g, messageNow("7"))
	throttled, err := g.Reserve(t.Context(), messageNow("7"))
	if err != nil || throttled.Verdict.Allowed {
		t.Fatal(throttled, err)
	}
	for range 2 { // the second cancels nothing
		must(t, errors.Join(r.Cancel(t.Context()), throttled.Cancel(t.Context())))
	}
	for i, used := range usage(t, g, messageNow("7")) {
		if used != 1 {
			t.Errorf("limit %d: %d used, want 1", i, used)
		}
	}
	if _, err := g.Reserve(t.Context(), Message{ChannelID: "1"}); err != errNoUser {
		t.Errorf("no user: %v", err)
	}
}

// A message gives back what it has spent in rows that it shares with others' messages.
func TestRefund_AmongOthers(t *testing.T) {
	shared := SlidingLogLimit("all", 900, time.Hour)
	shared.Per = PerChannel
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{shared} }, nil)
	early := mustCheck(t, g, messageFrom("7", 0))
	mustCheck(t, g, messageFrom("8", 2))
	late := mustCheck(t, g, messageFrom("7", 1)) // counts at 2 in the channel's log
	must(t, errors.Join(g.at(monday.Add(3*time.Second)).Refund(t.Context(), late), g.at(monday.Add(3*time.Second)).Refund(t.Context(), early)))
	if used := usage(t, g, messageFrom("9", 3)); used[0] != 1 {
		t.Errorf("%d used, want 1", used[0])
	}
}

// An observing limit without room has spent nothing, so it gives nothing back.
func TestRefund_Observed(t *testing.T) {
	watching := UserWindowLimit("watching", 3, time.Hour)
	watching.Mode = ModeObserve
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{TokenBucketLimit("burst", 9, time.Hour), watching} }, nil)
	var last Verdict
	for range 4 {
		last = mustCheck(t, g, messageFrom("7", 0))
	}
	if err := g.at(monday).Refund(t.Context(), last); err != nil || !last.Observed {
		t.Fatal(last, err)
	}
	if used := usage(t, g, messageFrom("7", 0)); used[0] != 3 || used[1] != 3 {
		t.Errorf("used %v, want 3 and 3", used)
	}
}

// A message gives back what it has spent with the roles that its author had.
func TestRefund_OtherRoles(t *testing.T) {
	abroad := TokenBucketLimit("abroad", 10, 10*time.Second)
	abroad.Per, abroad.Roles = PerUserEverywhere, map[Role]Override{subscriber: {Refill: time.Second}}
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{abroad} }, nil)
	cheap := mustCheck(t, g, messageFrom("7", 0, subscriber))
	mustCheck(t, g, inChannel("2", messageFrom("7", 0)))
	must(t, g.at(monday).Refund(t.Context(), cheap))
	e := explain(t, g, messageFrom("7", 0))
	if want := monday.Add(10 * time.Second); e.limits[0].ResetAt != want.UnixNano() {
		t.Errorf("all is restored at %s, want %s", limits.TimeOf(e.limits[0].ResetAt), want)
	}
}

// A verdict without IDs can't be pardoned or refunded.
func TestPardon_NoIDs(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = append(p.Limits, everywhereLimit(9)) }, nil)
	for want, v := range map[error]Verdict{
		errNoChannel: {UserID: "7", EntryID: 1, Spent: 1},
		errNoUser:    {ChannelID: "1", EntryID: 1, Spent: 1},
	} {
		if _, err := g.Pardon(t.Context(), v); err != want {
			t.Errorf("Pardon: %v, want %v", err, want)
		}
		if err := g.Refund(t.Context(), v); err != want {
			t.Errorf("Refund: %v, want %v", err, want)
		}
	}
}

func TestWrap(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	broken := errors.New("broken")
	var heard []string
	handle := g.Wrap(func(_ context.Context, m Message) error {
		heard = append(heard, m.Text)
		if m.Text == "b" {
			return broken
		}
		return nil
	})
	say := func(text string, cost int) error {
		m := messageFrom("7", 0)
		m.Text, m.Cost = text, cost
		return handle(t.Context(), m)
	}
	for text, want := range map[string]error{"a": nil, "b": broken, "c": nil} {
		if err := say(text, 0); err != want {
			t.Errorf("%s: error %v, want %v", text, err, want)
		}
	}
	for want, err := range map[string]error{
		"chatguard: throttled by burst: the next message passes in 4 s":                      say("d", 0),
		"chatguard: throttled by burst: the message costs more than the limit can ever hold": say("e", 4),
	} {
		var throttled *ThrottledError
		if !errors.As(err, &throttled) || err.Error() != want || throttled.Verdict.Limit != "burst" || throttled.Verdict.EntryID == 0 {
			t.Errorf("error %v (%+v), want %s", err, throttled, want)
		}
	}
	if err := handle(t.Context(), Message{ChannelID: "1", Text: "f"}); err != errNoUser {
		t.Errorf("without a user: %v", err)
	}
	slices.Sort(heard)
	if want := []string{"a", "b", "c"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}

func TestWrap_Holds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var heard []time.Duration
		handle := newPacedGuard(t).Wrap(func(context.Context, Message) error {
			heard = append(heard, time.Since(start))
			return nil
		})
		must(t, handle(t.Context(), messageNow("7")))
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := handle(short, messageNow("7")); err != context.DeadlineExceeded || time.Since(start) != 300*time.Millisecond {
			t.Errorf("a message whose connection ends: %v after %s", err, time.Since(start))
		}
		if err := handle(t.Context(), messageNow("7")); err != nil {
			t.Fatal(err) // it gets the place that the previous message has given back
		}
		if want := []time.Duration{0, time.Second}; !slices.Equal(heard, want) {
			t.Errorf("heard at %v, want %v", heard, want)
		}
	})
}

// Wrap gives back what a message has spent if the message isn't delivered.
func TestWrap_GivesBack(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	for err, want := range map[error]int{errors.New("broken"): 2, fmt.Errorf("the room is closed: %w", ErrUndelivered): 3} {
		m := messageNow("of " + err.Error())
		if got := g.Wrap(func(context.Context, Message) error { return err })(t.Context(), m); got != err {
			t.Errorf("error %v, want %v", got, err)
		}
		if e := explain(t, g, m); int(e.limits[0].Remaining) != want || int(e.limits[1].Remaining) != 297+want {
			t.Errorf("after %v: %+v; want %d left", err, e.limits, want)
		}
	}
}
