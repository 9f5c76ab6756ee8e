package checkclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"time"
)

// ErrUnavailable is the error for a request that chatguard doesn't answer, and for one that isn't
// sent because several before it were not answered. Errors wrap it.
var ErrUnavailable = errors.New("checkclient: chatguard doesn't answer")

var errPaused = errors.New("not asked, because the last requests failed")

// Error is the error for a request that chatguard, or a server in front of it, refuses because of a
// mistake in the program or its settings. Repeating the request doesn't help.
type Error struct {
	Status int    // HTTP status: 401 for a wrong token, 403 for a token of another role, 422 for an invalid message
	Detail string // one or more sentences for people that say how to fix it
}

// Error returns the status and the detail.
func (e *Error) Error() string { return fmt.Sprintf("checkclient: status %d: %s", e.Status, e.Detail) }

// maxAnswer is the maximum number of bytes of an answer. The verdicts on 1,000 messages with the
// longest IDs take less.
const maxAnswer = 8 << 20

// newTransport returns a transport that keeps connections. It has no HTTP/2: there, one connection
// that hangs would delay all requests.
func newTransport(timeout time.Duration) *http.Transport {
	const connections = 100
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: timeout}).DialContext,
		TLSHandshakeTimeout:   timeout,
		ResponseHeaderTimeout: timeout,
		MaxConnsPerHost:       connections,
		MaxIdleConnsPerHost:   connections,
		IdleConnTimeout:       90 * time.Second, // less than chatguard's two minutes
	}
}

// ask sends a request, unless the breaker forbids it, and passes the answer to read. If read
// returns an error, the answer isn't chatguard's. A nil read means that the answer must be empty.
// The error is an *Error, one that wraps ErrUnavailable, or that of ctx if ctx ends before the
// answer.
func (c *Client) ask(ctx context.Context, path string, body []byte, read func(answer []byte) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ok, probe := c.breaker.begin(c.opts.Now())
	if !ok {
		return fmt.Errorf("%w: %w", ErrUnavailable, errPaused)
	}
	err := c.post(ctx, path, body, read)
	o := answered
	switch {
	case errors.As(err, new(*Error)) || err == nil:
	case ctx.Err() != nil: // only the Client's own time-out is chatguard's failure
		o, err = cancelled, ctx.Err()
	default:
		o, err = failed, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if tell := c.breaker.end(c.opts.Now(), probe, o); tell && o == failed {
		c.opts.Logger.Warn("chatguard doesn't answer; messages go unchecked", "url", c.base, "error", err)
	} else if tell {
		c.opts.Logger.Info("chatguard answers again", "url", c.base)
	}
	return err
}

// post sends a request once. The error is an *Error if the request is refused. Any other error
// means that chatguard doesn't answer.
func (c *Client) post(ctx context.Context, path string, body []byte, read func(answer []byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // to its end, so that the connection can be used again
	if err != nil {
		return err
	}
	return interpret(response, answer, read)
}

// interpret returns nil if the answer is a verdict or an empty success. It returns an *Error for a
// refusal, and another error for anything else.
func interpret(response *http.Response, answer []byte, read func(answer []byte) error) error {
	status := response.StatusCode
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "application/problem+json" {
		return refusal(status, answer)
	}
	switch {
	case status == http.StatusNoContent && read == nil:
		return nil
	case (status == http.StatusOK || status == http.StatusTooManyRequests) && read != nil:
		if err := read(answer); err != nil {
			return fmt.Errorf("status %d without a verdict: %w", status, err)
		}
		return nil
	case status/100 == 3:
		return &Error{status, fmt.Sprintf("The base URL redirects to %q. Use the address to which it leads.", response.Header.Get("Location"))}
	case isMistake(status):
		return &Error{status, "The answer isn't chatguard's. The base URL must be the dashboard's address, without /api/v1."}
	}
	return fmt.Errorf("status %d", status)
}

// isMistake reports whether a status other than a redirect means a mistake of this program. A 429
// without a verdict doesn't: the wrong tokens may have come from other programs at this address.
func isMistake(status int) bool {
	return status/100 == 4 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

// refusal returns the error for a problem document.
func refusal(status int, answer []byte) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(answer, &problem); err != nil {
		return fmt.Errorf("status %d: %w", status, err)
	}
	switch {
	case !isMistake(status):
		return fmt.Errorf("status %d: %s", status, problem.Detail)
	case status == http.StatusForbidden:
		problem.Detail += ` "chatguard token make NAME --role check" makes a token with that access.`
	case status == http.StatusNotFound:
		problem.Detail += " The base URL must be the dashboard's address, without /api/v1."
	}
	return &Error{status, problem.Detail}
}
