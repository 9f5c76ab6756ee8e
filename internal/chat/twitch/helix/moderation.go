package helix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/penalties"
)

// maxReason is the maximum length of a reason, in characters.
const maxReason = 500

// Room is a channel and the moderator who acts there. The moderator must be the token's user.
type Room struct {
	BroadcasterID string
	ModeratorID   string
}

// DeleteMessage removes one message. It succeeds if the message is already gone. The error is
// ErrProtected if the author is a moderator or the broadcaster. It is ErrUnsafe if an ID is
// missing: without a message ID Twitch would clear the whole chat.
func (h *Client) DeleteMessage(ctx context.Context, room Room, messageID string) error {
	query := room.query()
	query.Set("message_id", messageID)
	r := request{
		Request: api.Request{
			Op:     "delete message",
			Method: http.MethodDelete,
			URL:    "/moderation/chat?" + query.Encode(),
		},
	}
	a, err := h.moderate(ctx, r, room, messageID)
	switch {
	case err != nil:
		return err
	case a.OK() || a.Status == http.StatusNotFound:
		return nil
	case a.Status == http.StatusBadRequest && strings.Contains(a.Says(), "messages"): // of the broadcaster or a moderator
		return r.Refused(ErrProtected, a)
	}
	return r.Refused(twitch.ErrRejected, a)
}

// WarnUser warns a user, who can't write until they acknowledge it. The reason is visible to the
// user, must not be empty, and is cut to 500 characters.
func (h *Client) WarnUser(ctx context.Context, room Room, userID, reason string) error {
	type warning struct {
		UserID string `json:"user_id"`
		Reason string `json:"reason"`
	}
	r := userRequest("warn", "/moderation/warnings", room, warning{userID, hostile.Truncate(reason, maxReason)})
	r.limit = channelLimit{warningLimit, room.BroadcasterID, "warnings"}
	if strings.TrimSpace(reason) == "" {
		return fmt.Errorf("%s: %w: a warning needs a reason", r.Op, twitch.ErrUnsafe)
	}
	return ignoreBanned(h.impose(ctx, r, room, userID))
}

// timeOut prevents a user from writing for a duration, and removes their messages. The duration
// must be 1 s to 14 days, and is rounded up to whole seconds. For any other duration, the error is
// ErrUnsafe, because Twitch would treat a missing duration as a ban. If the user is already banned,
// the error is ErrBanned.
func (h *Client) timeOut(ctx context.Context, room Room, userID string, length time.Duration, reason string, how sending) error {
	type timeout struct {
		UserID   string `json:"user_id"`
		Duration int64  `json:"duration"`
		Reason   string `json:"reason"`
	}
	seconds := int64((length + time.Second - 1) / time.Second)
	r := userRequest("time out", "/moderation/bans", room, timeout{userID, seconds, hostile.Truncate(reason, maxReason)})
	r.sending, r.limit = how, channelLimit{sanctionLimit, room.BroadcasterID, "timeouts"}
	if length < penalties.MinTimeout || length > penalties.MaxTimeout {
		return fmt.Errorf("%s: %w: a timeout lasts from 1s to 14 days, not %s", r.Op, twitch.ErrUnsafe, length)
	}
	return h.impose(ctx, r, room, userID)
}

// ban bans a user permanently and removes their messages. If the user is already banned, the error
// is ErrBanned.
func (h *Client) ban(ctx context.Context, room Room, userID, reason string, how sending) error {
	type ban struct {
		UserID string `json:"user_id"`
		Reason string `json:"reason"`
	}
	r := userRequest("ban", "/moderation/bans", room, ban{userID, hostile.Truncate(reason, maxReason)})
	r.sending, r.limit = how, channelLimit{sanctionLimit, room.BroadcasterID, "bans"}
	return h.impose(ctx, r, room, userID)
}

// ignoreBanned returns the error of a sanction, or nil if the user was already banned, because a
// ban covers every sanction.
func ignoreBanned(err error) error {
	if errors.Is(err, ErrBanned) {
		return nil
	}
	return err
}

// UnbanUser lifts a timeout or a ban. If there is none, the error is chat.ErrNotSilenced, unless an
// earlier try without an answer may have lifted it. It doesn't wait behind penalties.
func (h *Client) UnbanUser(ctx context.Context, room Room, userID string) error {
	query := room.query()
	query.Set("user_id", userID)
	r := request{
		Request: api.Request{Op: "unban user", Method: http.MethodDelete, URL: "/moderation/bans?" + query.Encode()},
		sending: sending{essential: true},
		limit:   channelLimit{sanctionLimit, room.BroadcasterID, "unbans"},
	}
	a, err := h.moderate(ctx, r, room, userID)
	switch {
	case err != nil:
		return err
	case a.OK():
		return nil
	case a.Status == http.StatusBadRequest && strings.Contains(a.Says(), "not banned"):
		if a.Unsure {
			return nil
		}
		return r.Refused(chat.ErrNotSilenced, a)
	}
	return r.Refused(twitch.ErrRejected, a)
}

// userRequest returns a request that acts on a user rather than on a message.
func userRequest(verb, path string, room Room, data any) request {
	return request{
		Request: api.Request{
			Op:     verb + " user",
			Method: http.MethodPost,
			URL:    path + "?" + room.query().Encode(),
			Body:   map[string]any{"data": data},
		},
	}
}

// impose sends a sanction and interprets Twitch's answer. It returns ErrBanned if the user is
// already banned.
func (h *Client) impose(ctx context.Context, r request, room Room, userID string) error {
	a, err := h.moderate(ctx, r, room, userID)
	switch {
	case err != nil:
		return err
	case a.OK():
		return nil
	case a.Status == http.StatusBadRequest && strings.Contains(a.Says(), "already banned"):
		return r.Refused(ErrBanned, a)
	case a.Status == http.StatusBadRequest && strings.Contains(a.Says(), "may not be"):
		return r.Refused(ErrProtected, a)
	}
	return r.Refused(twitch.ErrRejected, a)
}

// moderate sends a request that changes a chat, unless an ID in it is missing.
func (h *Client) moderate(ctx context.Context, r request, room Room, target string) (api.Answer, error) {
	if err := r.checkIDs("broadcaster", room.BroadcasterID, "moderator", room.ModeratorID, "target", target); err != nil {
		return api.Answer{}, err
	}
	r.Forbidden = twitch.ErrNotModerator
	return h.do(ctx, r)
}

// checkIDs returns ErrUnsafe if an ID is invalid. Its arguments alternate between names and IDs.
func (r request) checkIDs(namesAndIDs ...string) error {
	for pair := range slices.Chunk(namesAndIDs, 2) {
		if name, id := pair[0], pair[1]; !twitch.IsID(id) {
			return fmt.Errorf("%s: %w: the %s's ID is %q", r.Op, twitch.ErrUnsafe, name, hostile.Truncate(id, 100))
		}
	}
	return nil
}

func (r Room) query() url.Values {
	return url.Values{"broadcaster_id": {r.BroadcasterID}, "moderator_id": {r.ModeratorID}}
}
