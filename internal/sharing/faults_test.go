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
	"github.com/chatguard/chatguard/shared"
)

// Messages whose contexts end while they wait count for each other, and with the swap in progress,
// whether that succeeds or not.
func TestShared_ContextsEndTogether(t *testing.T) {
	for name, outcome := range map[string]error{"the store answers": nil, "the store is away": shared.ErrAway, "the requests are lost": errReplyLost} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { contextsEndTogether(t, outcome) }) })
	}
}

func contextsEndTogether(t *testing.T, outcome error) {
	server := newServerInBubble(t, shared.Exact, dayOnly())
	node := server.join()
	node.before = func(context.Context) error { time.Sleep(50 * time.Millisecond); return outcome }
	const users = 4
	var allowed [users]atomic.Int64
	var offline atomic.Int64
	var wg sync.WaitGroup
	for i := range 4000 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%200)*time.Millisecond)
			defer cancel()
			v, err := node.Check(ctx, message(fmt.Sprint(i%users)))
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if v.Degraded {
				offline.Add(1)
			}
			if v.Allowed {
				allowed[i%users].Add(1)
			}
		})
	}
	wg.Wait()
	if offline.Load() == 0 {
		t.Error("no message was decided without the store")
	}
	node.before = nil
	node.exchange()
	other := server.join()
	for user := range allowed {
		if n := allowed[user].Load(); n > 300 {
			t.Errorf("%d messages of user %d are allowed, want at most 300", n, user)
		}
		if v := check(t, other, fmt.Sprint(user)); v.Allowed {
			t.Errorf("another node allows user %d a message: %+v", user, v)
		}
	}
}

// If the store hangs, every message is decided after the timeout, however long its queue is.
func TestShared_TimeoutBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := newServerInBubble(t, shared.Exact, enforced()).join()
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
				if v := check(t, node, "7"); !v.Degraded || time.Since(began) > 125*time.Millisecond {
					t.Errorf("message %d: %+v after %v, want a degraded verdict", i, v, time.Since(began))
				}
			})
		}
		wg.Wait()
	})
}

// A change by hand whose reply is lost returns an error if it can't be known whether it was made.
func TestShared_EditWithUnknownOutcome(t *testing.T) {
	for _, others := range []int{0, 1, 7, 8} {
		server := newServer(t, shared.Exact, dayOnly())
		node := server.join()
		for range others {
			server.join()
		}
		check(t, node, "7")
		node.after = onceThen(func() error {
			for _, other := range server.nodes[1:] { // more of them than a row remembers, if there are 8
				check(t, other, "7")
			}
			return errOvertaken
		})
		_, err := node.Grant(t.Context(), seven, "", 5)
		if known := others < 8; known != (err == nil) {
			t.Errorf("with %d writes by other nodes: %v", others, err)
		} else if !known && (!errors.Is(err, shared.ErrUnconfirmed) || errors.Is(err, shared.ErrAway)) {
			t.Errorf("with %d writes by other nodes: %v, want ErrUnconfirmed", others, err)
		} else if !known && (!strings.HasPrefix(err.Error(), "chatguard: ") || strings.Count(err.Error(), "chatguard: ") > 1) {
			t.Errorf("with %d writes by other nodes: %v, want one prefix", others, err)
		}
		if got := node.counts(); got.Pending != 0 {
			t.Errorf("with %d writes by other nodes: %+v, want nothing pending", others, got)
		}
		if v := check(t, node, "7"); v.Degraded || v.Remaining != 300+5-others-2 {
			t.Errorf("with %d writes by other nodes: %+v", others, v)
		}
	}
}

// A shared clock that is set back doesn't make rows certain for longer.
func TestShared_ClockSetBack(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	server.now = sharedStart.Add(30 * time.Second)
	node := server.join()
	send(t, node, 5)
	swaps := server.swaps
	server.now = sharedStart
	if check(t, node, "7"); server.swaps == swaps {
		t.Error("a refusal comes from memory although the row was seen 30 s in the future")
	}
}

// A refusal on a row that the Guard doesn't know costs one round trip.
func TestShared_FirstRefusalIsOneRoundTrip(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	send(t, server.join(), 4)
	other, swaps := server.join(), server.swaps
	if v := check(t, other, "7"); v.Allowed || v.Degraded || server.swaps != swaps+1 {
		t.Errorf("%+v, want a refusal by the row in the store, with 1 swap instead of %d", v, server.swaps-swaps)
	}
}

// A refusal that changes no row is no swap that may have happened. If its reply is lost while
// another node writes, the message is decided again.
func TestShared_RefusalWithLostReply(t *testing.T) {
	policy := dayOnly()
	policy.Penalties.StrikeEvery = time.Hour // or the second refusal would write a strike
	server := newServer(t, shared.Exact, policy)
	a, b := server.join(), server.join()
	send(t, a, 300)
	check(t, b, "7")
	server.now = server.now.Add(11 * time.Second) // the row is asked for again
	b.after = func() error {
		b.after = nil
		_, err := a.Grant(t.Context(), seven, "", 5)
		must(t, err)
		return errOvertaken
	}
	if v := check(t, b, "7"); !v.Allowed || v.Degraded || b.after != nil {
		t.Errorf("%+v, want a message of the grant", v)
	}
	if got := b.counts().Assumed; got != 0 {
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
	policy := enforced(
		chatguard.FixedWindowLimit("own", 100, time.Hour),
		per(chatguard.PerUserEverywhere, chatguard.FixedWindowLimit("everywhere", 3, time.Hour)),
		per(chatguard.PerChannel, chatguard.FixedWindowLimit("room", 1000, time.Hour)))
	for name, outcome := range map[string]error{"away": shared.ErrAway, "requests lost": errReplyLost} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServerInBubble(t, shared.Exact, policy)
				node := server.join()
				node.before = func(context.Context) error { time.Sleep(100 * time.Millisecond); return outcome }
				var wg sync.WaitGroup
				var allowed atomic.Int64
				for i := range 20 {
					wg.Go(func() {
						if judge(t, node, chatguard.Message{ChannelID: fmt.Sprint(i), User: chatguard.User{ID: "7"}}).Allowed {
							allowed.Add(1)
						}
					})
				}
				wg.Wait()
				if allowed.Load() != 3 {
					t.Errorf("%d messages are allowed, want 3", allowed.Load())
				}
				node.before = nil
				node.exchange()
				if e := explain(t, server.join(), "7"); e.Limits[1].Used != 3 {
					t.Errorf("the other node: %+v, want 3 used everywhere", e.Limits)
				}
			})
		})
	}
}
