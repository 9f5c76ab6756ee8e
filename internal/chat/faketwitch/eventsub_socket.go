package faketwitch

import (
	"context"
	"time"

	"github.com/coder/websocket"
)

// eventSocket is an EventSub WebSocket.
type eventSocket struct {
	srv       *eventSub
	conn      *websocket.Conn
	session   *eventSession
	keepalive time.Duration
	cut       func()         // ends the connection without a close frame
	said      chan struct{}  // filled after each send
	leave     chan time.Time // filled with the time by which the client must move
}

// supervise sends keepalives while there is nothing else to send. It closes a socket that has no
// subscription, or whose client did not move in time.
func (e *eventSocket) supervise(ctx context.Context) {
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
			if e.srv.isUnused(e) {
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

// setMoveDeadline sets the time by which the client must move. If a time is already set, it stays.
func (e *eventSocket) setMoveDeadline(at time.Time) {
	select {
	case e.leave <- at:
	default:
	}
}

// keepAlive sends a keepalive to a silent socket.
func (s *eventSub) keepAlive(e *eventSocket) {
	s.mu.Lock()
	text := s.frame("session_keepalive", map[string]any{})
	stalled := s.faults.stalled
	s.mu.Unlock()
	if !stalled {
		e.send(text)
	}
}

// isUnused reports whether the socket's session has no subscription.
func (s *eventSub) isUnused(e *eventSocket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(e.session.subscriptions) == 0
}

// send writes a frame. It blocks while the client doesn't read. It reports no error, because
// reading the connection fails as well.
func (e *eventSocket) send(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	_ = e.conn.Write(ctx, websocket.MessageText, []byte(text))
	select {
	case e.said <- struct{}{}:
	default:
	}
}

// forbidPing handles a ping from the client by closing the socket. A client may send only answers
// to the server.
func (e *eventSocket) forbidPing(context.Context, []byte) bool {
	// Close in a goroutine: the reader can't wait for the client's answer.
	e.srv.wait.Go(func() { e.close(closeInbound, "client sent inbound traffic") })
	return false
}

// close sends the client the reason and ends the connection.
func (e *eventSocket) close(code websocket.StatusCode, reason string) {
	e.srv.mu.Lock()
	add(&e.srv.closes, int(code))
	e.srv.mu.Unlock()
	_ = e.conn.Close(code, reason) // the connection ends even after an error
	e.cut()
}
