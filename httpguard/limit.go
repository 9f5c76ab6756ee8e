package httpguard

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
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

	// Cost returns how many messages the request counts as. A request that costs 0 passes in any
	// case, and has the headers. A negative number is a mistake. Nil means 1.
	Cost func(*http.Request) int

	// Counts reports whether a request counts, given the status of its response. For example, only
	// failures count with func(status int) bool { return status >= 400 }. The cost is spent before
	// the request is served, so requests at the same time can't exceed the limit, and the headers
	// include it. It is given back as soon as a status is written that doesn't count. A request
	// whose handler panics or returns without an answer counts, because others may answer it; a
	// connection that was taken over has status 101. Nil means that all requests count.
	Counts func(status int) bool

	// MaxInFlight is the maximum number of requests of a user that are served at once, in all
	// channels. 0 or less means unlimited. Others are refused with 429 and ErrInFlight, and spend
	// nothing. A request is in flight until its handler returns. The policy doesn't change the
	// maximum: exempt users have the same one, also with ModeObserve.
	MaxInFlight int

	// Skip reports whether to pass a request on without judging it and without headers: for example
	// OPTIONS requests, which browsers send without a key before a request to another site. Nil
	// means that every request is judged. To exempt users, give them a role in Policy.Exempt.
	Skip func(*http.Request) bool

	// Headers describes the verdict in the answer's headers. Nil means AddHeaders; a func that does
	// nothing hides the limits. A refused request has Retry-After in any case.
	Headers func(http.Header, chatguard.Verdict)

	// PartitionSecret adds a partition key to RateLimit (pk): the first 8 bytes of a SHA-256 hash
	// of the secret, the channel and the user. Clients with several keys can tell by it which of
	// them a limit is about, and nobody learns the user's ID or address from it, as long as the
	// secret is one. Use the same secret in several processes, or the result of crypto/rand.Text in
	// one. Empty means no partition key. It has no effect on a func in Headers.
	PartitionSecret string

	// Refused writes the answer to a request that is refused. If it is nil, the answer has status
	// 429, 401, 500, or 503 if the request's context has ended. It is a problem document (RFC 9457)
	// if the request's Accept names application/problem+json or application/json, and otherwise one
	// line of text. The error is a *chatguard.ThrottledError, ErrInFlight, ErrNobody, or an
	// internal error that must not be shown to the client. Refused must write a status; all headers
	// are already set.
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
	inner    inner.Guard // of the Guard
	identify func(*http.Request) (chatguard.User, error)
	inFlight *inFlight // nil: unlimited
	refuser  refuser
}

// Limit returns a function that puts the Guard in front of an HTTP handler and judges each request,
// as a message of the user whom identify returns, with their roles and zone (User.Timezone). Use
// ByKey, ByAddress, ByValue or Anonymous, combine several of them with FirstOf, or write a func
// that reads a session cookie. For limits by several keys, put one Limit around another, each with
// its own Channel; RateLimit and RateLimit-Policy then list the limits of both. The error says
// which argument is missing.
//
// Limit answers a throttled request with 429 and Retry-After, and ErrNobody from identify with 401.
// It answers a mistake (another error of identify, a user without an ID, connguard.ErrReservedID)
// with 500, and logs it. It sets RateLimit, RateLimit-Policy and X-RateLimit-* as AddHeaders does,
// whether the request passes or not. If a leaky bucket delays a request, Limit holds it for the
// delay, unless the request's context ends first. The handler can read the verdict with
// VerdictFrom.
//
// A request has spent its cost when the handler is called. Unless Counts says otherwise, Limit
// gives nothing back if the handler panics or answers with an error; the handler can, with
// Guard.Refund. It gives back what a delayed request has spent if the client doesn't wait.
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
	l := &limiter{LimitOptions: *cmp.Or(opts, &LimitOptions{}), guard: guard, inner: inner.Of(guard), identify: identify}
	l.Channel = channelOr(l.Channel)
	l.refuser = refuser{l.Refused, l.Authenticate, l.Logger, false}
	if l.MaxInFlight > 0 {
		l.inFlight = &inFlight{most: l.MaxInFlight, of: map[string]int{}}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.serve(w, r, next) })
	}, nil
}

// errNoIdentify is the error of Limit and Sessions without a func that identifies users.
var errNoIdentify = errors.New("httpguard: identify is nil: pass ByKey, ByAddress, Anonymous or your own function")

// request is what Limit knows about a request that it judges. It is the request's context, so that
// all of it takes one allocation.
type request struct {
	context.Context
	guest   string                   // reserved ID of the visitor, filled in by Anonymous or ByAddress
	refusal chatguard.ThrottledError // with the verdict, whether the request is refused or not
	values  headerValues
}

// verdictKey is the context key for the *request behind the innermost Limit.
type verdictKey struct{}

// Value returns the parts of a request for their keys, and otherwise the value of the context.
func (q *request) Value(key any) any {
	switch key {
	case verdictKey{}:
		return q
	case guestKey{}:
		return &q.guest
	}
	return q.Context.Value(key)
}

func (l *limiter) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if l.Skip != nil && l.Skip(r) {
		next.ServeHTTP(w, r)
		return
	}
	// Pass this request on to the handler, so that a form parsed by identify isn't lost.
	q := &request{Context: r.Context()}
	r = r.WithContext(q)
	user, err := identified(l.identify, r, &q.guest)
	if err == nil && l.inFlight != nil {
		if err = l.inFlight.enter(user.ID); err == nil {
			defer l.inFlight.leave(user.ID)
		}
	}
	if err == nil {
		err = l.judge(q, r, user, w.Header())
	}
	switch {
	case err != nil:
		l.refuser.refuse(w, r, &q.values, err)
	case l.Counts != nil && q.refusal.Verdict.Spent > 0:
		next.ServeHTTP(&countingWriter{ResponseWriter: w, limiter: l, request: q}, r)
	default:
		next.ServeHTTP(w, r)
	}
}

// judge fills in the verdict on a request and sets the headers. It returns nil once the request may
// be served, or the error with which it is refused.
func (l *limiter) judge(q *request, r *http.Request, user chatguard.User, h http.Header) (err error) {
	v := &q.refusal.Verdict
	m := chatguard.Message{ChannelID: l.Channel(r), User: user, Cost: 1}
	if l.Cost != nil {
		m.Cost = l.Cost(r)
	}
	if m.Cost == 0 {
		if *v, err = l.inner.Left(r.Context(), m); err != nil {
			*v = chatguard.Verdict{}
			return err
		}
		letPass(v)
	} else if err = l.inner.CheckInto(r.Context(), m, v); err != nil {
		return err
	}
	if l.Headers != nil {
		l.Headers(h, *v)
	} else {
		q.values.add(h, l.inner, v, l.PartitionSecret)
	}
	if !v.Allowed {
		return &q.refusal
	}
	if v.Delay <= 0 {
		return nil
	}
	if err := v.Hold(r.Context()); err != nil {
		// The request's context has ended, and the refund must not end with it.
		return errors.Join(err, l.guard.Refund(context.WithoutCancel(r.Context()), *v))
	}
	return nil
}

// letPass changes the verdict on a request that costs nothing, so that it passes: a limit can have
// been lowered below what is used.
func letPass(v *chatguard.Verdict) {
	v.Allowed, v.Observed, v.Never, v.NewStrike = true, false, false, false
	v.Limit, v.Penalty, v.WouldBe = "", chatguard.Penalty{}, chatguard.Penalty{}
	v.RetryAfter, v.Delay, v.Spent, v.Counted, v.EntryID = 0, 0, 0, 0, 0
}

// VerdictFrom returns the verdict on a request from its context. If several Limits judge the
// request, it is the verdict of the innermost one. ok is false if no Limit has judged the request.
func VerdictFrom(ctx context.Context) (v chatguard.Verdict, ok bool) {
	q, ok := ctx.Value(verdictKey{}).(*request)
	if !ok || q.refusal.Verdict.At.IsZero() {
		return chatguard.Verdict{}, false
	}
	return q.refusal.Verdict, true
}
