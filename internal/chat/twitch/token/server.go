package token

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// Pair is an access token and the refresh token that renews it. Printing a Pair shows neither
// token.
type Pair struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token,omitempty"` // empty if the access token can't be renewed
	// expiry of the access token; zero if unknown
	Expires time.Time `json:"expires_at,omitzero"`
	// ClientID is the application that the token was made for; empty if unknown.
	ClientID string `json:"client_id,omitempty"`
}

// String hides the tokens.
func (p Pair) String() string { return "hidden" }

// LogValue hides the tokens.
func (p Pair) LogValue() slog.Value { return slog.StringValue(p.String()) }

// isDue reports whether the access token is missing or expires within margin. If it can't be
// renewed, margin doesn't apply, because the token is used until it expires.
func (p Pair) isDue(now time.Time, margin time.Duration) bool {
	if p.Refresh == "" {
		margin = 0
	}
	return p.Access == "" || !p.Expires.IsZero() && !now.Before(p.Expires.Add(-margin))
}

// Identity is the account that a token belongs to.
type Identity struct {
	UserID string
	Login  string
	// ClientID is the application that the token was made for; empty if unknown.
	ClientID  string
	Scopes    []string      // granted scopes; nil if unknown
	ExpiresIn time.Duration // 0 if the token doesn't expire, or if unknown
}

// authURL is the address of Twitch's identity server.
const authURL = "https://id.twitch.tv/oauth2"

// authServer is Twitch's identity server.
type authServer struct {
	url    string // empty means Twitch's URL
	client *http.Client
	now    func() time.Time
	// clientID and secret identify an application that has a secret. Twitch renews the tokens of
	// such an application only with it. secret is empty if the application has none.
	clientID, secret string
}

func (s authServer) base() string { return cmp.Or(s.url, authURL) }

// ask posts a form. It returns an error if the exchange did not complete, or if Request.Trouble
// returns one for the answer. The caller has to interpret any other answer, for example a 400. The
// error never contains the form's values.
func (s authServer) ask(ctx context.Context, r api.Request, form url.Values) (api.Answer, error) {
	r.Method, r.Body = http.MethodPost, form
	a, err := r.Send(ctx, s.client, nil)
	if !a.OK() {
		a.Hide(form.Get("refresh_token"), form.Get("device_code"), form.Get("code"), form.Get("token"), form.Get("client_secret"))
	}
	return a, r.Trouble(a, err)
}

// pair reads the tokens from an answer.
func (s authServer) pair(r api.Request, a api.Answer, clientID string) (Pair, error) {
	var told struct {
		Access    string `json:"access_token"`
		Refresh   string `json:"refresh_token"`
		ExpiresIn int64  `json:"expires_in"`
	}
	if err := r.Decode(a, &told); err != nil {
		return Pair{}, err
	}
	access, err := twitch.BareToken(told.Access)
	if err != nil {
		return Pair{}, fmt.Errorf("%s: %w (%w)", r.Op, twitch.ErrRejected, err)
	}
	p := Pair{Access: access, Refresh: told.Refresh, ClientID: clientID}
	if told.ExpiresIn > 0 {
		p.Expires = s.nowPlus(time.Duration(told.ExpiresIn) * time.Second)
	}
	return p, nil
}

// nowPlus returns the current time plus d, in a form that can be stored. It uses the wall clock,
// which also advances while the machine sleeps.
func (s authServer) nowPlus(d time.Duration) time.Time { return s.now().Add(d).UTC() }

// refusesSecret reports whether Twitch refuses a request because the application's secret is wrong
// or missing.
func refusesSecret(a api.Answer) bool {
	return (a.Status == http.StatusBadRequest || a.Status == http.StatusForbidden) && bytes.Contains(a.Body, []byte("client secret"))
}

// renew exchanges a pair for a new one. The old refresh token may not work again. ErrToken means
// that Twitch no longer accepts the refresh token. Any other error may be temporary.
func (s authServer) renew(ctx context.Context, old Pair) (Pair, error) {
	r := api.Request{Op: "renew the token", URL: s.base() + "/token", Forbidden: twitch.ErrToken}
	form := url.Values{"client_id": {old.ClientID}, "grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}}
	if s.secret != "" && old.ClientID == s.clientID {
		form.Set("client_secret", s.secret)
	}
	a, err := s.ask(ctx, r, form)
	switch {
	case refusesSecret(a):
		return Pair{}, fmt.Errorf("%w (%w)", r.Refused(twitch.ErrToken, a), ErrSecret)
	case err == nil && a.Status == http.StatusBadRequest:
		return Pair{}, r.Refused(twitch.ErrToken, a)
	case err == nil && !a.OK():
		err = r.Refused(twitch.ErrUnavailable, a)
	}
	if err != nil {
		return Pair{}, asUnavailable(err)
	}
	p, err := s.pair(r, a, old.ClientID)
	p.Refresh = cmp.Or(p.Refresh, old.Refresh)
	return p, asUnavailable(err)
}

// validate returns the owner of a token. It doesn't retry. The error is ErrToken if Twitch refuses
// the token; any other error may be temporary.
func (s authServer) validate(ctx context.Context, access string) (Identity, error) {
	id, err := s.identify(ctx, access)
	return id, asUnavailable(err)
}

func (s authServer) identify(ctx context.Context, access string) (Identity, error) {
	r := api.Request{Op: "validate the token", Method: http.MethodGet, URL: s.base() + "/validate"}
	token, err := twitch.BareToken(access)
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w (%w)", r.Op, twitch.ErrToken, err)
	}
	a, err := r.Send(ctx, s.client, http.Header{"Authorization": {"OAuth " + token}})
	a.Hide(token)
	if err := r.Trouble(a, err); err != nil {
		return Identity{}, err
	}
	if !a.OK() {
		return Identity{}, r.Refused(twitch.ErrRejected, a)
	}
	var told struct {
		ClientID  string   `json:"client_id"`
		Login     string   `json:"login"`
		Scopes    []string `json:"scopes"`
		UserID    string   `json:"user_id"`
		ExpiresIn int64    `json:"expires_in"`
	}
	if err := r.Decode(a, &told); err != nil {
		return Identity{}, err
	}
	if told.UserID == "" {
		return Identity{}, fmt.Errorf("%s: %w (it is an application's; the bot needs a user's)", r.Op, twitch.ErrToken)
	}
	return Identity{
		UserID: told.UserID, Login: told.Login, ClientID: told.ClientID, Scopes: told.Scopes,
		ExpiresIn: time.Duration(told.ExpiresIn) * time.Second,
	}, nil
}

// asUnavailable wraps an error in ErrUnavailable unless it shows whether a token is valid.
func asUnavailable(err error) error {
	if err == nil || errors.Is(err, twitch.ErrToken) || errors.Is(err, twitch.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w (%w)", twitch.ErrUnavailable, err)
}
