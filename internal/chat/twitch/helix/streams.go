package helix

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// maxStreams is the maximum number of channels in one request for streams.
const maxStreams = 100

// LiveChannels returns when the streams of these channels began, by the channel's ID. Channels that
// aren't live are missing from the result. The request needs no scope.
func (h *Client) LiveChannels(ctx context.Context, channelIDs ...string) (map[string]time.Time, error) {
	began := map[string]time.Time{}
	for some := range slices.Chunk(channelIDs, maxStreams) {
		r := request{Request: api.Request{Op: "ask which channels are live", Method: http.MethodGet}}
		for _, id := range some {
			if err := r.checkIDs("channel", id); err != nil {
				return nil, err
			}
		}
		r.URL = "/streams?" + url.Values{"user_id": some, "type": {"live"}, "first": {strconv.Itoa(maxStreams)}}.Encode()
		var told struct {
			Data []struct {
				ChannelID string    `json:"user_id"`
				StartedAt time.Time `json:"started_at"`
			} `json:"data"`
		}
		if err := h.ask(ctx, r, &told); err != nil {
			return nil, err
		}
		for _, stream := range told.Data {
			began[stream.ChannelID] = stream.StartedAt
		}
	}
	return began, nil
}
