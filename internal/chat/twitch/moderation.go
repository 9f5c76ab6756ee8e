package twitch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
)

// maxReason is how many characters of a reason Twitch takes.
const maxReason = 500

// Room is a channel and the moderator who acts there, who has to be the token's user.
type Room struct {
	BroadcasterID string
	ModeratorID   string
}

// DeleteMessage removes one message. A message that is gone already counts as removed. The error is ErrProtected for a message of a moderator
// or of the broadcaster, ErrUnsafe where an ID is missing: without a message ID Twitch would clear the whole chat.
func (h *Helix) DeleteMessage(ctx context.Context, room Room, messageID string) error {
	query := room.query()
	query.Set("message_id", messageID)
	r := request{
		op:     "delete message",
		method: http.MethodDelete,
		url:    h.baseURL() + "/moderation/chat?" + query.Encode(),
	}
	a, err := h.moderate(ctx, r, room, messageID)
	switch {
	case err != nil:
		return err
	case a.ok() || a.status == http.StatusNotFound:
		return nil
	case a.status == http.StatusBadRequest:
		return r.refused(ErrProtected, a)
	}
	return r.refused(ErrRejected, a)
}

// WarnUser warns a user, who can't write until they acknowledge it. The reason, which they see, is cut to 500 characters and may not be empty.
func (h *Helix) WarnUser(ctx context.Context, room Room, userID, reason string) error {
	type warning struct {
		UserID string `json:"user_id"`
		Reason string `json:"reason"`
	}
	r := h.sanction("warn", "/moderation/warnings", room, warning{userID, cut(reason, maxReason)})
	if strings.TrimSpace(reason) == "" {
		return fmt.Errorf("%s: %w: a warning needs a reason", r.op, ErrUnsafe)
	}
	return settled(h.impose(ctx, r, room, userID))
}

// TimeoutUser keeps a user from writing for a length of 1 s to 14 days, rounded up to whole seconds, and removes what they wrote. A user who is
// banned already counts as timed out. The error is ErrUnsafe for another length: Twitch would take a missing one for a ban.
func (h *Helix) TimeoutUser(ctx context.Context, room Room, userID string, length time.Duration, reason string) error {
	return settled(h.timeOut(ctx, room, userID, length, reason, nil))
}

// timeOut is TimeoutUser unless that is needless; it tells of a user who is banned already by errBanned.
func (h *Helix) timeOut(ctx context.Context, room Room, userID string, length time.Duration, reason string, unless func() bool) error {
	type timeout struct {
		UserID   string `json:"user_id"`
		Duration int64  `json:"duration"`
		Reason   string `json:"reason"`
	}
	seconds := int64((length + time.Second - 1) / time.Second)
	r := h.sanction("time out", "/moderation/bans", room, timeout{userID, seconds, cut(reason, maxReason)})
	r.unless = unless
	if length < chatguard.MinTimeout || length > chatguard.MaxTimeout {
		return fmt.Errorf("%s: %w: a timeout lasts from 1s to 14 days, not %s", r.op, ErrUnsafe, length)
	}
	return h.impose(ctx, r, room, userID)
}

// BanUser keeps a user from writing for good, and removes what they wrote. A user who is banned already counts as banned.
func (h *Helix) BanUser(ctx context.Context, room Room, userID, reason string) error {
	return settled(h.ban(ctx, room, userID, reason, nil))
}

// ban is BanUser unless that is needless; it tells of a user who is banned already by errBanned.
func (h *Helix) ban(ctx context.Context, room Room, userID, reason string, unless func() bool) error {
	type ban struct {
		UserID string `json:"user_id"`
		Reason string `json:"reason"`
	}
	r := h.sanction("ban", "/moderation/bans", room, ban{userID, cut(reason, maxReason)})
	r.unless = unless
	return h.impose(ctx, r, room, userID)
}

// settled is the error of a sanction. A user who is banned already has had all of them.
func settled(err error) error {
	if errors.Is(err, errBanned) {
		return nil
	}
	return err
}

// UnbanUser lifts a timeout or a ban. A user who can write already counts as unbanned. It doesn't wait behind moderation.
func (h *Helix) UnbanUser(ctx context.Context, room Room, userID string) error {
	query := room.query()
	query.Set("user_id", userID)
	r := request{op: "unban user", method: http.MethodDelete, url: h.baseURL() + "/moderation/bans?" + query.Encode(), essential: true}
	a, err := h.moderate(ctx, r, room, userID)
	switch {
	case err != nil:
		return err
	case a.ok(), a.status == http.StatusBadRequest && strings.Contains(a.says(), "not banned"):
		return nil
	}
	return r.refused(ErrRejected, a)
}

// sanction is the request that does something to a user rather than to a message.
func (h *Helix) sanction(verb, path string, room Room, data any) request {
	return request{
		op:     verb + " user",
		method: http.MethodPost,
		url:    h.baseURL() + path + "?" + room.query().Encode(),
		body:   map[string]any{"data": data},
	}
}

// impose sends a sanction and understands Twitch's answer, which is errBanned for a user who is banned already.
func (h *Helix) impose(ctx context.Context, r request, room Room, userID string) error {
	a, err := h.moderate(ctx, r, room, userID)
	switch {
	case err != nil:
		return err
	case a.ok():
		return nil
	case a.status == http.StatusBadRequest && strings.Contains(a.says(), "already banned"):
		return r.refused(errBanned, a)
	case a.status == http.StatusBadRequest && strings.Contains(a.says(), "may not be"):
		return r.refused(ErrProtected, a)
	}
	return r.refused(ErrRejected, a)
}

// moderate sends a request that changes a chat, once none of the IDs in it is missing.
func (h *Helix) moderate(ctx context.Context, r request, room Room, target string) (answer, error) {
	if err := r.needs("broadcaster", room.BroadcasterID, "moderator", room.ModeratorID, "target", target); err != nil {
		return answer{}, err
	}
	return h.do(ctx, r)
}

// needs returns an ErrUnsafe where an ID is none. It is given names and IDs in turn.
func (r request) needs(namesAndIDs ...string) error {
	for pair := range slices.Chunk(namesAndIDs, 2) {
		if name, id := pair[0], pair[1]; !isID(id) {
			return fmt.Errorf("%s: %w: the %s's ID is %q", r.op, ErrUnsafe, name, cut(id, 100))
		}
	}
	return nil
}

func (r Room) query() url.Values {
	return url.Values{"broadcaster_id": {r.BroadcasterID}, "moderator_id": {r.ModeratorID}}
}

// isID reports whether s can be an ID: visible ASCII, and something at all. A blank one might be as good as none to the server.
func isID(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}
