package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/shared"
)

var _ shared.Store = (*Store)(nil)

// Store is a connection to Valkey or Redis. It implements [shared.Store]. It is safe for
// concurrent use. Create one with Open.
type Store struct {
	server    *server
	writer    *writer
	notices   *notices
	registry  *registry
	number    *number
	leases    *leases
	stats     stats
	misplaced atomic.Int64 // when misplace was called last; 0 if never
	logged    []string     // the problems that logProblems found last
	running   atomic.Bool
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
// [Store.Health] says why, until the server answers. Open also succeeds if the server makes no
// changes for now, because its memory or disk is full or its primary is missing. Open refuses
// mistakes of the configuration: a wrong password, missing rights, a database that doesn't exist, a
// server older than 6.2 or of another kind, an untrusted certificate, a namespace with data of
// another format or program, and a connection without TLS to another machine. The error names the
// server and the fix.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	s, err := newStore(url, opts)
	if err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	return s, nil
}

// start connects to the server. Only a mistake of the configuration is an error.
func (s *Store) start(ctx context.Context) error {
	var err error
	select {
	case err = <-s.server.open():
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", s.server.where, ctx.Err())
	}
	if err == nil {
		s.logProblems()
		return nil
	}
	problem, lasting := s.server.explain.problem(err)
	if lasting {
		return errors.New(problem)
	}
	s.server.options.Logger.Warn("redisstore: the shared store is away", "problem", problem)
	return nil
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
	server := newServer(o, a)
	w := &writer{server: server, replicas: replicas{server: server}}
	s := &Store{server: server, writer: w, notices: newNotices(server), number: &number{writer: w}, leases: &leases{}}
	s.registry = &registry{server: server, writer: w, notices: s.notices, leases: s.leases, number: s.number}
	s.stats.start()
	return s, nil
}

// Timeout implements [shared.Store]. It returns Options.Timeout.
func (s *Store) Timeout() time.Duration { return s.server.options.Timeout }

// Clock implements [shared.Store]. It is the time of the server, which all nodes estimate. It
// never waits. Before the server was reached, it is the local time.
func (s *Store) Clock() (now time.Time, skew time.Duration) { return s.server.clock.now() }

// Changes returns the channel of the names of documents that other nodes have changed. An empty
// name means that any may have changed: notices were lost, or not received fast enough.
func (s *Store) Changes() <-chan string { return s.notices.changes }

// Number returns the number of this node, from 0 to 255, that no other live node of the namespace
// has. ok is false before Run has leased one, and if the lease couldn't be renewed for 9 minutes.
// Run then renews the lease, or leases another number.
func (s *Store) Number() (n int, ok bool) { return s.number.current() }

// Nodes returns the nodes whose Run is running, in the order of their names. A node that has
// crashed disappears after 5 s.
func (s *Store) Nodes(ctx context.Context) ([]shared.Node, error) { return s.registry.list(ctx) }

// Close closes all connections. Call it after Run has returned. Calls that are waiting fail.
func (s *Store) Close() error { return s.server.close() }
