package redisstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// increment adds one to the number in a user's row, and reports whether that is known to be done.
func increment(s *Store, user, writer string, seen *string) (done, unknown bool) {
	n, _, _ := strings.Cut(*seen, " ")
	value, _ := strconv.Atoi(n)
	swap := one(user, *seen, fmt.Sprintf("%d %s", value+1, writer))
	s.Swap(context.Background(), []*shared.Swap{swap})
	switch {
	case swap.Done:
		*seen = string(swap.Rows[0].Is)
	case swap.Err == nil:
		*seen = string(swap.Rows[0].Now)
	}
	return swap.Done, swap.Unknown
}

// TestSwap_ConnectionsKilled checks that every swap is made once although replies are lost: those
// of a row with one writer have a known outcome, and those of a row with several are never counted
// twice. All connections are killed after each eighth swap, so that a slow machine gets on, too.
func TestSwap_ConnectionsKilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		var writers sync.WaitGroup
		var done, unknown, swaps atomic.Int64
		kill := make(chan struct{}, 1)
		for w := range 8 {
			writers.Go(func() {
				mine, seen, shared := fmt.Sprintf("w%d", w), "", ""
				for i := range 100 {
					if ok, _ := increment(s, mine, fmt.Sprintf("%d-%d", w, i), &seen); !ok {
						t.Errorf("writer %d, swap %d: the only writer of a row has seen another row: %q", w, i, seen)
						return
					}
					ok, lost := increment(s, "all", fmt.Sprintf("%d-%d", w, i), &shared)
					if ok {
						done.Add(1)
					}
					if lost {
						unknown.Add(1)
					}
					if swaps.Add(2)%8 == 0 {
						select {
						case kill <- struct{}{}:
						default: // others have just been killed
						}
					}
				}
			})
		}
		go func() {
			defer close(kill)
			writers.Wait()
		}()
		killer, killed := r.client(), 0
		defer killer.Close()
		for range kill {
			killer.Do(t.Context(), killer.B().Arbitrary("CLIENT", "KILL", "TYPE", "normal").Build())
			killed++
		}
		n, _, _ := strings.Cut(mustString(t, r.must("GET", "cg1:{u:all}:c:lobby")), " ")
		stored, _ := strconv.ParseInt(n, 10, 64)
		if stored < done.Load() || stored > done.Load()+unknown.Load() {
			t.Errorf("%d are stored, %d done, %d unknown", stored, done.Load(), unknown.Load())
		}
		t.Logf("killed %d times; %d stored, %d done, %d unknown", killed, stored, done.Load(), unknown.Load())
		if killed == 0 || s.Stats().Repeated == 0 {
			t.Error("no reply was lost")
		}
	})
}

// TestSwap_Pause checks that one call that isn't answered isn't an outage. If the server's last
// answer was as long ago as in an outage, because the machine was busy, the call proves nothing.
func TestSwap_Pause(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	const timeout = time.Second
	s := open(t, r.URL(), Options{Timeout: timeout})
	eventually(t, "a call ends in time", func() bool {
		awaitServer(t, s)
		r.Signal(syscall.SIGSTOP)
		defer r.Signal(syscall.SIGCONT)
		began := time.Now()
		swap := attempt(t, s, one("a", "1", "2"))
		out, took := s.server.breaker.away.Load(), time.Since(began)
		silent := s.server.since() - s.server.breaker.answered.Load()
		if swap.Done || !errors.Is(swap.Err, shared.ErrAway) {
			t.Errorf("done %t, error %v", swap.Done, swap.Err)
		}
		if took < timeout/2 {
			t.Errorf("the call ends after %v", took)
		}
		if silent >= s.server.breaker.limit {
			return false
		}
		if out != nil {
			t.Errorf("away after %v: %s", time.Duration(silent), out.problem)
		}
		return true
	})
}

// awaitServer calls Swap until the server answers.
func awaitServer(t *testing.T, s *Store) {
	t.Helper()
	eventually(t, "the server answers", func() bool {
		read := attempt(t, s, one("nobody", "", ""))
		return read.Done
	})
}

// checkAway checks that a swap fails because the store is away.
func checkAway(t *testing.T, s *Store) {
	t.Helper()
	if err := attempt(t, s, one("a", "", "1")).Err; !errors.Is(err, shared.ErrAway) {
		t.Error(err)
	}
}

// awayAfter calls Swap until the store is away.
func awayAfter(t *testing.T, s *Store) {
	t.Helper()
	eventually(t, "the store is away", func() bool {
		attempt(t, s, one("x", "no such row", "1"))
		return !s.Health().Up
	})
}

func TestBreaker_ServerKilled(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{Timeout: 50 * time.Millisecond})
	r.Kill()
	awayAfter(t, s)
	h := s.Health()
	if h.Problem == "" || !strings.Contains(h.Problem, r.Addr()) || h.Since.IsZero() {
		t.Errorf("%+v", h)
	}
	checkAway(t, s)
	if _, err := s.Overrides(t.Context(), "lobby"); !errors.Is(err, shared.ErrAway) {
		t.Error(err)
	}
	r.Start()
	awaitServer(t, s) // without Run
	if h := s.Health(); !h.Up || h.Problem != "" {
		t.Errorf("%+v", h)
	}
}

// TestBreaker_ServerStopped checks with thousands of callers that nothing waits for a server that
// is stopped, and that no goroutines stay.
func TestBreaker_ServerStopped(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{Timeout: 200 * time.Millisecond})
	const callers = 4000
	r.Signal(syscall.SIGSTOP)
	var most atomic.Int64
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%300)*time.Millisecond)
			defer cancel()
			swap := one(fmt.Sprint(i), "", "1")
			s.Swap(ctx, []*shared.Swap{swap})
			if swap.Done || !errors.Is(swap.Err, shared.ErrAway) {
				t.Errorf("done %t, error %v", swap.Done, swap.Err)
			}
			most.Store(max(most.Load(), int64(runtime.NumGoroutine())))
		})
	}
	all.Wait()
	awayAfter(t, s)
	eventually(t, "no goroutine waits for the server", func() bool { return len(s.server.calls) == 0 })
	if most.Load() > 2*callers+1000 { // other tests run, too
		t.Errorf("%d goroutines for %d callers", most.Load(), callers)
	}
	r.Signal(syscall.SIGCONT)
	awaitServer(t, s)
}

// TestBreaker_OpenWithoutServer checks that a node starts without the server, and finds it later.
func TestBreaker_OpenWithoutServer(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	r.Kill()
	s := open(t, r.URL(), Options{Timeout: 300 * time.Millisecond})
	if h := s.Health(); h.Up || !strings.Contains(h.Problem, r.Addr()) || h.Skew != time.Second {
		t.Errorf("%+v", h)
	}
	checkAway(t, s)
	guard := &fakeGuard{}
	run(t, s, guard)
	r.Start()
	eventually(t, "Run notices the server", func() bool { return s.Health().Up })
	eventually(t, "the Guard reads all rows again", func() bool { return guard.count(allRows) > 0 })
	before := guard.count(allRows)
	r.Kill()
	eventually(t, "Run notices that the server is away", func() bool { return !s.Health().Up })
	r.Start()
	eventually(t, "Run notices that the server is back", func() bool { return s.Health().Up })
	eventually(t, "the Guard reads all rows again", func() bool { return guard.count(allRows) > before })
}

func TestBreaker(t *testing.T) {
	b := breaker{limit: 200}
	for i, step := range []struct {
		succeed    bool
		began, now int64
		away       bool
	}{
		{false, 0 + 1, 100, false}, // one call that isn't answered
		{false, 50, 150, false},
		{false, 110, 210, true},
		{true, 0, 220, false},
		{false, 215, 500, false},    // answered meanwhile
		{false, 1000, 1100, false},  // after a pause
		{false, 5000, 5100, true},   // nothing was answered since 1000
		{true, 0, 5200, false},      // an answer
		{false, 5300, 5499, false},  // 199
		{false, 5400, 5500, true},   // 200
		{true, 0, 6000, false},      //
		{false, 5900, 7000, false},  // began before the answer
		{false, 6100, 9000, true},   // one call with a long deadline
		{true, 0, 9000, false},      //
		{false, 9000, 10000, false}, // began when the answer came
	} {
		if step.succeed {
			b.succeed(step.now)
		} else if away := b.fail(step.began, step.now); away != step.away {
			t.Errorf("step %d: away %t", i, away)
		}
	}
}
