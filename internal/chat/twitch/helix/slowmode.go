package helix

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// Twitch's limits on slow mode.
const (
	minSlowMode = 3 * time.Second
	maxSlowMode = 2 * time.Minute
)

// SlowMode is a channel's slow mode setting. Slow mode does not apply to moderators, the
// broadcaster and VIPs.
type SlowMode struct {
	On   bool
	Wait time.Duration // 3 s to 2 min; meaningless if On is false
}

// chatSettings is slow mode in Twitch's format. Wait is nil if slow mode is off.
type chatSettings struct {
	On   bool   `json:"slow_mode"`
	Wait *int64 `json:"slow_mode_wait_time"`
}

// ChatSettings returns the channel's slow mode. If it is on, Wait is at least the minimum that
// SetSlowMode accepts. The request doesn't wait behind penalties.
func (h *Client) ChatSettings(ctx context.Context, room Room) (SlowMode, error) {
	query := url.Values{"broadcaster_id": {room.BroadcasterID}}
	r := request{Request: api.Request{Op: "read chat settings", Method: http.MethodGet, URL: "/chat/settings?" + query.Encode()}, sending: sending{essential: true}}
	if err := r.checkIDs("broadcaster", room.BroadcasterID); err != nil {
		return SlowMode{}, err
	}
	var told struct {
		Data []chatSettings `json:"data"`
	}
	if err := h.ask(ctx, r, &told); err != nil {
		return SlowMode{}, err
	}
	if len(told.Data) != 1 {
		return SlowMode{}, fmt.Errorf("%s: %w (its answer has %d channels)", r.Op, twitch.ErrRejected, len(told.Data))
	}
	s := SlowMode{On: told.Data[0].On}
	if seconds := told.Data[0].Wait; seconds != nil {
		s.Wait = time.Duration(*seconds) * time.Second
	}
	if s.On {
		s.Wait = max(s.Wait, minSlowMode)
	}
	return s, nil
}

// SetSlowMode turns slow mode on or off. The wait is rounded up to whole seconds. The request
// doesn't wait behind penalties. The error is ErrUnsafe for a wait of less than 3 s or more than 2
// min.
func (h *Client) SetSlowMode(ctx context.Context, room Room, s SlowMode) error {
	r := request{Request: api.Request{Op: "set slow mode", Method: http.MethodPatch, URL: "/chat/settings?" + room.query().Encode()}, sending: sending{essential: true}}
	set := chatSettings{On: s.On}
	if s.On {
		if s.Wait < minSlowMode || s.Wait > maxSlowMode {
			return fmt.Errorf("%s: %w: slow mode must be 3s to 2m, not %s", r.Op, twitch.ErrUnsafe, s.Wait)
		}
		seconds := int64((s.Wait + time.Second - 1) / time.Second)
		set.Wait = &seconds
	}
	r.Body = set
	a, err := h.moderate(ctx, r, room, room.BroadcasterID)
	if err == nil && !a.OK() {
		return r.Refused(twitch.ErrRejected, a)
	}
	return err
}
