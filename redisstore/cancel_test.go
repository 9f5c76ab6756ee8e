package redisstore

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/shared"
)

// TestBreaker_CallersCancel checks that calls that end early say nothing about the server: neither
// those that are cancelled before they are sent, nor those that are cancelled before the answer.
func TestBreaker_CallersCancel(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	var cancelCall atomic.Pointer[context.CancelFunc]
	addr := proxy(t, r.Addr(), func(args []string) ([]string, string) {
		if cancel := cancelCall.Load(); cancel != nil && strings.HasPrefix(args[0], "EVAL") {
			(*cancel)()
		}
		return args, ""
	})
	var log waittest.Output
	s := open(t, "redis://"+addr, Options{Logger: logTo(&log)})
	for name, cancelAt := range map[string]func(context.CancelFunc){
		"before it is sent": func(cancel context.CancelFunc) { cancel() },
		"before its answer": func(cancel context.CancelFunc) { cancelCall.Store(&cancel) },
	} {
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			cancelAt(cancel)
			s.Swap(ctx, []*shared.Swap{one("x", "no such row", "1")})
			cancel()
			cancelCall.Store(nil)
			if s.server.breaker.unanswered.Load() != 0 { // with time, the store would be away
				t.Fatalf("cancelled %s: counts as not answered", name)
			}
		}
		if h := s.Health(); !h.Up {
			t.Errorf("cancelled %s: away: %s", name, h.Problem)
		}
	}
	if text := log.String(); strings.Contains(text, "WARN") {
		t.Error(text)
	}
	check(t, s, one("a", "", "1"), true)
}

// TestBreaker_ShortDeadlines checks that a server that hangs is noticed although no caller waits
// for as long as the store's timeout.
func TestBreaker_ShortDeadlines(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	const timeout = 100 * time.Millisecond
	s := open(t, r.URL(), Options{Timeout: timeout})
	awaitServer(t, s)
	r.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	eventually(t, "the store is away", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), timeout/5)
		defer cancel()
		s.Swap(ctx, []*shared.Swap{one("x", "no such row", "1")})
		return !s.Health().Up
	})
	t.Logf("away after %v, with a timeout of %v: %s", time.Since(stopped), timeout, s.Health().Problem)
	if h := s.Health(); !strings.Contains(h.Problem, "no answer within "+(2*timeout).String()) {
		t.Error(h.Problem)
	}
	r.Signal(syscall.SIGCONT)
	awaitServer(t, s)
}

// TestSwap_WhileConnecting checks that a swap ends in time although another call, which has begun
// before, is still making the connection. The client itself would wait for that call.
func TestSwap_WhileConnecting(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	s := open(t, r.URL(), Options{Timeout: 50 * time.Millisecond})
	awaitServer(t, s)
	dialing, release := make(chan bool, 100), make(chan bool)
	dial := s.server.dialTCP
	s.server.dialTCP = func(d *net.Dialer, ctx context.Context, network, address string) (net.Conn, error) {
		dialing <- true
		<-release
		return dial(d, ctx, network, address)
	}
	connect := sync.OnceFunc(func() { close(release) })
	defer connect()
	s.server.conns.closeAll()
	var calls sync.WaitGroup
	calls.Go(func() {
		_, _ = s.server.request(t.Context(), ping)
	})
	<-dialing
	var ended atomic.Bool
	swap := one("x", "no such row", "1")
	calls.Go(func() {
		s.Swap(context.Background(), []*shared.Swap{swap})
		ended.Store(true)
	})
	eventually(t, "the swap ends", ended.Load)
	if !errors.Is(swap.Err, shared.ErrAway) {
		t.Errorf("error %v", swap.Err)
	}
	connect()
	calls.Wait()
	awaitServer(t, s)
}
