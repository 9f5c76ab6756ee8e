// Package apptest contains helpers for tests of a running chatguard.
package apptest

import (
	"net"
)

// Listener is a dashboard's listener to which nobody connects. Create one with NewListener.
type Listener struct{ closed chan struct{} }

// NewListener returns a Listener that accepts no connections.
func NewListener() Listener { return Listener{make(chan struct{})} }

// Accept waits until Close.
func (l Listener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

// Close ends Accept.
func (l Listener) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

// Addr returns an address at which nothing listens.
func (l Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }
