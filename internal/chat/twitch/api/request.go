// Package api makes one exchange with Twitch's HTTP servers: it sends a request, reads the answer
// and interprets it. It neither waits nor retries, and is independent of its callers.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// Request describes one action to request from Twitch. It may be sent several times.
type Request struct {
	// Op is the action and its target, for errors: "delete message 1234".
	Op     string
	Method string
	URL    string
	Body   any // sent as JSON, url.Values as a form; nil sends none

	Forbidden error // what a 403 means; nil means ErrRejected
	// Limited is what a 429 means if the request budget isn't empty; nil means ErrLimited.
	Limited error
	// Lasting means that a 409 is permanent, because what is requested already exists. The caller
	// interprets the 409.
	Lasting bool
}

// Send sends the request once, with these headers. It returns an error if the exchange wasn't
// completed. The error matches chat.ErrUnanswered, unless no connection was made: then Twitch can't
// have received anything.
func (r Request) Send(ctx context.Context, client *http.Client, header http.Header) (Answer, error) {
	body, kind, err := r.encode()
	if err != nil {
		return Answer{}, err
	}
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := client.Do(req)
	switch {
	case err != nil && connected.Load():
		return Answer{}, twitch.Unanswered(err)
	case err != nil:
		return Answer{}, err
	}
	defer resp.Body.Close()
	// Read to the end so that the connection can be reused. If the answer exceeds the limit, the
	// connection is closed instead.
	read, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Answer{}, twitch.Unanswered(err)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: read}, nil
}

// encode returns the body to send and its type. Both are empty for a request without a body.
func (r Request) encode() (body []byte, kind string, err error) {
	switch b := r.Body.(type) {
	case nil:
		return nil, "", nil
	case url.Values:
		return []byte(b.Encode()), "application/x-www-form-urlencoded", nil
	}
	body, err = json.Marshal(r.Body)
	return body, "application/json", err
}

// Refused returns an error of the given kind that quotes Twitch.
func (r Request) Refused(kind error, a Answer) error {
	err := fmt.Errorf("%s: %w (Twitch: %s)", r.Op, kind, a.Says())
	if a.Unsure {
		err = twitch.Unsure(err)
	}
	return err
}

// Decode reads the answer's JSON into v.
func (r Request) Decode(a Answer, v any) error {
	if err := json.Unmarshal(a.Body, v); err != nil {
		return fmt.Errorf("%s: %w (its answer can't be read: %w)", r.Op, twitch.ErrRejected, err)
	}
	return nil
}

// Trouble returns the error for a failed exchange, or for an answer that refuses the request for a
// general reason. If it returns nil, the caller interprets the answer.
func (r Request) Trouble(a Answer, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w (%w)", r.Op, twitch.ErrUnavailable, err)
	case a.BudgetEmpty():
		return r.Refused(twitch.ErrBusy, a)
	case a.Status == http.StatusInternalServerError, a.Status == http.StatusBadGateway, a.Status == http.StatusGatewayTimeout:
		// Twitch failed in the middle, or a proxy of Twitch got no answer
		return twitch.Unanswered(r.Refused(twitch.ErrUnavailable, a))
	case a.Status >= 500 || a.isForeign():
		return r.Refused(twitch.ErrUnavailable, a)
	case a.Status == http.StatusTooManyRequests:
		return r.Refused(cmp.Or(r.Limited, twitch.ErrLimited), a)
	case a.Status == http.StatusConflict && !r.Lasting:
		return r.Refused(twitch.ErrConflict, a)
	case a.lacksScope():
		return r.Refused(twitch.ErrScope, a)
	case a.Status == http.StatusUnauthorized && strings.Contains(a.Says(), "must match"):
		// The token belongs to a different user than the one named in the request.
		return r.Refused(twitch.ErrRejected, a)
	case a.Status == http.StatusUnauthorized:
		return r.Refused(twitch.ErrToken, a)
	case a.Status == http.StatusForbidden:
		return r.Refused(cmp.Or(r.Forbidden, twitch.ErrRejected), a)
	}
	return nil
}

// IsTemporary reports whether a retry can help.
func IsTemporary(trouble error) bool {
	return errors.Is(trouble, twitch.ErrUnavailable) || errors.Is(trouble, twitch.ErrConflict) || errors.Is(trouble, twitch.ErrBusy) || errors.Is(trouble, twitch.ErrLimited)
}
