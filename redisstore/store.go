package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/shared"
)

var _ shared.Store = (*Store)(nil)

// maxCalls is how many calls are sent at the same time; the others wait for their turn or for their
// deadline. The client's queue has room for twice as many: those that are sent, and those whose
// callers have given up.
const (
	maxCalls   = 1000
	queueScale = 11 // 2^11
)

// Store is a connection to Valkey or Redis. It implements [shared.Store]. It is safe for
// concurrent use. Create one with Open.
type Store struct {
	options  Options
	address  address
	where    string // the hosts, for people
	keys     keys
	instance string // random: two processes with the same name are two instances
	started  time.Time

	client  atomic.Pointer[rueidis.Client] // nil until the server was reached once
	dialTCP func(d *net.Dialer, ctx context.Context, network, address string) (net.Conn, error)
	conns   conns
	breaker breaker
	calls   chan struct{} // has an element for each call being sent
	server  atomic.Pointer[server]
	clock   clock

	probing   atomic.Bool
	probed    atomic.Int64  // when the last probe began, in ns since started
	wentAway  chan struct{} // for watch
	inquiring atomic.Bool   // see inquire
	relisten  chan struct{} // for listen: another server may have the epoch now

	replicas atomic.Pointer[confirmations] // nil while as many confirm as Options.Replicas
	evicting atomic.Pointer[string]        // that the server evicts rows; nil if it doesn't

	refusing  atomic.Pointer[string] // why the server has refused the last change; nil if it hasn't
	misplaced atomic.Int64           // when misplace was called last; 0 if never
	foreign   atomic.Int64           // when a key had another type than a row last; 0 if never

	deadline atomic.Pointer[deadline]
	stats    stats

	running  atomic.Bool
	registry registry
	leases   leases
	number   number
	changes  chan string
	missed   atomic.Bool // changes had no room

	background context.Context // ends with Close
	end        context.CancelFunc
	mu         sync.Mutex // of closed and the start of goroutines
	closed     bool
	goroutines sync.WaitGroup
}

// Open connects to the server that the URL names:
//
//	redis://127.0.0.1:6379                        one server
//	rediss://user@cache.internal:6379/0           with TLS
//	redis+sentinel://a:26379,b:26379/mymaster     the primary that Sentinels name; rediss+sentinel
//	redis+cluster://a:6379,b:6379                 a Cluster; rediss+cluster
//
// A nil opts is the same as the zero Options. If the server can't be reached, Open succeeds, so
// that a node starts without it: calls fail with an error that wraps [shared.ErrAway], and
// [Store.Health] says why, until the server answers. Open refuses what doesn't pass by itself: a
// wrong password, a database that doesn't exist, a server older than 6.2 or of another kind, an
// untrusted certificate, a namespace with data of another format, and a connection without TLS to
// another machine. The error names the server and
// the fix.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	s, err := newStore(url, opts)
	if err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	s.probing.Store(true)
	tried := make(chan error, 1)
	s.spawn(func() {
		err := s.connect(s.background)
		if err == nil {
			s.comeBack()
		} else {
			s.breaker.away.Store(s.outage(err))
		}
		s.probed.Store(s.since())
		s.probing.Store(false)
		tried <- err
	})
	select {
	case err = <-tried:
	case <-ctx.Done():
		s.Close()
		return nil, fmt.Errorf("redisstore: %s: %w", s.where, ctx.Err())
	}
	if err == nil {
		return s, nil
	}
	problem, lasting := s.problem(err)
	if lasting {
		s.Close()
		return nil, fmt.Errorf("redisstore: %s", problem)
	}
	s.options.Logger.Warn("redisstore: the shared store is away", "problem", problem)
	return s, nil
}

func newStore(url string, opts *Options) (*Store, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	a, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	if err := o.complete(&a); err != nil {
		return nil, err
	}
	s := &Store{
		options: o, address: a, where: strings.Join(a.hosts, ","),
		keys:     keys{namespace: o.Namespace, placement: o.Placement},
		instance: rand.Text(), started: time.Now(), dialTCP: (*net.Dialer).DialContext,
		calls: make(chan struct{}, maxCalls), wentAway: make(chan struct{}, 1), relisten: make(chan struct{}, 1), changes: make(chan string, maxChanges),
	}
	s.breaker.limit = int64(2 * o.Timeout)
	s.breaker.away.Store(&outage{err: away(s.where + ": not connected yet: try again soon"), problem: "not connected yet"})
	s.clock.start(s.started)
	s.stats.start()
	s.background, s.end = context.WithCancel(context.Background())
	return s, nil
}

// since returns the monotonic time since the Store was opened, in nanoseconds. It is never 0.
func (s *Store) since() int64 { return int64(time.Since(s.started)) + 1 }

// spawn runs f in a goroutine that Close waits for. It returns false after Close.
func (s *Store) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.goroutines.Go(f)
	return true
}

// Timeout implements [shared.Store]. It returns Options.Timeout.
func (s *Store) Timeout() time.Duration { return s.options.Timeout }

// Close closes all connections. Call it after Run has returned. Calls that are waiting fail.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errors.New("redisstore: " + errClosed.Error() + " already")
	}
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.breaker.away.Store(&outage{err: away(errClosed.Error(), errClosed), problem: errClosed.Error(), lasting: true})
	s.conns.closeAll()
	s.goroutines.Wait()
	if client := s.client.Load(); client != nil {
		(*client).Close()
	}
	s.conns.closeAll()
	return nil
}
