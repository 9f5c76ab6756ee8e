package helix

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/journal"
)

// chatSettings is Twitch's answer about a channel's chat settings.
type chatSettings struct {
	Data []journal.ChatModes `json:"data"`
}

// ChatSettings returns the modes of a channel's chat. Any token may read them. The request doesn't
// wait behind penalties.
func (h *Client) ChatSettings(ctx context.Context, room Room) (journal.ChatModes, error) {
	query := url.Values{"broadcaster_id": {room.BroadcasterID}}
	r := request{Request: api.Request{Op: "read chat settings", Method: http.MethodGet, URL: "/chat/settings?" + query.Encode()}, sending: sending{essential: true}}
	if err := r.checkIDs("broadcaster", room.BroadcasterID); err != nil {
		return journal.ChatModes{}, err
	}
	var told chatSettings
	if err := h.ask(ctx, r, &told); err != nil {
		return journal.ChatModes{}, err
	}
	if len(told.Data) != 1 {
		return journal.ChatModes{}, fmt.Errorf("%s: %w (its answer has %d channels)", r.Op, twitch.ErrRejected, len(told.Data))
	}
	return told.Data[0], nil
}

// SetChatSettings changes modes of a channel's chat, and returns all modes after the change; nil if
// Twitch doesn't say them. The request doesn't wait behind penalties. The error is ErrUnsafe for
// numbers beyond Twitch's limits.
func (h *Client) SetChatSettings(ctx context.Context, room Room, change journal.ChatModesChange) (*journal.ChatModes, error) {
	r := request{
		Request: api.Request{Op: "change chat settings", Method: http.MethodPatch, URL: "/chat/settings?" + room.query().Encode(), Body: change},
		sending: sending{essential: true},
	}
	if err := change.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", r.Op, twitch.ErrUnsafe, err)
	}
	a, err := h.moderate(ctx, r, room, room.BroadcasterID)
	if err == nil && !a.OK() {
		err = r.Refused(twitch.ErrRejected, a)
	}
	if err != nil {
		return nil, err
	}
	var told chatSettings
	if r.Decode(a, &told) != nil || len(told.Data) != 1 {
		return nil, nil // it is done nevertheless
	}
	return &told.Data[0], nil
}

// SetChatModes changes modes of a channel's chat, and returns all modes after the change; nil if
// Twitch doesn't say them.
func (m *Moderator) SetChatModes(ctx context.Context, channelID string, change journal.ChatModesChange) (*journal.ChatModes, error) {
	return m.Helix.SetChatSettings(ctx, m.room(channelID), change)
}

// SlowMode returns whether slow mode is on, and the minimum time between two messages of a user. If
// it is on, SetSlowMode accepts that time. Slow mode does not apply to moderators, the broadcaster
// and VIPs.
func (m *Moderator) SlowMode(ctx context.Context, channelID string) (on bool, wait time.Duration, err error) {
	modes, err := m.Helix.ChatSettings(ctx, m.room(channelID))
	if modes.SlowMode {
		wait = time.Duration(max(modes.SlowModeWait, journal.MinSlowModeWait)) * time.Second
	}
	return modes.SlowMode, wait, err
}

// SetSlowMode turns slow mode on or off. If it is on, the wait between two messages of a user must
// be 3 s to 2 min. It is rounded up to whole seconds.
func (m *Moderator) SetSlowMode(ctx context.Context, channelID string, on bool, wait time.Duration) error {
	change := journal.ChatModesChange{SlowMode: &on}
	if on {
		if wait < journal.MinSlowModeWait*time.Second || wait > journal.MaxSlowModeWait*time.Second {
			return fmt.Errorf("set slow mode: %w: it must be 3s to 2m, not %s", twitch.ErrUnsafe, wait)
		}
		change.SlowModeWait = new(int((wait + time.Second - 1) / time.Second))
	}
	_, err := m.SetChatModes(ctx, channelID, change)
	return err
}
