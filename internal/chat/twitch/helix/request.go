package helix

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/histogram"
)

// request is an api.Request to Helix, with rules for sending it. Its URL is the part after the
// Client's BaseURL.
type request struct {
	api.Request
	sending
	limit channelLimit
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

// isNeedless reports whether the request is no longer needed.
func (s sending) isNeedless() bool { return s.unless != nil && s.unless() }

// durations returns the histogram of the times from sending a request to Twitch's complete answer.
func (h *Client) durations() *histogram.Histogram {
	h.measuring.once.Do(func() {
		const ms = time.Millisecond
		h.measuring.durations = histogram.OfDurations(
			ms, 5*ms, 10*ms, 25*ms, 50*ms, 75*ms, 100*ms, 150*ms, 250*ms, 500*ms, time.Second, 5*time.Second/2, 5*time.Second, api.Timeout,
		)
	})
	return h.measuring.durations
}

// Durations returns the times from sending a request to Twitch's complete answer. They don't
// include requests without an answer.
func (h *Client) Durations() histogram.Counts { return h.durations().Counts() }

// send sends a request once. It returns an error if the exchange did not complete. The error never
// contains the token.
func (h *Client) send(ctx context.Context, r request, token string) (api.Answer, error) {
	header := http.Header{"Authorization": {"Bearer " + token}}
	if h.ClientID != nil {
		if id := h.ClientID(); id != "" {
			header.Set("Client-Id", id)
		}
	}
	r.URL = cmp.Or(h.BaseURL, helixURL) + r.URL
	began := h.now()
	a, err := r.Send(ctx, h.client(), header)
	if err == nil {
		h.durations().Add(int64(h.now().Sub(began)), 1)
	}
	a.Hide(token)
	return a, err
}
