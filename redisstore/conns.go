package redisstore

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// conns are the open connections. The client can't be asked to give up a connection whose server
// doesn't answer, but closing it has that effect.
type conns struct {
	open sync.Map // of each *conn
	// doubtful is set when a connection breaks or a call ends before its answer, and reset by an
	// answer. Until then, a call could wait for a new connection, or for room in the client's
	// queue, and neither wait ends with the call's context. A doubtful connection doesn't mean that
	// the server is away.
	doubtful atomic.Bool
	made     atomic.Int64 // how many connections were made
}

// conn is a connection that is in conns until it is closed.
type conn struct {
	net.Conn
	all *conns
}

// Read implements net.Conn, and notes an error.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.all.doubtful.Store(true)
	}
	return n, err
}

// Write implements net.Conn. It then lets other goroutines run, so that the client finds more
// commands for its next write. Otherwise it would write most of them alone, and the system calls
// would take half of a node's processor time.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	runtime.Gosched()
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.all.open.Delete(c)
	return c.Conn.Close()
}

// closeAll closes all connections. It closes TCP, not TLS, and therefore never waits.
func (cs *conns) closeAll() {
	cs.doubtful.Store(true)
	cs.open.Range(func(c, _ any) bool {
		c.(*conn).Close()
		return true
	})
}

// dialError means that no connection was made, so that no command was sent.
type dialError struct{ err error }

// Error implements error.
func (e *dialError) Error() string { return e.err.Error() }

// Unwrap returns why the connection wasn't made.
func (e *dialError) Unwrap() error { return e.err }

// dial makes a connection for the client, encrypted if config isn't nil.
func (s *server) dial(ctx context.Context, host string, dialer *net.Dialer, config *tls.Config) (net.Conn, error) {
	if s.background.Err() != nil {
		return nil, &dialError{errClosed}
	}
	if err := s.options.checkPlain(host); err != nil {
		return nil, &dialError{&refusal{err.Error()}}
	}
	if !slices.Contains(s.address.hosts, host) {
		s.explain.pastSentinels.Store(true)
	}
	caller := ctx
	ctx, cancel := withTimeout(ctx, s.options.connectTimeout())
	defer cancel()
	raw, err := s.dialTCP(dialer, ctx, "tcp", host)
	if err != nil {
		if end, _ := ctx.Deadline(); isTimeout(err) && !time.Now().Before(end) {
			<-ctx.Done() // the socket has the same deadline, and its timer was first
		}
		if late := timedOut(ctx); late != nil && isTimeout(err) {
			err = fmt.Errorf("%w: %w", late, err)
		}
		return nil, unmade(caller, err)
	}
	c := &conn{Conn: raw, all: &s.conns}
	s.conns.open.Store(c, true)
	s.conns.made.Add(1)
	if config == nil {
		return c, nil
	}
	config = config.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(host)
	}
	encrypted := tls.Client(c, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		c.Close()
		if isTimeout(err) {
			err = fmt.Errorf("%w: %w", errNoHandshake, err)
		}
		return nil, unmade(caller, err)
	}
	return encrypted, nil
}

// unmade is the error of a connection that wasn't made. If the caller stopped waiting, the error
// says nothing about the server.
func unmade(caller context.Context, err error) error {
	if caller.Err() != nil {
		err = fmt.Errorf("%w: %w", errNotSent, err)
	}
	return &dialError{err}
}
