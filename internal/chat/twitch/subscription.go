package twitch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// What EventSub can tell of a channel.
const (
	kindChat     = "channel.chat.message"
	kindModerate = "channel.moderate"
)

// subscription is one kind of event in the channel with this ID.
type subscription struct{ kind, channelID string }

// errNotTold is a subscription that Twitch refuses: it doesn't say why.
var errNotTold = errors.New("Twitch doesn't let the bot be told of this")

// body is what to ask Twitch for, so that it tells a session of EventSub.
func (s subscription) body(sessionID, userID string) any {
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
	}{s.kind, "1", condition{BroadcasterID: s.channelID, UserID: userID}, transport{"websocket", sessionID}}
	if s.kind == kindModerate {
		asked.Version, asked.Condition = "2", condition{BroadcasterID: s.channelID, ModeratorID: userID}
	}
	return asked
}

// subscribe lets a session of EventSub be told of something in the name of the token's user, and returns the subscription's ID; an empty one where
// there was such a subscription already. The error is errNotTold where Twitch doesn't let it.
func (h *Helix) subscribe(ctx context.Context, s subscription, sessionID, userID string) (id string, err error) {
	r := request{
		op: "subscribe to " + s.kind, method: http.MethodPost, url: h.baseURL() + "/eventsub/subscriptions", body: s.body(sessionID, userID),
		essential: true, forbidden: errNotTold, lasting: true,
	}
	a, err := h.do(ctx, r)
	switch {
	case err != nil:
		return "", err
	case a.status == http.StatusConflict:
		return "", nil
	case !a.ok():
		return "", r.refused(ErrRejected, a)
	}
	var told struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := r.decode(a, &told); err != nil || len(told.Data) == 0 {
		return "", err
	}
	return told.Data[0].ID, nil
}

// unsubscribe ends a subscription. One that is gone already counts as ended.
func (h *Helix) unsubscribe(ctx context.Context, id string) error {
	r := request{
		op: "end a subscription", method: http.MethodDelete, url: h.baseURL() + "/eventsub/subscriptions?" + url.Values{"id": {id}}.Encode(),
		essential: true, forbidden: errNotTold,
	}
	a, err := h.do(ctx, r)
	if err == nil && !a.ok() && a.status != http.StatusNotFound {
		err = r.refused(ErrRejected, a)
	}
	return err
}
