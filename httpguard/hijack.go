package httpguard

import (
	"bufio"
	"errors"
	"net"
	"net/http"

	"github.com/chatguard/chatguard/connguard"
)

// sessionWriter is the ResponseWriter of a session. If a handler takes over the connection, closing
// that connection ends the session. It doesn't implement http.Pusher and io.ReaderFrom, because
// browsers no longer accept pushes, and a chat sends no files.
type sessionWriter struct {
	http.ResponseWriter
	session *connguard.Session
	upgrade bool     // the client asks for another protocol, such as WebSocket
	hidden  func()   // called if the connection was taken over through another writer
	taken   net.Conn // the connection, after a takeover
}

// errHidden is why a session ends while its connection may still be open.
var errHidden = errors.New("httpguard: the handler took over the connection through a ResponseWriter that isn't the one of Sessions, as handlers in gin do: " +
	"the session ends when the handler returns, and an open connection no longer counts; " +
	"put Sessions around the framework: mux.Handle(\"/chat\", in(engine))")

// Unwrap lets http.ResponseController find the methods that this writer doesn't implement:
// deadlines and full duplex.
func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *sessionWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush with an error, as http.ResponseController calls it. Without FlushError, the
// controller assumes that every Flush succeeds.
func (w *sessionWriter) FlushError() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack takes over the connection. It also finds a Hijacker wrapped in writers that only implement
// Unwrap.
func (w *sessionWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.taken = w.session.Wrap(conn)
	return w.taken, buffered, nil
}

// finish ends the session after the handler returns or panics. If the handler has taken over the
// connection and returns, the connection and the session stay open. If the handler panics, finish
// closes the connection, because nothing else would.
func (w *sessionWriter) finish(returned bool) {
	switch {
	case w.taken != nil && !returned:
		_ = w.taken.Close() // the panic is the error to report
	case w.taken != nil:
	case w.upgrade && isHijacked(w.ResponseWriter):
		w.hidden()
		w.session.CloseWithError(errHidden)
	default:
		w.session.Close()
	}
}

// isHijacked reports whether the connection under a framework's writer was taken over. It finds out
// with an empty Write, which would send an answer if there was none yet. So it returns false for a
// writer that doesn't say whether it has written an answer.
func isHijacked(w http.ResponseWriter) bool {
	for {
		if answered, ok := w.(interface{ Written() bool }); ok {
			if !answered.Written() {
				return false
			}
			_, err := w.Write(nil)
			return errors.Is(err, http.ErrHijacked)
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = inner.Unwrap()
	}
}
