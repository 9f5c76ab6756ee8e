package api

import (
	"net/http"
	"time"
)

// Limits on one HTTP exchange.
const (
	Timeout   = 10 * time.Second
	maxAnswer = 1 << 20 // maximum bytes read of an answer
	// MaxIdleConns is how many connections are kept open. It equals the maximum number of
	// concurrent requests.
	MaxIdleConns = 64
)

// NewClient returns a client with timeouts that keeps connections open and follows no redirects.
func NewClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = MaxIdleConns
	return &http.Client{
		Transport: transport,
		Timeout:   Timeout,
		// A redirect would send the token to its target.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
