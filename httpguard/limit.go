package httpguard

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

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
	// Pattern limits each route of an http.ServeMux separately, if Limit is around the handlers of
	// the routes. Around the outermost ServeMux, the Pattern is still empty, which is a mistake.
	// Return only names from a fixed list: a client that could choose the name could choose a fresh
	// allowance. Nil means MainChannel.
	Channel func(*http.Request) string

	// Cost returns how many messages the request counts as. A request that costs 0 passes in any
	// case, and has the headers. A negative number is a mistake. Nil means 1.
	Cost func(*http.Request) int

	// Counts reports whether a request counts, given the status of its response. For example, only
	// failures count with func(status int) bool { return status >= 400 }. The cost is spent before
	// the request is served, so requests at the same time can't exceed the limit, and the headers
	// include it. It is given back as soon as a status is written that doesn't count. A request
	// whose handler panics or returns without an answer counts, because others may answer it; a
	// connection that was taken over has status 101. If the client has hung up, a status of 499 or
	// above counts whatever Counts says: otherwise clients could hang up to get work for free. Nil
	// means that all requests count.
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

	// KeepVerdict keeps the verdict on a request that passes, so that its handler can read it with
	// VerdictFrom. It costs a copy of the request.
	KeepVerdict bool

	// Headers describes the verdict in the answer's headers. Nil means AddHeaders; a func that does
	// nothing hides the limits. A throttled request has Retry-After in any case, unless waiting
	// never helps.
	Headers func(http.Header, chatguard.Verdict)

	// XRateLimit also sets the headers that older clients read, as AddXRateLimit does. If one Limit
	// is around another, set it in both. It has no effect with a func in Headers.
	XRateLimit bool

	// PartitionSecret adds a partition key to RateLimit (pk): the first 8 bytes of a SHA-256 hash
	// of the secret, the channel and the user. Clients with several keys can tell by it which of
	// them a limit is about, and nobody learns the user's ID or address from it, as long as the
	// secret is one. Use the same secret in several processes, or the result of crypto/rand.Text in
	// one. Empty means no partition key. It has no effect with a func in Headers.
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
// with 500, and logs it. It sets RateLimit and RateLimit-Policy as AddHeaders does, whether the
// request passes or not. If a leaky bucket delays a request, Limit holds it for the delay, unless
// the request's context ends first.
//
// A request has spent its cost when the handler is called. Unless Counts says otherwise, Limit
// gives nothing back if the handler panics or answers with an error; the handler can, with
// KeepVerdict, VerdictFrom and Guard.Refund. It gives back what a delayed request has spent if the
// client doesn't wait.
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

// verdicts has verdicts to fill in, which are large. Each is the zero Verdict.
var verdicts = sync.Pool{New: func() any { return new(chatguard.Verdict) }}

func (l *limiter) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if l.Skip != nil && l.Skip(r) {
		next.ServeHTTP(w, r)
		return
	}
	user, err := identified(l.identify, r)
	if err == nil && l.inFlight != nil {
		if err = l.inFlight.enter(user.ID); err == nil {
			defer l.inFlight.leave(user.ID)
		}
	}
	if err != nil {
		l.refuser.refuse(w, r, new(headerValues), err)
		return
	}
	if w, r, ok := l.pass(w, r, user); ok {
		next.ServeHTTP(w, r)
	}
}

// pass judges a user's request. It returns the writer and the request for the handler, or answers
// the request and returns false.
func (l *limiter) pass(w http.ResponseWriter, r *http.Request, user chatguard.User) (http.ResponseWriter, *http.Request, bool) {
	v, values := verdicts.Get().(*chatguard.Verdict), new(headerValues)
	defer func() {
		*v = chatguard.Verdict{}
		verdicts.Put(v)
	}()
	switch err := l.judge(v, r, user, w.Header(), values); {
	case err != nil:
		l.refuser.refuse(w, r, values, err)
		return nil, nil, false
	case !v.Allowed:
		l.refuser.throttle(w, r, values, v)
		return nil, nil, false
	}
	if l.Counts != nil && v.Spent > 0 {
		w = &countingWriter{ResponseWriter: w, limiter: l, request: r, verdict: *v}
	}
	if l.KeepVerdict {
		kept := *v
		r = r.WithContext(context.WithValue(r.Context(), verdictKey{}, &kept))
	}
	return w, r, true
}

// judge fills in the verdict on a request and sets the headers. It returns an error if the request
// can't be judged.
func (l *limiter) judge(v *chatguard.Verdict, r *http.Request, user chatguard.User, h http.Header, values *headerValues) (err error) {
	m := chatguard.Message{ChannelID: l.Channel(r), User: user, Cost: 1}
	if l.Cost != nil {
		m.Cost = l.Cost(r)
	}
	if m.Cost == 0 {
		if *v, err = l.inner.Left(r.Context(), m); err != nil {
			return err
		}
		letPass(v)
	} else if err = l.inner.CheckInto(r.Context(), m, v); err != nil {
		return err
	}
	if l.Headers != nil {
		l.Headers(h, *v)
	} else {
		quotas, granted := l.inner.Quotas(v), l.inner.Granted(v)
		if values.add(h, quotas, granted, v, l.PartitionSecret); l.XRateLimit {
			addXRateLimit(h, quotas, granted, v)
		}
	}
	if v.Delay == 0 { // Hold would copy the verdict
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

// verdictKey is the context key for the *chatguard.Verdict of the innermost Limit that keeps it.
type verdictKey struct{}

// VerdictFrom returns the verdict on a request from its context, if it has passed a Limit with
// LimitOptions.KeepVerdict. If several of them have judged the request, it is the verdict of the
// innermost one. ok is false if none has.
func VerdictFrom(ctx context.Context) (v chatguard.Verdict, ok bool) {
	kept, ok := ctx.Value(verdictKey{}).(*chatguard.Verdict)
	if !ok {
		return chatguard.Verdict{}, false
	}
	return *kept, true
}
