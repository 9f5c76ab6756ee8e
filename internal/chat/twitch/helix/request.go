package helix

import (
	"context"
	"net/http"

	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// request is an api.Request to Helix, with rules for sending it.
type request struct {
	api.Request
	sending
}

// sending contains the rules for sending a request.
type sending struct {
	// essential requests may use the part of the budget that is reserved for requests that must not
	// wait behind penalties.
	essential bool
	// once means that the request is sent at once or not at all, and not repeated if Twitch may
	// have carried it out.
	once bool
	// unless is called before each try. If it returns true, the request is no longer needed and the
	// result is errNeedless. Nil means that the request is always needed.
	unless func() bool
}

// send sends a request once. It returns an error if the exchange did not complete. The error never
// contains the token.
func (h *Client) send(ctx context.Context, r request, token string) (api.Answer, error) {
	header := http.Header{"Authorization": {"Bearer " + token}}
	if id := h.clientID(); id != "" {
		header.Set("Client-Id", id)
	}
	a, err := r.Send(ctx, h.client(), header)
	a.Hide(token)
	return a, err
}
