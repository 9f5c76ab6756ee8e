package twitch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// How many channels Twitch lists in a page, and how many pages are asked for.
const (
	channelsPerPage = 100
	maxPages        = 100
)

// ModeratedChannels returns the IDs of the channels in which the token's user, whose ID it is given, is a moderator. Their own isn't among them. It
// doesn't wait behind moderation.
func (h *Helix) ModeratedChannels(ctx context.Context, userID string) (ids []string, err error) {
	query := url.Values{"user_id": {userID}, "first": {strconv.Itoa(channelsPerPage)}}
	r := request{op: "list moderated channels", method: http.MethodGet, essential: true}
	if err := r.needs("user", userID); err != nil {
		return nil, err
	}
	for range maxPages {
		var page struct {
			Data []struct {
				ID string `json:"broadcaster_id"`
			} `json:"data"`
			Pagination struct {
				Cursor string `json:"cursor"`
			} `json:"pagination"`
		}
		r.url = h.baseURL() + "/moderation/channels?" + query.Encode()
		if err := h.ask(ctx, r, &page); err != nil {
			return nil, err
		}
		for _, channel := range page.Data {
			ids = append(ids, channel.ID)
		}
		if page.Pagination.Cursor == "" {
			return ids, nil
		}
		query.Set("after", page.Pagination.Cursor)
	}
	return nil, fmt.Errorf("%s: %w (its list never ends)", r.op, ErrRejected)
}
