package twitch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Twitch's bounds on slow mode.
const (
	minSlow = 3 * time.Second
	maxSlow = 2 * time.Minute
)

// SlowMode says whether users have to wait between two messages. Those who keep order and VIPs don't.
type SlowMode struct {
	On   bool
	Wait time.Duration // 3 s to 2 min; without meaning where it is off
}

// chatSettings is slow mode as Twitch has it. A slow mode that is off has no time.
type chatSettings struct {
	On   bool   `json:"slow_mode"`
	Wait *int64 `json:"slow_mode_wait_time"`
}

// ChatSettings returns how the channel's slow mode is set: one that is on never lets wait for less than can be set. It doesn't wait behind moderation.
func (h *Helix) ChatSettings(ctx context.Context, room Room) (SlowMode, error) {
	query := url.Values{"broadcaster_id": {room.BroadcasterID}}
	r := request{op: "read chat settings", method: http.MethodGet, url: h.baseURL() + "/chat/settings?" + query.Encode(), essential: true}
	if err := r.needs("broadcaster", room.BroadcasterID); err != nil {
		return SlowMode{}, err
	}
	var told struct {
		Data []chatSettings `json:"data"`
	}
	if err := h.ask(ctx, r, &told); err != nil {
		return SlowMode{}, err
	}
	if len(told.Data) != 1 {
		return SlowMode{}, fmt.Errorf("%s: %w (it told about %d channels)", r.op, ErrRejected, len(told.Data))
	}
	s := SlowMode{On: told.Data[0].On}
	if seconds := told.Data[0].Wait; seconds != nil {
		s.Wait = time.Duration(*seconds) * time.Second
	}
	if s.On {
		s.Wait = max(s.Wait, minSlow)
	}
	return s, nil
}

// SetSlowMode makes users wait between two messages, in whole seconds, rounded up, or no more. It doesn't wait behind moderation.
// The error is ErrUnsafe for a wait of less than 3 s or more than 2 min.
func (h *Helix) SetSlowMode(ctx context.Context, room Room, s SlowMode) error {
	r := request{op: "set slow mode", method: http.MethodPatch, url: h.baseURL() + "/chat/settings?" + room.query().Encode(), essential: true}
	set := chatSettings{On: s.On}
	if s.On {
		if s.Wait < minSlow || s.Wait > maxSlow {
			return fmt.Errorf("%s: %w: slow mode lets wait from 3s to 2m, not %s", r.op, ErrUnsafe, s.Wait)
		}
		seconds := int64((s.Wait + time.Second - 1) / time.Second)
		set.Wait = &seconds
	}
	r.body = set
	a, err := h.moderate(ctx, r, room, room.BroadcasterID)
	if err == nil && !a.ok() {
		return r.refused(ErrRejected, a)
	}
	return err
}
