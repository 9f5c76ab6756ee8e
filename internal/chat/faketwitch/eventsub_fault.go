package faketwitch

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// eventFaults is what EventSub is to do wrong. The Server's mu guards it.
type eventFaults struct {
	stalled         bool
	stalledWelcomes int
}

func (f *eventFaults) takeStalledWelcome() bool {
	if f.stalledWelcomes == 0 {
		return false
	}
	f.stalledWelcomes--
	return true
}

// StallEventSub lets EventSub say nothing any more, neither events nor keepalives, or speak again.
func (s *Server) StallEventSub(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.faults.stalled = on
}

// StallWelcomes lets the next n sockets of EventSub wait for a welcome that never comes.
func (s *Server) StallWelcomes(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.faults.stalledWelcomes = n
}

// ReconnectEventSub tells the clients of EventSub to move on to another address, as Twitch does before it takes a server away; those that were told
// and haven't yet aren't told again. Their events go to the old sockets until the new ones are welcomed; who has stayed 30 s later is closed.
func (s *Server) ReconnectEventSub() {
	s.mu.Lock()
	var notices []eventNotice
	for _, session := range s.events.sessions {
		if session.socket == nil || session.mayMove(s.opts.Now()) {
			continue
		}
		s.events.framed++
		session.challenge, session.moveBy = fmt.Sprintf("challenge%d", s.events.framed), s.opts.Now().Add(moveWithin)
		url := fmt.Sprintf("%s?challenge=%s&id=%s", s.EventSubURL(), session.challenge, session.id)
		session.socket.leaveBy(session.moveBy)
		notices = append(notices, eventNotice{session.socket, s.frame("session_reconnect", session.payload("reconnecting", 0, url))})
	}
	s.mu.Unlock()
	deliver(notices)
}

// SpoilReconnects makes the reconnect URLs that were given out void.
func (s *Server) SpoilReconnects() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.events.sessions {
		session.moveBy = session.began
	}
}

// DropEventSub cuts all connections to EventSub.
func (s *Server) DropEventSub() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.cut()
}

func (e *eventSub) cut() {
	for socket := range e.sockets {
		socket.cut()
	}
}

// SendEventSub sends texts as they are to every client of EventSub.
func (s *Server) SendEventSub(texts ...string) {
	for _, socket := range s.openSockets() {
		for _, text := range texts {
			socket.send(text)
		}
	}
}

// RevokeSubscriptions ends the subscriptions of a kind in a channel and tells the client why: "authorization_revoked", "moderator_removed",
// "user_removed", "version_removed".
func (s *Server) RevokeSubscriptions(channelLogin, kind, why string) {
	s.mu.Lock()
	notices := s.revoke(why, func(sub *eventSubscription) bool {
		return sub.kind == kind && s.channelByID(sub.condition["broadcaster_user_id"]).login == channelLogin
	})
	s.mu.Unlock()
	deliver(notices)
}

// revoke ends the subscriptions that match, and returns what to tell of that. The caller holds mu.
func (s *Server) revoke(why string, match func(*eventSubscription) bool) (notices []eventNotice) {
	for _, session := range s.events.sessions {
		session.subscriptions = slices.DeleteFunc(session.subscriptions, func(sub *eventSubscription) bool {
			if !match(sub) {
				return false
			}
			sub.status = why
			if session.socket != nil {
				notices = append(notices, eventNotice{session.socket, s.frameAt(s.opts.Now(), "revocation", "revocation-of-"+sub.id, sub, map[string]any{})})
			}
			return true
		})
	}
	s.tellChanged()
	return notices
}

// deliver sends notices, one after the other. It waits while a client doesn't read.
func deliver(notices []eventNotice) {
	for _, n := range notices {
		n.to.send(n.text)
	}
}

// PingEventSub asks all clients of EventSub whether they are there, and closes those that don't answer, as Twitch does every now and then.
func (s *Server) PingEventSub() {
	for _, e := range s.openSockets() {
		ctx, cancel := context.WithTimeout(context.Background(), pongWithin)
		if e.conn.Ping(ctx) != nil {
			e.close(closeNoPong, "ping pong failed")
		}
		cancel()
	}
}

func (s *Server) openSockets() []*eventSocket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.events.sockets))
}
