package httpguard

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/chatguard/chatguard"
)

// MainChannel is the channel in which everything counts if SessionOptions.Channel or
// LimitOptions.Channel is nil.
const MainChannel = "main"

// channelOr returns a Channel option, or a function that returns MainChannel if it is nil.
func channelOr(channel func(*http.Request) string) func(*http.Request) string {
	if channel == nil {
		return func(*http.Request) string { return MainChannel }
	}
	return channel
}

// LimitOptions are optional settings of Limit. A nil *LimitOptions is the same as the zero value.
type LimitOptions struct {
	// Channel returns the channel in which the request counts. Requests in different channels have
	// separate allowances, and a channel can have its own policy. A func that returns the request's
	// Pattern limits each route of an http.ServeMux separately. Return only names from a fixed
	// list: a client that could choose the name could choose a fresh allowance. Nil means
	// MainChannel.
	Channel func(*http.Request) string

	// Cost returns how many messages the request counts as. 0 means 1, and a negative number is a
	// mistake. Nil means 1.
	Cost func(*http.Request) int

	// Skip reports whether to pass a request on without judging it and without headers: for example
	// OPTIONS requests, which browsers send without a key before a request to another site. Nil
	// means that every request is judged. To exempt users, give them a role in Policy.Exempt.
	Skip func(*http.Request) bool

	// Headers describes the verdict in the answer's headers. Nil means SetHeaders; a func that does
	// nothing hides the limits. A refused request has Retry-After in any case.
	Headers func(http.Header, chatguard.Verdict)

	// Refused writes the answer to a request that is refused. If it is nil, the answer is one line
	// of text with status 429, 401, 500, or 503 if the request's context has ended. The error is a
	// *chatguard.ThrottledError, ErrNobody, or an internal error that must not be shown to the
	// client. Refused must write a status; all headers are already set.
	Refused func(http.ResponseWriter, *http.Request, error)

	// Authenticate is the header WWW-Authenticate of a 401, which RFC 9110 requires: for ByKey, it
	// is `Bearer realm="api"`, for example. Empty means no header.
	Authenticate string

	// Logger receives the errors answered with 500. Nil means slog.Default().
	Logger *slog.Logger
}

// limiter judges requests.
type limiter struct {
	LimitOptions
	guard    *chatguard.Guard
	identify func(*http.Request) (chatguard.User, error)
	refuser  refuser
}

// Limit returns a function that puts the Guard in front of an HTTP handler and judges each request,
// as a message of the user whom identify returns. Use ByKey, ByAddress, ByValue or Anonymous,
// combine several of them with FirstOf, or write a func that reads a session cookie. For limits by
// several keys, put one Limit around another, each with its own Channel; the headers are then those
// of the inner one, unless the outer one refuses. The error says which argument is missing.
//
// Limit answers a throttled request with 429 and Retry-After, and ErrNobody from identify with 401.
// It answers a mistake (another error of identify, a user without an ID, connguard.ErrReservedID) with
// 500, and logs it. It sets RateLimit, RateLimit-Policy and X-RateLimit-* as SetHeaders does, whether
// the request passes or not. If a leaky bucket delays a request, Limit holds it for the delay,
// unless the request's context ends first. The handler can read the verdict with VerdictFrom.
//
// A request has spent its cost when the handler is called. Limit gives nothing back if the handler
// panics or answers with an error; the handler can, with Guard.Refund. It gives back what a delayed
// request has spent if the client doesn't wait.
//
// Limit calls identify before it judges, so it doesn't limit how often an address can guess keys.
// Put another Limit with ByAddress around it for that.
func Limit(guard *chatguard.Guard, identify func(*http.Request) (chatguard.User, error), opts *LimitOptions) (func(http.Handler) http.Handler, error) {
	switch {
	case guard == nil:
		return nil, errors.New("httpguard: the Guard is nil: pass the one that chatguard.New returns")
	case identify == nil:
		return nil, errNoIdentify
	}
	l := &limiter{LimitOptions: *cmp.Or(opts, &LimitOptions{}), guard: guard, identify: identify}
	l.Channel = channelOr(l.Channel)
	if l.Headers == nil {
		l.Headers = func(h http.Header, v chatguard.Verdict) { SetHeaders(h, guard, v) }
	}
	l.refuser = refuser{l.Refused, l.Authenticate, l.Logger, "Too many requests."}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.serve(w, r, next) })
	}, nil
}

// errNoIdentify is the error of Limit and Sessions without a func that identifies users.
var errNoIdentify = errors.New("httpguard: identify is nil: pass ByKey, ByAddress, Anonymous or your own function")

func (l *limiter) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if l.Skip != nil && l.Skip(r) {
		next.ServeHTTP(w, r)
		return
	}
	// Pass this request on to the handler, so that a form parsed by identify isn't lost.
	v := new(chatguard.Verdict)
	ctx, guest := withGuest(context.WithValue(r.Context(), verdictKey{}, v))
	r = r.WithContext(ctx)
	if err := l.judge(r, guest, w.Header(), v); err != nil {
		l.refuser.refuse(w, r, err)
		return
	}
	next.ServeHTTP(w, r)
}

// judge fills in the verdict on a request and sets the headers. It returns nil once the request may
// be served, or the error with which it is refused.
func (l *limiter) judge(r *http.Request, guest *string, h http.Header, v *chatguard.Verdict) error {
	user, err := identified(l.identify, r, guest)
	if err != nil {
		return err
	}
	m := chatguard.Message{ChannelID: l.Channel(r), User: user}
	if l.Cost != nil {
		m.Cost = l.Cost(r)
	}
	if *v, err = l.guard.Check(r.Context(), m); err != nil {
		return err
	}
	if l.Headers(h, *v); !v.Allowed {
		return &chatguard.ThrottledError{Verdict: *v}
	}
	if err := v.Hold(r.Context()); err != nil {
		return errors.Join(err, l.guard.Refund(*v))
	}
	return nil
}

// verdictKey is the context key for the verdict on a request.
type verdictKey struct{}

// VerdictFrom returns the verdict on a request from its context. If several Limits judge the
// request, it is the verdict of the innermost one. ok is false if no Limit has judged the request.
func VerdictFrom(ctx context.Context) (v chatguard.Verdict, ok bool) {
	judged, ok := ctx.Value(verdictKey{}).(*chatguard.Verdict)
	if !ok || judged.At.IsZero() {
		return chatguard.Verdict{}, false
	}
	return *judged, true
}
