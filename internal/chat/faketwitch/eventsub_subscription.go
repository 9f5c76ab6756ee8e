package faketwitch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// The kinds of events that this fake supports.
const (
	chatMessage     = "channel.chat.message"
	chatNotice      = "channel.chat.notification"
	channelModerate = "channel.moderate"
)

// Twitch's limits.
const (
	maxEventSockets  = 3   // sockets with subscriptions per user
	maxSubscriptions = 300 // subscriptions per socket
	maxEqual         = 3   // subscriptions of a kind with the same condition
	maxCost          = 10  // of all subscriptions of the account
)

// eventScopes contains the scopes that a kind of event needs: at least one scope of each group.
var eventScopes = map[string][][]string{
	chatMessage: {{"user:read:chat"}},
	chatNotice:  {{"user:read:chat"}},
	channelModerate: {
		{"moderator:read:blocked_terms", "moderator:manage:blocked_terms"},
		{"moderator:read:chat_settings", "moderator:manage:chat_settings"},
		{"moderator:read:unban_requests", "moderator:manage:unban_requests"},
		{"moderator:read:banned_users", scopeBan},
		{"moderator:read:chat_messages", scopeDelete},
		{"moderator:read:warnings", scopeWarn},
		{"moderator:read:moderators"},
		{"moderator:read:vips"},
	},
}

// readScopes are the scopes that all kinds of events together need, apart from the scopes for
// moderation requests.
var readScopes = []string{
	"user:read:chat", "moderator:read:blocked_terms", "moderator:read:unban_requests", "moderator:read:moderators", "moderator:read:vips",
}

// eventSubscription is a subscription to a kind of event in a channel.
type eventSubscription struct {
	id, kind, version string
	status            string
	condition         map[string]string
	session           *eventSession
	created           time.Time
	cost              int
}

// render returns the subscription in Twitch's format.
func (sub *eventSubscription) render() map[string]any {
	return map[string]any{
		"id": sub.id, "status": sub.status, "type": sub.kind, "version": sub.version, "cost": sub.cost, "condition": sub.condition, "created_at": sub.created,
		"transport": map[string]any{"method": "websocket", "session_id": sub.session.id, "connected_at": sub.session.began},
	}
}

// createSubscription handles POST /eventsub/subscriptions.
func (s *eventSub) createSubscription(c call) reply {
	var body struct {
		Type      string            `json:"type"`
		Version   string            `json:"version"`
		Condition map[string]string `json:"condition"`
		Transport struct {
			Method    string `json:"method"`
			SessionID string `json:"session_id"`
		} `json:"transport"`
	}
	if json.Unmarshal(c.body, &body) != nil || body.Transport.Method != "websocket" {
		return refusal(http.StatusBadRequest, "The request's body or its transport is not valid.")
	}
	session := s.sessions[body.Transport.SessionID]
	sub := &eventSubscription{kind: body.Type, version: body.Version, status: "enabled", condition: body.Condition, session: session, created: c.at, cost: s.opts.SubscriptionCost}
	if session == nil || session.socket == nil {
		return refusal(http.StatusBadRequest, "websocket transport session does not exist or has already disconnected")
	}
	if refusal := s.refusal(c, sub); refusal.status != 0 {
		return refusal
	}
	s.subscribed++
	sub.id = fmt.Sprintf("fa4e7817-5000-4000-8000-%012x", s.subscribed)
	session.subscriptions = append(session.subscriptions, sub)
	s.notifyChanged()
	return reply{status: http.StatusAccepted, body: s.listBody(sub)}
}

// refusal returns why a subscription is refused, or the zero reply if it is allowed.
func (s *eventSub) refusal(c call, sub *eventSubscription) reply {
	versions := map[string]string{chatMessage: "1", chatNotice: "1", channelModerate: "2"}
	user := sub.condition["user_id"]
	if sub.kind == channelModerate {
		user = sub.condition["moderator_user_id"]
	}
	room := s.channelByID(sub.condition["broadcaster_user_id"])
	switch {
	case sub.version == "" || versions[sub.kind] != sub.version:
		return refusal(http.StatusBadRequest, "The subscription type and version are not valid together.")
	case room == nil:
		return refusal(http.StatusBadRequest, "The condition names no broadcaster.")
	case user != c.user.id || !hasScopes(c.scopes, sub.kind) || sub.kind == channelModerate && !s.moderates(c.user, room):
		return refusal(http.StatusForbidden, "subscription missing proper authorization")
	case slices.ContainsFunc(sub.session.subscriptions, sub.isEqual):
		return refusal(http.StatusConflict, "subscription already exists")
	case len(sub.session.subscriptions) == 0 && s.usedSessions() >= maxEventSockets:
		return refusal(http.StatusTooManyRequests, "number of websocket transports limit exceeded")
	case len(sub.session.subscriptions) >= maxSubscriptions:
		return refusal(http.StatusTooManyRequests, "number of websocket subscriptions limit exceeded")
	case s.countWhere(sub.isEqual) >= maxEqual:
		return refusal(http.StatusTooManyRequests, "number of subscriptions with the same type and condition exceeded")
	case s.count("")*s.opts.SubscriptionCost+s.opts.SubscriptionCost > maxCost:
		return refusal(http.StatusTooManyRequests, "maximum total cost exceeded")
	}
	return reply{}
}

// hasScopes reports whether these scopes allow a kind of event.
func hasScopes(scopes []string, kind string) bool {
	return !slices.ContainsFunc(eventScopes[kind], func(group []string) bool {
		return !slices.ContainsFunc(group, func(scope string) bool { return slices.Contains(scopes, scope) })
	})
}

func (sub *eventSubscription) isEqual(other *eventSubscription) bool {
	return sub.kind == other.kind && maps.Equal(sub.condition, other.condition)
}

// usedSessions returns the number of sessions with subscriptions.
func (s *eventSub) usedSessions() (n int) {
	for _, session := range s.sessions {
		if len(session.subscriptions) > 0 {
			n++
		}
	}
	return n
}

// listBody returns the body of an answer with subscriptions.
func (s *eventSub) listBody(subs ...*eventSubscription) map[string]any {
	data, total := []any{}, s.count("")
	for _, sub := range subs {
		data = append(data, sub.render())
	}
	return map[string]any{"data": data, "total": total, "total_cost": total * s.opts.SubscriptionCost, "max_total_cost": maxCost, "pagination": map[string]any{}}
}

// getSubscriptions handles GET /eventsub/subscriptions. It lists all subscriptions, those of one
// type, or the one with an ID.
func (s *eventSub) getSubscriptions(c call) reply {
	var found []*eventSubscription
	for _, session := range s.sessions {
		for _, sub := range session.subscriptions {
			kind, id := c.query.Get("type"), c.query.Get("subscription_id")
			if (kind == "" || kind == sub.kind) && (id == "" || id == sub.id) {
				found = append(found, sub)
			}
		}
	}
	return reply{status: http.StatusOK, body: s.listBody(found...)}
}

// deleteSubscription handles DELETE /eventsub/subscriptions.
func (s *eventSub) deleteSubscription(c call) reply {
	id := c.query.Get("id")
	for _, session := range s.sessions {
		for i, sub := range session.subscriptions {
			if sub.id == id {
				session.subscriptions = slices.Delete(session.subscriptions, i, i+1)
				s.notifyChanged()
				return reply{status: http.StatusNoContent}
			}
		}
	}
	return refusal(http.StatusNotFound, "The subscription was not found.")
}

// EventSubscriptions returns the number of subscriptions of a kind: "channel.chat.message",
// "channel.moderate", or all if kind is empty.
func (s *eventSub) EventSubscriptions(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count(kind)
}

func (s *eventSub) count(kind string) int {
	return s.countWhere(func(sub *eventSubscription) bool { return kind == "" || sub.kind == kind })
}

// countWhere returns the number of subscriptions for which match returns true.
func (s *eventSub) countWhere(match func(*eventSubscription) bool) (n int) {
	for _, session := range s.sessions {
		for _, sub := range session.subscriptions {
			if match(sub) {
				n++
			}
		}
	}
	return n
}

// WaitSubscribed waits until there are at least n subscriptions. If ctx ends first, it returns the
// context's error.
func (s *eventSub) WaitSubscribed(ctx context.Context, n int) error {
	return s.waitUntil(ctx, func() bool { return s.count("") >= n })
}
