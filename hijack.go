package chatguard

import (
	"bufio"
	"net"
	"net/http"
)

// sessionWriter is the ResponseWriter of a session. A handler that takes the connection over through it gets one that ends the session when it
// is closed. http.Pusher and io.ReaderFrom are left out: browsers take no pushes any more, and a chat sends no files.
type sessionWriter struct {
	http.ResponseWriter
	session *Session
	taken   net.Conn // the connection once it was taken over
}

// Unwrap lets http.ResponseController find what this writer doesn't have itself: deadlines, full duplex.
func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush is for handlers that ask for an http.Flusher.
func (w *sessionWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController, which would otherwise take it that any Flush succeeds.
func (w *sessionWriter) FlushError() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack takes the connection over. It also finds a Hijacker behind writers that only have Unwrap.
func (w *sessionWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		w.taken = &tcpConn{tcp, w.session}
	} else {
		w.taken = &takenConn{conn, w.session}
	}
	return w.taken, buffered, nil
}

// handled is called when the handler has returned, or is about to panic. A connection that it has taken over lives on after a return; after a
// panic nobody would close it.
func (w *sessionWriter) handled(returned bool) {
	switch {
	case w.taken == nil:
		w.session.end()
	case !returned:
		_ = w.taken.Close() // the panic is what is to be heard of
	}
}

// tcpConn is a TCP connection that was taken over. It is a type of its own because what *net.TCPConn does faster than any net.Conn, several
// buffers in one write above all, is found by its methods.
type tcpConn struct {
	*net.TCPConn
	session *Session
}

// Close closes the connection and ends the session.
func (c *tcpConn) Close() error {
	defer c.session.end()
	return c.TCPConn.Close()
}

// NetConn returns the connection itself. Closing that one doesn't end the session.
func (c *tcpConn) NetConn() net.Conn { return c.TCPConn }

// takenConn is any other connection that was taken over: one under TLS, or a Unix socket.
type takenConn struct {
	net.Conn
	session *Session
}

// Close closes the connection and ends the session.
func (c *takenConn) Close() error {
	defer c.session.end()
	return c.Conn.Close()
}

// NetConn returns the connection itself, a *tls.Conn say. Closing that one doesn't end the session.
func (c *takenConn) NetConn() net.Conn { return c.Conn }
