package helix

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// Kinds of events that EventSub reports for a channel.
const (
	KindChat     = "channel.chat.message"
	KindNotice   = "channel.chat.notification" // may have a user's text
	KindModerate = "channel.moderate"
)

// Subscription is one kind of event in the channel with this ID.
type Subscription struct{ Kind, ChannelID string }

// Errors of a subscription, for errors.Is.
var (
	// ErrSubscriptionDenied means that Twitch refuses a subscription without saying why.
	ErrSubscriptionDenied = errors.New("Twitch doesn't allow the bot this subscription")

	// ErrSubscriptionLimit means that Twitch's limit on subscriptions, their cost or connections is
	// used up. The limit is that of the account and the application.
	ErrSubscriptionLimit = errors.New("Twitch allows this account no more EventSub connections or subscriptions; end other programs that use the bot's account, or set transport to \"irc\"")

	// ErrSubscriptionElsewhere means that the subscription exists, but not for this session.
	ErrSubscriptionElsewhere = errors.New("Twitch says that this subscription exists, but doesn't list it for this connection; trying again")
)

// CanSubscribeLater reports whether a failed subscription may succeed later.
func CanSubscribeLater(err error) bool {
	return api.IsTemporary(err) || errors.Is(err, ErrSubscriptionLimit) || errors.Is(err, ErrSubscriptionElsewhere)
}

// body returns the request body for a subscription of an EventSub session.
func (s Subscription) body(sessionID, userID string) any {
	type condition struct {
		BroadcasterID string `json:"broadcaster_user_id"`
		UserID        string `json:"user_id,omitempty"`
		ModeratorID   string `json:"moderator_user_id,omitempty"`
	}
	type transport struct {
		Method    string `json:"method"`
		SessionID string `json:"session_id"`
	}
	asked := struct {
		Kind      string    `json:"type"`
		Version   string    `json:"version"`
		Condition condition `json:"condition"`
		Transport transport `json:"transport"`
	}{s.Kind, "1", condition{BroadcasterID: s.ChannelID, UserID: userID}, transport{"websocket", sessionID}}
	if s.Kind == KindModerate {
		asked.Version, asked.Condition = "2", condition{BroadcasterID: s.ChannelID, ModeratorID: userID}
	}
	return asked
}

// Subscribe subscribes an EventSub session to an event in the name of the token's user. It returns
// the subscription's ID, or an empty one if Twitch didn't send it.
func (h *Client) Subscribe(ctx context.Context, s Subscription, sessionID, userID string) (id string, err error) {
	r := request{
		Request: api.Request{
			Op:        "subscribe to " + s.Kind,
			Method:    http.MethodPost,
			URL:       "/eventsub/subscriptions",
			Body:      s.body(sessionID, userID),
			Forbidden: ErrSubscriptionDenied,
			Limited:   ErrSubscriptionLimit,
			Lasting:   true,
		},
		sending: sending{essential: true},
	}
	a, err := h.do(ctx, r)
	switch {
	case err != nil:
		return "", err
	case a.Status == http.StatusConflict: // an earlier try may have created the subscription
		id, err := h.findSubscription(ctx, s, sessionID)
		if err == nil && id == "" {
			err = r.Refused(ErrSubscriptionElsewhere, a)
		}
		return id, err
	case !a.OK():
		return "", r.Refused(twitch.ErrRejected, a)
	}
	var told struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := r.Decode(a, &told); err != nil || len(told.Data) == 0 {
		return "", err
	}
	return told.Data[0].ID, nil
}

// findSubscription returns the ID of a session's subscription, or "" if there is none.
func (h *Client) findSubscription(ctx context.Context, s Subscription, sessionID string) (id string, err error) {
	query := url.Values{"type": {s.Kind}}
	r := request{Request: api.Request{Op: "list subscriptions", Method: http.MethodGet}, sending: sending{essential: true}}
	type subscription struct {
		ID        string `json:"id"`
		Status    string `json:"status"`
		Condition struct {
			ChannelID string `json:"broadcaster_user_id"`
		} `json:"condition"`
		Transport struct {
			SessionID string `json:"session_id"`
		} `json:"transport"`
	}
	err = askAll(ctx, h, r, "/eventsub/subscriptions", query, func(sub subscription) (found bool) {
		if found = sub.Status == "enabled" && sub.Condition.ChannelID == s.ChannelID && sub.Transport.SessionID == sessionID; found {
			id = sub.ID
		}
		return found
	})
	return id, err
}

// Unsubscribe ends a subscription. It succeeds if the subscription no longer exists.
func (h *Client) Unsubscribe(ctx context.Context, id string) error {
	r := request{
		Request: api.Request{
			Op:        "end a subscription",
			Method:    http.MethodDelete,
			URL:       "/eventsub/subscriptions?" + url.Values{"id": {id}}.Encode(),
			Forbidden: ErrSubscriptionDenied,
		},
		sending: sending{essential: true},
	}
	a, err := h.do(ctx, r)
	if err == nil && !a.OK() && a.Status != http.StatusNotFound {
		err = r.Refused(twitch.ErrRejected, a)
	}
	return err
}
