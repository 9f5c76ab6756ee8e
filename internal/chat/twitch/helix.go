package twitch

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/clock"
)

// The addresses of Twitch's HTTP API and of its identity server.
const (
	helixURL = "https://api.twitch.tv/helix"
	authURL  = "https://id.twitch.tv/oauth2"
)

// Helix speaks to Twitch's HTTP API. Fill its fields, then use it from any goroutine; the fields are not to be changed after that.
//
// Requests stay within Twitch's budget: when it is used up, calls wait in the order in which they came, and a few requests are kept for calls that
// must not wait behind moderation.
//
// A call tries several times where trying again can help, and returns when it succeeded, when trying again can't help, or when its context ended. Its
// error is one line that names the thing and the mend, never the token, and is one of this package's Err values to errors.Is.
type Helix struct {
	BaseURL  string                                // of Helix; empty means Twitch's
	AuthURL  string                                // of the identity server; empty means Twitch's
	ClientID func() string                         // of the application that the token was made for, asked for with each request; nil means none
	Token    func(context.Context) (string, error) // the access token, asked for at each request; required

	// Refused is told a token that Twitch doesn't take any more. Where it returns nil, the request is sent once more with what Token gives then. Nil
	// means that a refused token stays refused.
	Refused func(ctx context.Context, token string) error

	HTTP   *http.Client     // nil means one of its own, with timeouts, that keeps connections open and follows no redirects
	Logger *slog.Logger     // nil logs nothing
	Now    func() time.Time // counts the request budget and how long to wait; nil means a clock that doesn't follow the steps of the wall clock

	sleep func(context.Context, time.Duration) error // nil means pause

	own struct {
		once   sync.Once
		client *http.Client
	}
	elapsing struct {
		once sync.Once
		now  func() time.Time
	}
	budget budget
	health health
}

// Bounds on a single HTTP exchange.
const (
	exchangeTimeout = 10 * time.Second
	maxAnswer       = 1 << 20 // bytes of an answer that are read
	idleConns       = 64      // connections kept open: as many as there may be requests at once
)

// Close closes the connections that are kept open. Requests under way are not disturbed.
func (h *Helix) Close() { h.client().CloseIdleConnections() }

func (h *Helix) client() *http.Client {
	if h.HTTP != nil {
		return h.HTTP
	}
	h.own.once.Do(func() { h.own.client = newClient() })
	return h.own.client
}

// newClient returns a client with timeouts, that keeps connections open and follows no redirects.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = idleConns
	return &http.Client{
		Transport: transport,
		Timeout:   exchangeTimeout,
		// A redirect would carry the token to wherever it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (h *Helix) baseURL() string { return cmp.Or(h.BaseURL, helixURL) }
func (h *Helix) authURL() string { return cmp.Or(h.AuthURL, authURL) }

func (h *Helix) clientID() string {
	if h.ClientID == nil {
		return ""
	}
	return h.ClientID()
}

func (h *Helix) now() time.Time {
	if h.Now != nil {
		return h.Now()
	}
	h.elapsing.once.Do(func() { h.elapsing.now = clock.Monotonic() })
	return h.elapsing.now()
}

func (h *Helix) pause(ctx context.Context, d time.Duration) error {
	if h.sleep == nil {
		return pause(ctx, d)
	}
	return h.sleep(ctx, d)
}
