package faketwitch

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// eventFaults are the faults of EventSub. The Server's mu guards them.
type eventFaults struct {
	stalled         bool
	stalledWelcomes int
}

// StallEventSub makes EventSub send neither events nor keepalives while on is true.
func (s *eventSub) StallEventSub(on bool) { s.locked(func() { s.faults.stalled = on }) }

// StallWelcomes makes the server send no welcome to the next n EventSub sockets.
func (s *eventSub) StallWelcomes(n int) { s.locked(func() { s.faults.stalledWelcomes = n }) }

// ReconnectEventSub asks the EventSub clients to move to another address, as Twitch does before it
// removes a server. Clients with a pending request aren't asked again. A client's events go to its
// old socket until the new one is welcomed. If the client keeps its old socket, the server closes
// that socket after 30 s.
func (s *eventSub) ReconnectEventSub() {
	s.mu.Lock()
	var notices []eventNotice
	for _, session := range s.sessions {
		if session.socket == nil || session.mayMove(s.opts.Now()) {
			continue
		}
		s.framed++
		session.challenge, session.moveBy = fmt.Sprintf("challenge%d", s.framed), s.opts.Now().Add(moveWithin)
		url := fmt.Sprintf("%s?challenge=%s&id=%s", s.EventSubURL(), session.challenge, session.id)
		session.socket.setMoveDeadline(session.moveBy)
		notices = append(notices, eventNotice{session.socket, s.frame("session_reconnect", session.payload("reconnecting", 0, url))})
	}
	s.mu.Unlock()
	deliver(notices)
}

// SpoilReconnects invalidates the reconnect URLs sent so far.
func (s *eventSub) SpoilReconnects() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		session.moveBy = session.began
	}
}

// DropEventSub cuts all EventSub connections.
func (s *eventSub) DropEventSub() { s.locked(s.cut) }

func (s *eventSub) cut() {
	for socket := range s.sockets {
		socket.cut()
	}
}

// SendEventSub sends raw texts to every EventSub client.
func (s *eventSub) SendEventSub(texts ...string) {
	for _, socket := range s.openSockets() {
		for _, text := range texts {
			socket.send(text)
		}
	}
}

// RevokeSubscriptions ends the subscriptions of a kind in a channel and sends the client the
// reason: "authorization_revoked", "moderator_removed", "user_removed", "version_removed".
func (s *eventSub) RevokeSubscriptions(channelLogin, kind, why string) {
	s.mu.Lock()
	notices := s.revoke(why, func(sub *eventSubscription) bool {
		return sub.kind == kind && s.channelByID(sub.condition["broadcaster_user_id"]).login == channelLogin
	})
	s.mu.Unlock()
	deliver(notices)
}

// revoke ends the matching subscriptions and returns the notices for their clients. The caller
// holds mu.
func (s *eventSub) revoke(why string, match func(*eventSubscription) bool) (notices []eventNotice) {
	for _, session := range s.sessions {
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
	s.notifyChanged()
	return notices
}

// deliver sends notices in order. It blocks while a client doesn't read.
func deliver(notices []eventNotice) {
	for _, n := range notices {
		n.to.send(n.text)
	}
}

// PingEventSub pings all EventSub clients, as Twitch does now and then. It closes the sockets of
// clients that don't answer.
func (s *eventSub) PingEventSub() {
	for _, e := range s.openSockets() {
		ctx, cancel := context.WithTimeout(context.Background(), pongWithin)
		if e.conn.Ping(ctx) != nil {
			e.close(closeNoPong, "ping pong failed")
		}
		cancel()
	}
}

func (s *eventSub) openSockets() []*eventSocket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.sockets))
}
