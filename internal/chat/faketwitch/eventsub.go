package faketwitch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// Twitch's bounds for EventSub over WebSocket.
const (
	subscribeWithin  = 10 * time.Second // after the welcome
	moveWithin       = 30 * time.Second // after session_reconnect
	pongWithin       = 5 * time.Second
	defaultKeepalive = 10 * time.Second
	minKeepalive     = 10 // seconds
	maxKeepalive     = 600
)

// The codes that Twitch closes a socket with.
const (
	closeInbound  websocket.StatusCode = 4001 // the client sent something
	closeNoPong   websocket.StatusCode = 4002 // the client didn't answer a ping
	closeUnused   websocket.StatusCode = 4003 // no subscription in time
	closeNotMoved websocket.StatusCode = 4004 // the client stayed after session_reconnect
	closeBadMove  websocket.StatusCode = 4007 // the reconnect URL isn't valid (any more)
)

// eventSub is the sessions of EventSub. The Server's mu guards it.
type eventSub struct {
	sessions   map[string]*eventSession // by ID
	sockets    map[*eventSocket]bool    // all that are open
	opened     int                      // sockets ever
	subscribed int                      // subscriptions ever; numbers them
	framed     int                      // frames ever; numbers them
	moderated  int                      // moderation events ever; numbers them
	closes     []int                    // the codes that sockets were closed with
	faults     eventFaults
}

// eventSession is what subscriptions belong to. It outlives a socket where the client moves on to another one.
type eventSession struct {
	id            string
	began         time.Time
	keepalive     time.Duration
	socket        *eventSocket // the one that events go to; nil between two
	challenge     string       // of the reconnect URL; empty when there is none
	moveBy        time.Time    // until when that is valid
	subscriptions []*eventSubscription
}

// EventSubURL is where EventSub listens.
func (s *Server) EventSubURL() string { return "ws://" + s.web.Addr().String() + "/ws" }

// eventSubRoutes are where sockets are opened, and where subscriptions are made.
func (s *Server) eventSubRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /ws", s.serveEventSub)
	mux.HandleFunc("POST /helix/eventsub/subscriptions", s.serveHelix("", s.createSubscription))
	mux.HandleFunc("GET /helix/eventsub/subscriptions", s.serveHelix("", s.getSubscriptions))
	mux.HandleFunc("DELETE /helix/eventsub/subscriptions", s.serveHelix("", s.deleteSubscription))
}

// serveEventSub is one socket, from the handshake to its end.
func (s *Server) serveEventSub(w http.ResponseWriter, r *http.Request) {
	s.wait.Add(1) // net/http forgets a connection that becomes a WebSocket
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
		return // the client has been told
	}
	defer conn.CloseNow()
	e.conn = conn
	if !s.welcome(e, r.URL.Query()) {
		return
	}
	defer s.bidFarewell(e)
	s.wait.Go(func() { e.live(ctx) })
	if _, _, err := conn.Reader(ctx); err == nil {
		e.close(closeInbound, "client sent inbound traffic")
	}
}

// keepaliveOf is how long silence may last on a socket.
func keepaliveOf(query url.Values) (time.Duration, bool) {
	asked := query.Get("keepalive_timeout_seconds")
	if asked == "" {
		return defaultKeepalive, true
	}
	seconds, err := strconv.Atoi(asked)
	return time.Duration(seconds) * time.Second, err == nil && seconds >= minKeepalive && seconds <= maxKeepalive
}

// welcome gives a socket its session, a new one or that of the reconnect URL, and greets the client. Until a client that moves is greeted, its
// events go to the old socket.
func (s *Server) welcome(e *eventSocket, query url.Values) bool {
	s.mu.Lock()
	session := s.sessionFor(query)
	if session == nil || s.closed {
		s.mu.Unlock()
		e.close(closeBadMove, "invalid reconnect")
		return false
	}
	s.events.opened++
	s.events.sockets[e] = true
	e.session, session.keepalive = session, cmp.Or(session.keepalive, e.keepalive)
	e.keepalive = session.keepalive
	if session.socket == nil {
		session.socket = e // nobody else is to hear anything; and the client may subscribe as soon as it is greeted
	}
	text := s.frame("session_welcome", session.payload("connected", e.keepalive, ""))
	stalled := s.events.faults.takeStalledWelcome()
	s.mu.Unlock()

	if stalled {
		return true
	}
	e.send(text)

	s.mu.Lock()
	defer s.mu.Unlock()
	if query.Has("challenge") && session.challenge == query.Get("challenge") { // who was greeted may have been told to move on again, or have done so
		session.socket, session.challenge = e, ""
	}
	s.tellChanged()
	return true
}

// sessionFor returns the session that a client asks for; nil where its reconnect URL isn't valid. The caller holds mu.
func (s *Server) sessionFor(query url.Values) *eventSession {
	now := s.opts.Now()
	if !query.Has("challenge") {
		session := &eventSession{id: fmt.Sprintf("fakesession%d", s.events.opened+1), began: now}
		s.events.sessions[session.id] = session
		return session
	}
	session := s.events.sessions[query.Get("id")]
	if session == nil || session.challenge != query.Get("challenge") || !session.mayMove(now) {
		return nil
	}
	return session
}

// mayMove reports whether the session's reconnect URL is valid.
func (session *eventSession) mayMove(now time.Time) bool {
	return session.challenge != "" && now.Before(session.moveBy)
}

// bidFarewell forgets a socket, and its session, too, unless the client may still move on.
func (s *Server) bidFarewell(e *eventSocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.events.sockets, e)
	if e.session.socket == e {
		e.session.socket = nil
	}
	now := s.opts.Now()
	maps.DeleteFunc(s.events.sessions, func(_ string, session *eventSession) bool { return session.socket == nil && !session.mayMove(now) })
	s.tellChanged()
}

// payload is what a frame about the session carries.
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

// EventSubSockets returns how many sockets of EventSub are open.
func (s *Server) EventSubSockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events.sockets)
}

// EventSubConnections returns how many sockets of EventSub were opened since the start.
func (s *Server) EventSubConnections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events.opened
}

// EventSubCloses returns the codes that the server closed sockets of EventSub with, oldest first.
func (s *Server) EventSubCloses() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events.closes)
}
