package faketwitch

import (
	"context"
	"time"

	"github.com/coder/websocket"
)

// eventSocket is one WebSocket of EventSub.
type eventSocket struct {
	srv       *Server
	conn      *websocket.Conn
	session   *eventSession
	keepalive time.Duration
	cut       func()         // ends the connection without a word
	said      chan struct{}  // filled when something was sent
	leave     chan time.Time // filled with when the client has to have moved on
}

// live sends keepalives while there is nothing else to send, and closes a socket that isn't used or was to be left.
func (e *eventSocket) live(ctx context.Context) {
	unused := time.NewTimer(subscribeWithin)
	defer unused.Stop()
	quiet := time.NewTimer(e.keepalive)
	defer quiet.Stop()
	left := time.NewTimer(time.Hour)
	left.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.said:
			quiet.Reset(e.keepalive)
		case <-quiet.C:
			e.srv.keepAlive(e)
			quiet.Reset(e.keepalive)
		case <-unused.C:
			if e.srv.unused(e) {
				e.close(closeUnused, "connection unused")
				return
			}
		case by := <-e.leave:
			left.Reset(by.Sub(e.srv.opts.Now()))
		case <-left.C:
			e.close(closeNotMoved, "reconnect grace time expired")
			return
		}
	}
}

// leaveBy says until when the client has to have moved on. What was said before stands.
func (e *eventSocket) leaveBy(at time.Time) {
	select {
	case e.leave <- at:
	default:
	}
}

// keepAlive tells a silent socket that the server is still there.
func (s *Server) keepAlive(e *eventSocket) {
	s.mu.Lock()
	text := s.frame("session_keepalive", map[string]any{})
	stalled := s.events.faults.stalled
	s.mu.Unlock()
	if !stalled {
		e.send(text)
	}
}

// unused reports whether the socket's session has no subscription.
func (s *Server) unused(e *eventSocket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(e.session.subscriptions) == 0
}

// send writes a frame, and waits while the client doesn't read. A failure shows when the connection is read, so nothing is said about it here.
func (e *eventSocket) send(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	_ = e.conn.Write(ctx, websocket.MessageText, []byte(text))
	select {
	case e.said <- struct{}{}:
	default:
	}
}

// forbidPing is told of a client's ping. A client may send nothing at all but what answers the server.
func (e *eventSocket) forbidPing(context.Context, []byte) bool {
	e.srv.wait.Go(func() { e.close(closeInbound, "client sent inbound traffic") }) // who reads can't wait for the client's answer
	return false
}

// close tells the client why the connection ends, and ends it.
func (e *eventSocket) close(code websocket.StatusCode, reason string) {
	e.srv.mu.Lock()
	add(&e.srv.events.closes, int(code))
	e.srv.mu.Unlock()
	_ = e.conn.Close(code, reason) // whatever becomes of it, the connection is gone
	e.cut()
}
