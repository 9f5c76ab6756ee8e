// Package checkclient asks a chatguard that runs as a separate server to judge messages, over its
// HTTP API. Use it if several processes share the limits, or if chatguard keeps running while your
// server restarts. If one process judges all messages, package chatguard alone is simpler and
// faster.
//
// A Client has the methods of a chatguard.Guard that judge messages, so that a program can use
// either of them.
//
// # Failures
//
// A chat without limits for a minute is better than no chat, so a Client fails open. If chatguard
// can't be reached, or doesn't answer in time, Check returns a verdict with Allowed and Degraded
// and no error. So a program that shows each Allowed message does the right thing. The Client logs
// the first such failure. After several failures in a row, it stops asking for a while; see
// Options.MaxFailures.
//
// An error is a mistake in the program or its settings, which waiting doesn't fix: an *Error for a
// request that chatguard refuses, such as one with a wrong token, or an error of Message.Validate.
// The only other errors are that of a context that ends before the answer, and ErrUnavailable from
// Refund or with Options.FailClosed.
//
// A Client never asks again about a message that chatguard may already have counted.
//
// # Clocks
//
// The times in a verdict are of the server's clock, which may differ from this machine's. Durations
// are safe: count RetryAfter and Delay from the moment when Check returns. Verdict.Hold and
// HoldQueue.Add count Delay from their call, so they are safe, too. Don't compare At, ResetAt or
// MaySpeakAt with time.Now, unless both clocks are synchronized. For the same reason, set
// Message.SentAt only if the message waited before it is judged. chatguard uses a time that is at
// most a minute old and not in the future.
package checkclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
)

// Options are a Client's optional settings. A nil *Options is the same as the zero value.
type Options struct {
	// Timeout is how long a request may take, including the connection. A request that takes longer
	// has failed. If its context ends first, that isn't a failure, and the context's error is
	// returned; so set a Timeout below the deadlines of your contexts. 0 means 2 seconds.
	Timeout time.Duration

	// FailClosed makes Check, CheckUpTo and CheckAll return an error that wraps ErrUnavailable if
	// chatguard doesn't answer. The messages are then not allowed. Set it if a limit protects more
	// than a chat's comfort, such as sign-in attempts.
	FailClosed bool

	// MaxFailures is how many requests in a row may fail before the Client pauses. While it pauses,
	// it treats all messages as unanswered at once, so that a server that hangs doesn't slow the
	// chat. After Pause, the Client asks about a single message, and still not about the others. It
	// resumes if it gets an answer. Otherwise it pauses again. 0 means 3 failures.
	MaxFailures int
	Pause       time.Duration // 0 means 5 seconds

	// Transport sends the requests. Set it for a private certificate authority or a Unix socket,
	// for example. Nil means the Client's default transport. It uses at most 100 connections, and
	// closes a connection after 90 seconds without a request, because chatguard closes it after two
	// minutes.
	Transport http.RoundTripper

	// Logger receives a warning when chatguard stops answering, at most one a minute, and a message
	// when it answers again. It also receives a warning for each role and kind of message that
	// chatguard doesn't know, once. Nil means slog.Default().
	Logger *slog.Logger

	// Now is the clock for pauses, and for the verdicts on messages that chatguard doesn't judge.
	// Nil means time.Now.
	Now func() time.Time
}

// Client judges messages by asking chatguard. It starts no goroutines, except those of net/http
// while requests are in progress and connections are open. It is safe for concurrent use. Create
// one with New, and use it for all messages.
type Client struct {
	opts    Options
	base    string // URL of the API, without a trailing slash
	token   string
	http    http.Client
	breaker breaker
	unknown unknownNames
}

// New returns a Client for the chatguard at baseURL, such as "http://127.0.0.1:8080". The token
// needs the role check: "chatguard token make NAME --role check" makes one. New sends nothing. The
// error says which argument is wrong.
func New(baseURL, token string, opts *Options) (*Client, error) {
	c := &Client{token: token}
	if opts != nil {
		c.opts = *opts
	}
	base, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("checkclient: the base URL: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf(`checkclient: the base URL %q must be like "http://127.0.0.1:8080"`, base.Redacted())
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("checkclient: the base URL %q must have no user, query or fragment", base.Redacted())
	case token == "":
		return nil, errors.New(`checkclient: the token is empty; "chatguard token make NAME --role check" makes one`)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, errors.New("checkclient: the token has a space, a line break or another character that no token has")
	case c.opts.Timeout < 0 || c.opts.MaxFailures < 0 || c.opts.Pause < 0:
		return nil, errors.New("checkclient: Timeout, MaxFailures and Pause must not be negative")
	}
	c.base = strings.TrimRight(base.String(), "/") + "/api/v1"
	c.opts.Timeout = cmp.Or(c.opts.Timeout, 2*time.Second)
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.Default())
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.breaker = breaker{max: cmp.Or(c.opts.MaxFailures, 3), pause: cmp.Or(c.opts.Pause, 5*time.Second)}
	c.http = http.Client{Transport: c.opts.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if c.http.Transport == nil {
		c.http.Transport = newTransport(c.opts.Timeout)
	}
	return c, nil
}

// CloseIdleConnections closes the connections that no request uses. Call it when the Client is no
// longer needed.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// Check asks chatguard to judge a message, which spends its cost if it is allowed. If chatguard
// doesn't answer, the verdict has Allowed and Degraded, an empty Tightest and Spent 0, and there is
// no error.
//
// The error is an ErrInvalid of Message.Validate, an *Error if chatguard refuses the request, or
// that of ctx if ctx ends before the answer. With Options.FailClosed, it can also be one that wraps
// ErrUnavailable. After an error, the verdict is the zero value, which isn't Allowed.
//
// chatguard uses only a part of long texts. So Check sends at most 8,192 bytes of Text, 256 of ID,
// and 200 of each name. An ID of a channel or user may be longer than 250 bytes, but only its first
// 1,024 bytes count.
func (c *Client) Check(ctx context.Context, m chatguard.Message) (chatguard.Verdict, error) {
	_, v, err := c.check(ctx, m, false)
	return v, err
}

// CheckUpTo is like Check, but it can allow a part of the message's cost. It spends as much of the
// cost as all limits allow, and returns that number. If the number is 0, the message is throttled
// like a message of cost 1. CheckUpTo returns the whole cost if the policy observes, if the author
// is exempt, or if chatguard doesn't answer.
func (c *Client) CheckUpTo(ctx context.Context, m chatguard.Message) (taken int, v chatguard.Verdict, err error) {
	return c.check(ctx, m, true)
}

func (c *Client) check(ctx context.Context, m chatguard.Message, upTo bool) (taken int, v chatguard.Verdict, err error) {
	body, err := encode(m, upTo)
	if err != nil {
		return 0, v, err
	}
	err = c.ask(ctx, "/check", body, func(answer []byte) (err error) {
		c.warnUnknown(answer)
		taken, v, err = decodeChecked(answer, m, upTo)
		return err
	})
	if c.failsOpen(err) {
		return max(1, m.Cost), c.unchecked(m), nil
	}
	return taken, v, err
}

// Refund gives back what the message that v is about has spent, in all limits. Use it for a message
// that was allowed but not delivered. It asks nothing if v spent nothing. chatguard doesn't notice
// that a verdict was refunded before, so don't call Refund twice for one message.
//
// The error is an *Error, one that wraps ErrUnavailable, or that of ctx. A program may ignore it:
// without the refund, the user's allowance is restored as if the message had been delivered.
func (c *Client) Refund(ctx context.Context, v chatguard.Verdict) error {
	if v.Spent <= 0 {
		return nil
	}
	return c.ask(ctx, "/check/refund", v.AppendJSON(nil), nil)
}

// failsOpen reports whether err means that messages are shown unchecked.
func (c *Client) failsOpen(err error) bool {
	return errors.Is(err, ErrUnavailable) && !c.opts.FailClosed
}

// unchecked returns the verdict on a message that chatguard doesn't judge.
func (c *Client) unchecked(m chatguard.Message) chatguard.Verdict {
	at := m.SentAt
	if at.IsZero() {
		at = c.opts.Now()
	}
	return chatguard.Verdict{At: at, ChannelID: m.ChannelID, UserID: m.User.ID, Allowed: true, Degraded: true, Remaining: -1}
}

// decodeChecked decodes the answer to a check of m.
func decodeChecked(answer []byte, m chatguard.Message, upTo bool) (taken int, v chatguard.Verdict, err error) {
	if err := json.Unmarshal(answer, &v); err != nil {
		return 0, chatguard.Verdict{}, err
	}
	v.ChannelID, v.UserID = m.ChannelID, m.User.ID // chatguard replaces those that it can't store
	if !upTo {
		return 0, v, nil
	}
	var extra struct {
		Taken *int `json:"taken"`
	}
	if err := json.Unmarshal(answer, &extra); err != nil {
		return 0, chatguard.Verdict{}, err
	}
	if extra.Taken == nil {
		return 0, chatguard.Verdict{}, errors.New("taken is missing")
	}
	return *extra.Taken, v, nil
}
