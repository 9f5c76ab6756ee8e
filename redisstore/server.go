package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// maxCalls is how many calls are sent at the same time; the others wait for their turn or for their
// deadline. The client's queue has room for twice as many: those that are sent, and those whose
// callers have given up.
const (
	maxCalls   = 1000
	queueScale = 11 // 2^11
)

// server is the server, or the Sentinels or the Cluster, that a Store is connected to. It sends
// commands, knows whether the server is away, and estimates its clock. It knows no rows.
type server struct {
	options  Options
	address  address
	where    string // the hosts, for people
	keys     keys
	instance string // random: two processes with the same name are two instances
	started  time.Time

	client   atomic.Pointer[rueidis.Client] // nil until the server was reached once
	dialTCP  func(d *net.Dialer, ctx context.Context, network, address string) (net.Conn, error)
	conns    conns
	breaker  breaker
	calls    chan struct{} // has an element for each call being sent
	known    atomic.Pointer[serverInfo]
	compared atomic.Pointer[serverInfo] // what restarted has last seen; before that, the first server
	compare  atomic.Pointer[func()]     // calls compareServers; nil before Run
	clock    clock
	explain  explainer
	evicting atomic.Pointer[string]        // says that the server evicts rows; nil if it doesn't
	refusing atomic.Pointer[refusedChange] // the last change, if the server has refused it; otherwise nil
	// otherType is a key of another type than nodes give it; nil if none is known.
	otherType atomic.Pointer[string]
	deadline  atomic.Pointer[deadline]

	background context.Context // ends with close
	end        context.CancelFunc
	mu         sync.Mutex // guards closed and the start of goroutines
	closed     bool
	goroutines sync.WaitGroup
}

// newServer returns a server that isn't connected yet.
func newServer(o Options, a address) *server {
	s := &server{
		options: o, address: a, where: strings.Join(a.hosts, ","),
		keys:     keys{namespace: o.Namespace, placement: o.Placement},
		instance: rand.Text(), started: time.Now(), dialTCP: (*net.Dialer).DialContext,
		calls: make(chan struct{}, maxCalls),
	}
	s.explain = explainer{options: &s.options, address: &s.address, where: s.where}
	s.breaker.start(o.Timeout, s.where)
	s.clock.start(s.started)
	s.background, s.end = context.WithCancel(context.Background())
	return s
}

// since returns the monotonic time since the Store was opened, in nanoseconds. It is never 0.
func (s *server) since() int64 { return s.clock.since() }

// spawn runs f in a goroutine that close waits for. It returns false after close.
func (s *server) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.goroutines.Go(f)
	return true
}

// close closes all connections. Calls that are waiting fail.
func (s *server) close() error {
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
