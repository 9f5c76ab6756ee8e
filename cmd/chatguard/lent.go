package main

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// lent is a listener that several servers use, one after another. Closing it ends only the server's
// Accept; connections that come meanwhile wait for the next server.
type lent struct {
	interruptible
	closed atomic.Bool
}

// interruptible is a listener whose Accept can be interrupted.
type interruptible interface {
	net.Listener
	SetDeadline(t time.Time) error
}

// lend returns a lent for a listener. After the last server, the caller closes l.
func lend(l interruptible) *lent { return &lent{interruptible: l} }

// Accept implements net.Listener.
func (l *lent) Accept() (net.Conn, error) {
	for {
		conn, err := l.interruptible.Accept()
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return conn, err
		case l.closed.Load():
			return nil, net.ErrClosed
		}
		if err := l.SetDeadline(time.Time{}); err != nil { // another server was interrupted
			return nil, err
		}
	}
}

// Close ends Accept.
func (l *lent) Close() error {
	l.closed.Store(true)
	return l.SetDeadline(time.Unix(1, 0))
}
