package redisstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/shared"
)

// answerAll starts a server that answers each line with the same text.
func answerAll(t *testing.T, text string) (address string) {
	t.Helper()
	return accept(t, func(c net.Conn) {
		if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
			_, _ = c.Write([]byte(text)) // the client may be gone
		}
	})
}

// TestOpen_NoTLS checks that a port without TLS is named as a possible cause.
func TestOpen_NoTLS(t *testing.T) {
	t.Parallel()
	s := open(t, "rediss://"+startIdle(t), Options{Timeout: time.Second})
	if p := s.Health().Problem; !strings.Contains(p, "does this port speak TLS?") || strings.Count(p, "127.0.0.1") != 1 {
		t.Error(p)
	}
}

// TestErrors_OneAddress checks that an error during an outage has one address and one piece of
// advice.
func TestErrors_OneAddress(t *testing.T) {
	t.Parallel()
	s := open(t, "redis://127.0.0.1:1", Options{})
	const want = "redisstore: 127.0.0.1:1: connection refused: is the server running and reachable?"
	_, err := s.Nodes(t.Context())
	_, _, err2 := s.Document(t.Context(), "x")
	swap := attempt(t, s, one("a", "", "1"))
	for _, err := range []error{err, err2, swap.Err, s.server.unknown(t.Context(), swap.Err)} {
		if err == nil || err.Error() != want || !errors.Is(err, shared.ErrAway) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.server.unknown(ctx, context.Canceled); !errors.Is(err, shared.ErrAway) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestErrors_PlainWords checks that errors of a call and of a connection are told in plain words.
func TestErrors_PlainWords(t *testing.T) {
	t.Parallel()
	s := open(t, "redis://127.0.0.1:1", Options{})
	noHost := &net.DNSError{Name: "nosuch.invalid", Server: "10.0.0.1:53", IsNotFound: true}
	for want, err := range map[string]error{
		"no such host nosuch.invalid: correct the host in the URL, or the DNS": &dialError{&net.OpError{Op: "dial", Net: "tcp", Err: noHost}},
		"no answer in time: is the server running and reachable?":              unmade(t.Context(), fmt.Errorf("%w: %w", errNotSent, context.DeadlineExceeded)),
	} {
		if problem, lasting := s.server.explain.problem(err); problem != "127.0.0.1:1: "+want || lasting {
			t.Errorf("%s (lasting: %t), want %s", problem, lasting, want)
		}
	}
}

func TestUnconfirmed_Text(t *testing.T) {
	err := unconfirmed("policy/lobby", " (127.0.0.1:1: i/o timeout)")
	const want = "redisstore: policy/lobby: the shared store's reply was lost: the change may have been made, so look before you repeat it (127.0.0.1:1: i/o timeout)"
	if err.Error() != want || !errors.Is(err, shared.ErrUnconfirmed) || errors.Is(err, shared.ErrAway) {
		t.Errorf("%v, want %s", err, want)
	}
}

// awayGuard is a Guard with rows that it can't write.
type awayGuard struct {
	fakeGuard
	err  error
	owed int
}

func (g *awayGuard) Exchange(context.Context) error { return g.err }
func (g *awayGuard) Counts() shared.Counts          { return shared.Counts{Pending: g.owed} }

// TestRun_Lost checks that the error of Run says what is lost.
func TestRun_Lost(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	cause := away("127.0.0.1:1: connection refused")
	for _, test := range []struct {
		guard shared.Guard
		want  string
	}{
		{&awayGuard{err: cause, owed: 3}, "redisstore: 3 rows weren't written, what their users have spent since is forgotten: 127.0.0.1:1: connection refused"},
		{&awayGuard{err: cause, owed: 1}, "redisstore: 1 row wasn't written, what"},
		{&awayGuard{err: cause}, "redisstore: some rows weren't written, what"},
	} {
		var log waittest.Output
		s := open(t, r.URL(), Options{Interval: minInterval, Logger: logTo(&log)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.run(ctx, test.guard) }()
		eventually(t, "an exchange fails", func() bool { return strings.Contains(log.String(), "the exchange has failed") })
		cancel()
		if err := <-ended; err == nil || !strings.HasPrefix(err.Error(), test.want) || !errors.Is(err, shared.ErrAway) {
			t.Error(err)
		}
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "level=WARN") {
				t.Errorf("an outage that is logged elsewhere: %s", line)
			}
		}
	}
}

// payingGuard is a Guard that writes one of the rows that it owes in each exchange.
type payingGuard struct {
	fakeGuard
	owed atomic.Int64
}

func (g *payingGuard) Exchange(context.Context) error { g.owed.Add(-1); return nil }
func (g *payingGuard) Counts() shared.Counts          { return shared.Counts{Pending: int(g.owed.Load())} }

// TestRun_PaysAtTheEnd checks that Run ends when nothing is owed any more: after a loss, rows are
// paid a second later.
func TestRun_PaysAtTheEnd(t *testing.T) {
	t.Parallel()
	_, s := startStore(t, Options{Interval: time.Minute})
	guard := &payingGuard{}
	guard.owed.Store(3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.run(ctx, guard); err != nil || guard.owed.Load() != 0 {
		t.Errorf("%v, %d rows are owed", err, guard.owed.Load())
	}
}

// TestOpen_ClientName checks that CLIENT LIST shows whose connection it is.
func TestOpen_ClientName(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	open(t, r.URL(), Options{Node: "chat-7"})
	if list := r.text("CLIENT", "LIST"); !strings.Contains(list, "name=chatguard:chat-7 ") {
		t.Error(list)
	}
}
