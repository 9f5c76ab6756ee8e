package twitchsignin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// The relative paths from Begin and Callback to the dashboard.
const (
	upFromBegin    = "../"
	upFromCallback = "../../"
)

// BeginCode is GET /signin/twitch: it sends the browser to Twitch. "for=viewer" asks only who a
// viewer is, and "account=other" lets the person choose another account.
func (s *SignIns) BeginCode(w http.ResponseWriter, r *http.Request) error {
	what, page, f := s.beginCode(w, r)
	if f != nil {
		s.fail(r, f)
		s.show(w, r, f, what, upFromBegin)
		return nil
	}
	problem.Redirect(w, page)
	return nil
}

// beginCode returns the address to which the browser is sent.
func (s *SignIns) beginCode(w http.ResponseWriter, r *http.Request) (what purpose, page string, f *failure) {
	query := r.URL.Query()
	what, known := map[string]purpose{"": toDashboard, string(asViewer): asViewer}[query.Get("for")]
	tw, way := s.way()
	if !known || way != ByCode || !s.offers(what) {
		return what, "", &notOffered
	}
	if away := s.elsewhere(r); away != "" {
		return what, away, nil
	}
	if f := s.take(s.begins, r); f != nil {
		return what, "", f
	}
	begun := s.flows.begin(what)
	s.flows.set(w, r, s.flows.key.Seal(begun))
	a := begun.authorization(s.opts.Address)
	a.Verify = query.Get("account") == "other"
	return what, tw.Page(a), nil
}

// take counts a request against the limit of its address. It returns a failure if the limit is
// reached.
func (s *SignIns) take(limit *access.AddressLimit, r *http.Request) *failure {
	wait, err := limit.Take(r.Context(), s.opts.Site.Client(r))
	if err == nil && wait == 0 {
		return nil
	}
	limited := tooMany.because(err)
	limited.wait = wait
	return limited
}

// offers reports whether people can sign in for a purpose.
func (s *SignIns) offers(what purpose) bool {
	if what == asViewer {
		return s.viewers.signedIn != nil
	}
	return s.opts.Dashboard
}

// elsewhere returns the address at which the sign-in must begin if the browser has opened the
// dashboard at another host than the one that Twitch redirects to. It returns "" if the hosts are
// the same. The flow's cookie belongs to one host. A proxy may change the host's name, so a browser
// is redirected only once.
func (s *SignIns) elsewhere(r *http.Request) string {
	const once = "once"
	home, err := url.Parse(s.opts.Address)
	query := r.URL.Query()
	if err != nil || query.Has(once) || strings.EqualFold(home.Host, r.Host) {
		return ""
	}
	query.Set(once, "")
	return s.opts.Address + Begin + "?" + query.Encode()
}

// Finish is GET /signin/twitch/callback, to which Twitch sends the browser: it signs the person in.
func (s *SignIns) Finish(w http.ResponseWriter, r *http.Request) error {
	begun, code, f := s.returned(w, r)
	if f == nil {
		f = s.finish(w, r, begun, code)
	}
	if f != nil {
		s.fail(r, f)
		s.show(w, r, f, begun.For, upFromCallback)
	}
	return nil
}

// maxCode is the maximum length of an authorization code; Twitch's have 30 characters.
const maxCode = 500

// returned checks the request with which the browser comes back from Twitch. It returns the flow
// and the code. The flow's cookie is deleted, but a client that has kept it can come back with
// other codes. So each address may come back only at a limited rate.
func (s *SignIns) returned(w http.ResponseWriter, r *http.Request) (begun flow, code string, f *failure) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	state, isSingle := single(query, "state")
	if err != nil || !isSingle {
		return flow{}, "", &malformed
	}
	begun, ok := s.flows.of(r, state)
	if !ok {
		return flow{}, "", &foreign
	}
	if f := s.take(s.returns, r); f != nil {
		return begun, "", f
	}
	s.flows.set(w, r, "")
	code, hasCode := single(query, "code")
	refusal, hasProblem := single(query, "error")
	switch {
	case !s.opts.now().Before(begun.Expires):
		return begun, "", &late
	case hasProblem && !query.Has("code") && refusal == "access_denied":
		return begun, "", &userDenied
	case hasProblem && !query.Has("code"):
		return begun, "", badSetup.because(errors.New("Twitch: " + hostile.Detail(refusal+" "+query.Get("error_description"))))
	case !hasCode || query.Has("error") || len(code) > maxCode || !hostile.IsPlain(code):
		return begun, "", &malformed
	}
	return begun, code, nil
}

// single returns the only value of a key. ok is false if there is none, an empty one, or several.
func single(query url.Values, key string) (value string, ok bool) {
	values := query[key]
	if len(values) != 1 || values[0] == "" {
		return "", false
	}
	return values[0], true
}

// finish redeems the code, and signs the person in.
func (s *SignIns) finish(w http.ResponseWriter, r *http.Request, begun flow, code string) *failure {
	tw, way := s.way()
	if way != ByCode || !s.offers(begun.For) {
		return &notOffered
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	default:
		return &busy
	}
	// The code works once, so finish even if the browser doesn't wait.
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer stop()
	pair, err := tw.Redeem(ctx, code, begun.authorization(s.opts.Address))
	if errors.Is(err, token.ErrNonce) {
		s.forget(tw.New(pair, nil))
	}
	if err != nil {
		return failureOf(err)
	}
	if begun.For == asViewer {
		return s.finishViewer(ctx, w, r, tw.New(pair, nil))
	}
	session, f := s.admit(ctx, tw.New(pair, person.ModeratorScopes))
	if f != nil {
		return f
	}
	s.signIn(w, r, session)
	problem.Redirect(w, upFromCallback)
	return nil
}

// finishViewer asks who a viewer is, and passes that on.
func (s *SignIns) finishViewer(ctx context.Context, w http.ResponseWriter, r *http.Request, p *person.Person) *failure {
	defer s.forget(p)
	account, err := p.Identify(ctx)
	if err != nil {
		return failureOf(err)
	}
	name, err := p.Name(ctx)
	if err != nil {
		return failureOf(err)
	}
	s.count(signedIn)
	s.opts.Log.Info("a viewer has signed in with Twitch", "login", hostile.Detail(account.Login), "id", account.ID)
	if err := s.viewers.signedIn(w, r, auth.Viewer{ID: account.ID, Login: account.Login, DisplayName: name}); err != nil {
		return nonsense.because(err)
	}
	return nil
}

// failureOf returns the failure for an error from Twitch.
func failureOf(err error) *failure {
	for _, known := range []struct {
		cause error
		is    failure
	}{
		{token.ErrSecret, badSetup}, {token.ErrClientID, badSetup}, {token.ErrNonce, stolenCode}, {token.ErrApplication, stolenCode}, {token.ErrCode, usedCode},
		{token.ErrDenied, userDenied}, {token.ErrCodeExpired, late}, {twitch.ErrScope, userDenied}, {twitch.ErrUnavailable, noAnswer}, {twitch.ErrBusy, noAnswer}, {twitch.ErrLimited, noAnswer},
		{context.DeadlineExceeded, noAnswer},
	} {
		if errors.Is(err, known.cause) {
			return known.is.because(err)
		}
	}
	return nonsense.because(err)
}

// fail counts and logs a failure. A failure of Twitch is a warning. What strangers can cause is
// logged only for debugging.
func (s *SignIns) fail(r *http.Request, f *failure) {
	s.count(f.result)
	level := slog.LevelInfo
	switch f.result {
	case failed:
		level = slog.LevelWarn
	case refused, limited:
		level = slog.LevelDebug
	}
	if f.result == refused && f.cause != nil { // Twitch was asked, so the sign-in had begun here
		level = slog.LevelInfo
	}
	s.opts.Log.Log(r.Context(), level, "a sign-in with Twitch has failed", "why", f.Error(), "address", s.opts.Site.Client(r))
}
