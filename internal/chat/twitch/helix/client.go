// Package helix is a client of Helix, Twitch's HTTP API. A Client sends requests within Twitch's
// budget and retries if that can help; a Moderator uses it to carry out penalties.
//
// It knows nothing about how chat is read or how a token is stored.
package helix

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/histogram"
)

// helixURL is the address of Twitch's HTTP API.
const helixURL = "https://api.twitch.tv/helix"

// Client sends requests to Twitch's HTTP API. Set its fields before the first use, and don't change
// them after that. It is safe for concurrent use.
//
// Requests stay within Twitch's budget. When the budget is used up, calls wait in order of arrival.
// A few requests are reserved for calls that must not wait behind penalties.
//
// If Twitch accepts no more timeouts, bans or warnings in a channel, calls for them return a
// chat.HeldError at once.
//
// A call retries if that can help. It returns when it succeeded, when a retry can't help, or when
// its context ended. The error is one line that names the problem and, if there is one, the fix. It
// never contains the token. Unless the context ended, the error is a chat.HeldError, or errors.Is
// matches it with an Err value of this package or of packages twitch and chat.
type Client struct {
	BaseURL string // of Helix; empty means Twitch's URL
	// ClientID returns the ID of the application that the token was made for. It is called for each
	// request; nil means none.
	ClientID func() string
	// Token returns the access token. It is called for each request; required.
	Token func(context.Context) (string, error)

	// Refused receives a token that Twitch no longer accepts. If it returns nil, the Client calls
	// Token again and sends the request once more. If Refused is nil, the request fails.
	Refused func(ctx context.Context, token string) error

	// Once means that no request is sent again after a failure, because the caller does that later.
	Once bool

	// HTTP is the client to use. Nil means a separate client with timeouts that keeps connections
	// open and follows no redirects.
	HTTP   *http.Client
	Logger *slog.Logger // nil logs nothing
	// Clock is used for the request budget and for waits. A nil NowFunc means a clock that ignores
	// steps of the wall clock.
	Clock clock.Clock

	own struct {
		once   sync.Once
		client *http.Client
	}
	elapsing struct {
		once sync.Once
		now  func() time.Time
	}
	measuring struct {
		once      sync.Once
		durations *histogram.Histogram
	}
	budget budget
	limits channelLimits
	health health
}

// Close closes the idle connections. It does not affect requests in progress.
func (h *Client) Close() { h.client().CloseIdleConnections() }

func (h *Client) client() *http.Client {
	if h.HTTP != nil {
		return h.HTTP
	}
	h.own.once.Do(func() { h.own.client = api.NewClient() })
	return h.own.client
}

func (h *Client) now() time.Time {
	if h.Clock.NowFunc != nil {
		return h.Clock.NowFunc()
	}
	h.elapsing.once.Do(func() { h.elapsing.now = clock.Monotonic() })
	return h.elapsing.now()
}
