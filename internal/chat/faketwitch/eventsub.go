package faketwitch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// Twitch's limits on EventSub over WebSocket.
const (
	subscribeWithin  = 10 * time.Second // after the welcome
	moveWithin       = 30 * time.Second // after session_reconnect
	pongWithin       = 5 * time.Second
	defaultKeepalive = 10 * time.Second
	minKeepalive     = 10 // seconds
	maxKeepalive     = 600
)

// The codes with which Twitch closes a socket.
const (
	closeInbound  websocket.StatusCode = 4001 // the client sent something
	closeNoPong   websocket.StatusCode = 4002 // the client didn't answer a ping
	closeUnused   websocket.StatusCode = 4003 // no subscription in time
	closeNotMoved websocket.StatusCode = 4004 // the client stayed after session_reconnect
	closeBadMove  websocket.StatusCode = 4007 // the reconnect URL is unknown or has expired
)

// eventSub holds the EventSub sessions. The Server's mu guards it.
type eventSub struct {
	*state
	sessions   map[string]*eventSession // by ID
	sockets    map[*eventSocket]bool    // open sockets
	opened     int                      // total number of sockets
	subscribed int                      // total; used to number subscriptions
	framed     int                      // total; used to number frames
	moderated  int                      // total; used to number moderation events
	closes     []int                    // codes with which sockets were closed
	faults     eventFaults
}

// eventSession owns subscriptions. It outlives its socket if the client moves to another socket.
type eventSession struct {
	id            string
	began         time.Time
	keepalive     time.Duration
	socket        *eventSocket // receives the events; nil between two sockets
	challenge     string       // from the reconnect URL; empty if there is none
	moveBy        time.Time    // when the reconnect URL expires
	subscriptions []*eventSubscription
}

// EventSubURL returns the address of EventSub.
func (s *eventSub) EventSubURL() string { return "ws://" + s.web.Addr().String() + "/ws" }

// serveEventSub serves one socket from the handshake to its end.
func (s *eventSub) serveEventSub(w http.ResponseWriter, r *http.Request) {
	s.wait.Add(1) // net/http doesn't track hijacked connections
	defer s.wait.Done()
	keepalive, ok := keepaliveOf(r.URL.Query())
	if !ok {
		http.Error(w, "keepalive_timeout_seconds must be from 10 to 600", http.StatusBadRequest)
		return
	}
	ctx, cut := context.WithCancel(context.Background())
	defer cut()
	e := &eventSocket{srv: s, cut: cut, keepalive: keepalive, said: make(chan struct{}, 1), leave: make(chan time.Time, 1)}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{OnPingReceived: e.forbidPing})
	if err != nil {
		return // Accept has answered the client
	}
	defer conn.CloseNow()
	e.conn = conn
	if !s.welcome(e, r.URL.Query()) {
		return
	}
	defer s.removeSocket(e)
	s.wait.Go(func() { e.supervise(ctx) })
	if _, _, err := conn.Reader(ctx); err == nil {
		e.close(closeInbound, "client sent inbound traffic")
	}
}

// keepaliveOf returns the maximum silence on a socket.
func keepaliveOf(query url.Values) (time.Duration, bool) {
	asked := query.Get("keepalive_timeout_seconds")
	if asked == "" {
		return defaultKeepalive, true
	}
	seconds, err := strconv.Atoi(asked)
	return time.Duration(seconds) * time.Second, err == nil && seconds >= minKeepalive && seconds <= maxKeepalive
}

// welcome assigns a session to a socket, either a new session or the one in the reconnect URL. It
// then sends the welcome. While a client moves, events go to its old socket until the new one is
// welcomed.
func (s *eventSub) welcome(e *eventSocket, query url.Values) bool {
	s.mu.Lock()
	session := s.sessionFor(query)
	if session == nil || s.closed {
		s.mu.Unlock()
		e.close(closeBadMove, "invalid reconnect")
		return false
	}
	s.opened++
	s.sockets[e] = true
	e.session, session.keepalive = session, cmp.Or(session.keepalive, e.keepalive)
	e.keepalive = session.keepalive
	if session.socket == nil {
		// Set the socket before the welcome, because the client may subscribe as soon as it is
		// welcomed.
		session.socket = e
	}
	text := s.frame("session_welcome", session.payload("connected", e.keepalive, ""))
	stalled := takeOne(&s.faults.stalledWelcomes)
	s.mu.Unlock()

	if stalled {
		return true
	}
	e.send(text)

	s.mu.Lock()
	defer s.mu.Unlock()
	if query.Has("challenge") && session.challenge == query.Get("challenge") {
		// From now on, events go to this socket. The challenge differs if another socket has used
		// the reconnect URL since.
		session.socket, session.challenge = e, ""
	}
	s.notifyChanged()
	return true
}

// sessionFor returns the session that a client requests, or nil if its reconnect URL isn't valid.
// The caller holds mu.
func (s *eventSub) sessionFor(query url.Values) *eventSession {
	now := s.opts.Now()
	if !query.Has("challenge") {
		session := &eventSession{id: fmt.Sprintf("fakesession%d", s.opened+1), began: now}
		s.sessions[session.id] = session
		return session
	}
	session := s.sessions[query.Get("id")]
	if session == nil || session.challenge != query.Get("challenge") || !session.mayMove(now) {
		return nil
	}
	return session
}

// mayMove reports whether the session's reconnect URL is valid.
func (session *eventSession) mayMove(now time.Time) bool {
	return session.challenge != "" && now.Before(session.moveBy)
}

// removeSocket removes a socket. It also removes the session unless the client may still move.
func (s *eventSub) removeSocket(e *eventSocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, e)
	if e.session.socket == e {
		e.session.socket = nil
	}
	now := s.opts.Now()
	maps.DeleteFunc(s.sessions, func(_ string, session *eventSession) bool { return session.socket == nil && !session.mayMove(now) })
	s.notifyChanged()
}

// payload returns the payload of a frame about the session.
func (session *eventSession) payload(status string, keepalive time.Duration, reconnectURL string) map[string]any {
	about := map[string]any{
		"id": session.id, "status": status, "connected_at": session.began, "keepalive_timeout_seconds": nil, "reconnect_url": nil,
	}
	if keepalive > 0 {
		about["keepalive_timeout_seconds"] = int(keepalive.Seconds())
	}
	if reconnectURL != "" {
		about["reconnect_url"] = reconnectURL
	}
	return map[string]any{"session": about}
}

// EventSubSockets returns the number of open EventSub sockets.
func (s *eventSub) EventSubSockets() int { return len(s.openSockets()) }

// EventSubConnections returns how many EventSub sockets were opened since the start.
func (s *eventSub) EventSubConnections() int { return read(s.state, &s.opened) }

// EventSubCloses returns the codes with which the server closed EventSub sockets, oldest first.
func (s *eventSub) EventSubCloses() []int { return copyList(s.state, &s.closes) }
