package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

// dayOnly is a policy of one limit: 300 messages per day.
func dayOnly() chatguard.Policy {
	p := enforcedDefault()
	p.Limits = p.Limits[1:]
	return p
}

// Messages whose contexts end while they wait count for each other, and with the swap in progress,
// whether that succeeds or not.
func TestShared_ContextsEndTogether(t *testing.T) {
	for name, outcome := range map[string]error{"the store answers": nil, "the store is away": shared.ErrAway, "the requests are lost": errReplyLost} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { contextsEndTogether(t, outcome) }) })
	}
}

func contextsEndTogether(t *testing.T, outcome error) {
	server := newFakeServer()
	node, guard := server.connect(dayOnly(), time.Now)
	node.before = func(context.Context) error { time.Sleep(50 * time.Millisecond); return outcome }
	var mu sync.Mutex
	allowed, offline := map[string]int{}, 0
	var wg sync.WaitGroup
	for i := range 4000 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%200)*time.Millisecond)
			defer cancel()
			m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(i % 4)}}
			v, err := guard.Check(ctx, m)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if v.Degraded {
				offline++
			}
			if v.Allowed {
				allowed[m.User.ID]++
			}
		})
	}
	wg.Wait()
	if offline == 0 {
		t.Error("no message was decided without the store")
	}
	for user, n := range allowed {
		if n > 300 {
			t.Errorf("%d messages of user %s are allowed, want at most 300", n, user)
		}
	}
	node.before = nil
	must(t, guard.Shared().Exchange(t.Context()))
	_, other := server.connect(dayOnly(), time.Now)
	for user := range allowed {
		if v := check(t, other, user); v.Allowed {
			t.Errorf("another node allows user %s a message: %+v", user, v)
		}
	}
}

// If the store hangs, every message is decided after the timeout, however long its queue is.
func TestShared_TimeoutBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		node, guard := server.connect(enforcedDefault(), time.Now)
		node.timeout = 100 * time.Millisecond
		node.before = func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, node.timeout)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				began := time.Now()
				if v := check(t, guard, "7"); !v.Degraded {
					t.Errorf("message %d isn't degraded", i)
				}
				if waited := time.Since(began); waited > 125*time.Millisecond {
					t.Errorf("message %d waited for %v", i, waited)
				}
			})
		}
		wg.Wait()
	})
}

// A row that can't be read doesn't keep others from being exchanged.
func TestShared_ExchangePassesUnreadableRows(t *testing.T) {
	server := newFakeServer()
	node, guard := server.connect(enforcedDefault(), sharedNoon)
	node.setAway(true)
	const users = 1000
	checkEach(t, guard, users)
	for _, user := range []string{"0", "500", "999"} {
		server.rows[[2]string{"c", user}] = []byte("hello")
	}
	node.setAway(false)
	if err := guard.Shared().Exchange(t.Context()); err == nil || !strings.Contains(err.Error(), `channel "c", user "`) {
		t.Errorf("Exchange: %v, want an error that names a row", err)
	}
	if got := guard.Shared().Counts(); got.Pending != 3 || got.Exchanged != users-3 {
		t.Errorf("%+v, want all rows exchanged but the three that can't be read", got)
	}
	if got := string(server.rows[[2]string{"c", "500"}]); got != "hello" {
		t.Errorf("the row is overwritten: %q", got)
	}
}

// The number of rows in memory is bounded, also while none of them can be written.
func TestShared_OwingRowsAreBounded(t *testing.T) {
	server := newFakeServer()
	node := &fakeShared{server: server, clock: sharedNoon, timeout: time.Minute, away: true}
	const most = 640
	guard := mustNew(t, enforcedDefault(), &chatguard.Options{Shared: node, SharedRows: most})
	const users = 5000
	checkEach(t, guard, users)
	got := guard.Shared().Counts()
	if got.Rows > most || got.Pending != got.Rows || got.Lost != int64(users-got.Rows) {
		t.Errorf("%+v, want at most %d rows, all pending, and the others counted as lost", got, most)
	}
	node.setAway(false)
	if err := guard.Shared().Exchange(t.Context()); err != nil || len(server.rows) != got.Pending {
		t.Errorf("%d rows are written (%v), want %d", len(server.rows), err, got.Pending)
	}
}

// A change by hand whose reply is lost returns an error if it can't be known whether it was made.
func TestShared_EditWithUnknownOutcome(t *testing.T) {
	for _, others := range []int{0, 1, 7, 8} {
		server := newFakeServer()
		node, guard := server.connect(dayOnly(), sharedNoon)
		nodes := make([]*chatguard.Guard, others)
		for i := range nodes {
			_, nodes[i] = server.connect(dayOnly(), sharedNoon)
		}
		check(t, guard, "7")
		lost := true
		node.after = func() error {
			if !lost {
				return nil
			}
			lost = false
			for _, other := range nodes { // more of them than a row remembers, if there are 8
				check(t, other, "7")
			}
			return errOvertaken
		}
		_, err := guard.Grant(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}, "", 5)
		if known := others < 8; known != (err == nil) {
			t.Errorf("with %d writes by other nodes: %v", others, err)
		} else if !known && (!errors.Is(err, shared.ErrUnconfirmed) || errors.Is(err, shared.ErrAway)) {
			t.Errorf("with %d writes by other nodes: %v, want ErrUnconfirmed", others, err)
		} else if !known && (!strings.HasPrefix(err.Error(), "chatguard: ") || strings.Count(err.Error(), "chatguard: ") > 1) {
			t.Errorf("with %d writes by other nodes: %v, want one prefix", others, err)
		}
		if got := guard.Shared().Counts(); got.Pending != 0 {
			t.Errorf("with %d writes by other nodes: %+v, want nothing pending", others, got)
		}
		if v := check(t, guard, "7"); v.Degraded || v.Remaining != 300+5-others-2 {
			t.Errorf("with %d writes by other nodes: %+v", others, v)
		}
	}
}

// A shared clock that is set back doesn't make rows certain for longer.
func TestShared_ClockSetBack(t *testing.T) {
	server := newFakeServer()
	now := sharedStart.Add(30 * time.Second)
	_, guard := server.connect(enforcedDefault(), func() time.Time { return now })
	send(t, guard, 5)
	swaps := server.swaps
	now = sharedStart
	if check(t, guard, "7"); server.swaps == swaps {
		t.Error("a refusal comes from memory although the row was seen 30 s in the future")
	}
}

// A refusal on a row that the Guard doesn't know costs one round trip.
func TestShared_FirstRefusalIsOneRoundTrip(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	_, a := server.connect(enforcedDefault(), func() time.Time { return now })
	_, b := server.connect(enforcedDefault(), func() time.Time { return now })
	send(t, a, 4)
	swaps := server.swaps
	if v := check(t, b, "7"); v.Allowed || v.Degraded {
		t.Errorf("%+v, want a refusal by the row in the store", v)
	}
	if server.swaps != swaps+1 {
		t.Errorf("%d swaps, want 1", server.swaps-swaps)
	}
}

// A refusal that changes no row is no swap that may have happened. If its reply is lost while
// another node writes, the message is decided again.
func TestShared_RefusalWithLostReply(t *testing.T) {
	server, now := newFakeServer(), sharedStart
	clock := func() time.Time { return now }
	policy := dayOnly()
	policy.Penalties.StrikeEvery = time.Hour // or the second refusal would write a strike
	_, a := server.connect(policy, clock)
	node, b := server.connect(policy, clock)
	send(t, a, 300)
	check(t, b, "7")
	now = now.Add(11 * time.Second) // the row is asked for again
	node.after = func() error {
		node.after = nil
		_, err := a.Grant(t.Context(), seven, "", 5)
		must(t, err)
		return errOvertaken
	}
	if v := check(t, b, "7"); !v.Allowed || v.Degraded || node.after != nil {
		t.Errorf("%+v, want a message of the grant", v)
	}
	if got := b.Shared().Counts().Assumed; got != 0 {
		t.Errorf("%d swaps are assumed", got)
	}
}

// onceThen returns a function that calls f the first time. Its error is only f's if f fails.
func onceThen(f func() error) func() error {
	var once sync.Once
	return func() (err error) {
		once.Do(func() { err = f() })
		return err
	}
}

// One user writes in many channels, with limits of all scopes, while the store doesn't answer or
// only its replies are lost. The user gets no more than one node allows.
func TestShared_ManyChannelsWithoutAnswers(t *testing.T) {
	policy := enforcedDefault()
	policy.Limits = []chatguard.Limit{
		{Name: "own", Algorithm: chatguard.FixedWindow, Messages: 100, Every: time.Hour},
		{Name: "everywhere", Per: chatguard.PerUserEverywhere, Algorithm: chatguard.FixedWindow, Messages: 3, Every: time.Hour},
		{Name: "room", Per: chatguard.PerChannel, Algorithm: chatguard.FixedWindow, Messages: 1000, Every: time.Hour},
	}
	for name, outcome := range map[string]error{"away": shared.ErrAway, "requests lost": errReplyLost} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer()
				node, guard := server.connect(policy, time.Now)
				node.before = func(context.Context) error { time.Sleep(100 * time.Millisecond); return outcome }
				var wg sync.WaitGroup
				var allowed atomic.Int64
				for i := range 20 {
					wg.Go(func() {
						v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: fmt.Sprint(i), User: chatguard.User{ID: "7"}})
						if err != nil {
							t.Error(err)
						}
						if v.Allowed {
							allowed.Add(1)
						}
					})
				}
				wg.Wait()
				if allowed.Load() != 3 {
					t.Errorf("%d messages are allowed, want 3", allowed.Load())
				}
				node.before = nil
				must(t, guard.Shared().Exchange(t.Context()))
				_, other := server.connect(policy, time.Now)
				e, err := limitinfo.Explain(t.Context(), other, chatguard.Message{ChannelID: "0", User: chatguard.User{ID: "7"}})
				if err != nil || e.Limits[1].Used != 3 {
					t.Errorf("the other node: %+v, %v, want 3 used everywhere", e.Limits, err)
				}
			})
		})
	}
}

// If the context ends while CheckAll waits for a message that somebody else is deciding, the other
// messages get their verdicts.
func TestShared_CheckAllLeavesOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		node, guard := server.connect(dayOnly(), time.Now)
		node.before = func(context.Context) error { time.Sleep(time.Second); return nil }
		var wg sync.WaitGroup
		for range 2 { // the second one leads the flight from 1 s to 2 s
			wg.Go(func() { check(t, guard, "7") })
			synctest.Wait()
		}
		messages := make([]chatguard.Message, 10)
		for i := range messages {
			messages[i] = chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(i)}}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		verdicts := make([]chatguard.Verdict, len(messages))
		if err := guard.CheckAll(ctx, messages, verdicts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("CheckAll: %v, want the context's error", err)
		}
		for i, v := range verdicts {
			if v.Allowed != (i != 7) {
				t.Errorf("message %d: %+v, want all allowed but message 7", i, v)
			}
		}
		wg.Wait()
	})
}
