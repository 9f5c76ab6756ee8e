package token

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/clock"
)

// Errors of a sign-in by authorization code.
var (
	// ErrSecret means that Twitch refuses the application's secret.
	ErrSecret = errors.New("Twitch refuses the client secret: copy it again from dev.twitch.tv/console into CHATGUARD_TWITCH_CLIENT_SECRET")

	// ErrCode means that Twitch does not accept the code: it was used before, is too old, or was
	// made for another application or address.
	ErrCode = errors.New("Twitch does not accept the code")

	// ErrNonce means that the code was made for another sign-in than the one that redeems it.
	ErrNonce = errors.New("the code belongs to another sign-in")

	// ErrApplication means that a token was made for another application.
	ErrApplication = errors.New("the token was made for another application")
)

// Application is a Twitch application that gets tokens of people who sign in. It keeps none of
// them. Its fields must not change after the first use. It is safe for concurrent use.
type Application struct {
	AuthURL  string // of the identity server; empty means Twitch's
	ClientID string // required
	Secret   string // empty if the application has none; then only DeviceLogins work
	// HTTP is the client to use. It should have a timeout and follow no redirects, like that of
	// api.NewClient; required.
	HTTP  *http.Client
	Clock clock.Clock // the wall clock, unless a test replaces it
}

// Authorization is one sign-in by authorization code. State and Nonce must be random. The State
// shows that the browser that comes back from Twitch is the one that was sent there. The Nonce
// shows that the code was made for this sign-in, so that a stolen code is worthless in another one.
// Twitch doesn't support PKCE, which has the same purpose.
type Authorization struct {
	// Redirect is the address to which Twitch sends the browser. It must be registered with the
	// application.
	Redirect string
	State    string
	Nonce    string
	Scopes   []string // may be empty
	// Verify makes Twitch ask even a person who has authorized the application before, so that they
	// can choose another account.
	Verify bool
}

// scopeOpenID makes Twitch return an ID token, which contains the nonce.
const scopeOpenID = "openid"

// Page returns the address of Twitch's page that asks a person for the authorization.
func (a *Application) Page(of Authorization) string {
	query := url.Values{
		"client_id": {a.ClientID}, "redirect_uri": {of.Redirect}, "response_type": {"code"}, "state": {of.State}, "nonce": {of.Nonce},
		"scope": {strings.Join(append([]string{scopeOpenID}, of.Scopes...), " ")},
	}
	if of.Verify {
		query.Set("force_verify", "true")
	}
	return a.server().base() + "/authorize?" + query.Encode()
}

// Redeem exchanges a code for tokens. It doesn't retry, because a code works once. Its errors
// include ErrCode, ErrNonce and ErrSecret, and ErrUnavailable if Twitch failed. With ErrNonce, the
// pair is valid, and the caller should revoke it.
func (a *Application) Redeem(ctx context.Context, code string, of Authorization) (Pair, error) {
	s := a.server()
	r := api.Request{Op: "redeem the code", URL: s.base() + "/token", Forbidden: ErrCode}
	answer, err := s.ask(ctx, r, url.Values{
		"client_id": {a.ClientID}, "client_secret": {a.Secret}, "code": {code}, "grant_type": {"authorization_code"}, "redirect_uri": {of.Redirect},
	})
	switch {
	case refusesSecret(answer):
		return Pair{}, r.Refused(ErrSecret, answer)
	case err == nil && answer.Status == http.StatusBadRequest:
		return Pair{}, r.Refused(ErrCode, answer)
	case err == nil && !answer.OK():
		err = r.Refused(twitch.ErrRejected, answer)
	}
	if err != nil {
		return Pair{}, err
	}
	p, err := s.pair(r, answer, a.ClientID)
	if err != nil {
		return Pair{}, err
	}
	return p, a.checkNonce(r, answer, of.Nonce)
}

// checkNonce returns an error unless the answer's ID token contains the nonce and the application.
// It doesn't check the ID token's signature: the answer comes from Twitch itself, over TLS (OpenID
// Connect Core 1.0, section 3.1.3.7, item 6).
func (a *Application) checkNonce(r api.Request, answer api.Answer, nonce string) error {
	var told struct {
		IDToken string `json:"id_token"`
	}
	var claims struct {
		Audience string `json:"aud"`
		Nonce    string `json:"nonce"`
	}
	if err := r.Decode(answer, &told); err != nil {
		return err
	}
	parts := strings.Split(told.IDToken, ".")
	if len(parts) != 3 {
		return fmt.Errorf("%s: %w (its answer contains no ID token)", r.Op, twitch.ErrRejected)
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(payload, &claims)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w (its ID token can't be read)", r.Op, twitch.ErrRejected)
	case subtle.ConstantTimeCompare([]byte(claims.Nonce), []byte(nonce)) != 1:
		return fmt.Errorf("%s: %w", r.Op, ErrNonce)
	case claims.Audience != a.ClientID:
		return fmt.Errorf("%s: %w", r.Op, ErrApplication)
	}
	return nil
}

// Device returns a login by device code for these scopes.
func (a *Application) Device(scopes []string) *DeviceLogin {
	return &DeviceLogin{Application: *a, Scopes: scopes}
}

// Validate returns the owner of a pair's access token. It doesn't retry. The error is ErrToken if
// Twitch refuses the token, ErrApplication if it belongs to another application, and
// ErrUnavailable otherwise.
func (a *Application) Validate(ctx context.Context, p Pair) (Identity, error) {
	id, err := a.server().validate(ctx, p.Access)
	if err == nil && id.ClientID != a.ClientID {
		return Identity{}, fmt.Errorf("validate the token: %w", ErrApplication)
	}
	return id, err
}

// Renew exchanges a pair for a new one. The error is ErrToken if Twitch no longer accepts the
// refresh token, and also ErrSecret if the reason is the application's secret. Any other error may
// be temporary.
func (a *Application) Renew(ctx context.Context, p Pair) (Pair, error) {
	return a.server().renew(ctx, p)
}

// IsDue reports whether a pair's access token has expired or is about to.
func (a *Application) IsDue(p Pair) bool { return p.isDue(a.Clock.Now(), renewBefore) }

// Revoke makes Twitch forget a pair's access token. It is no error if Twitch has forgotten it
// already.
func (a *Application) Revoke(ctx context.Context, p Pair) error {
	s := a.server()
	r := api.Request{Op: "revoke the token", URL: s.base() + "/revoke"}
	answer, err := s.ask(ctx, r, url.Values{"client_id": {a.ClientID}, "token": {p.Access}})
	if err == nil && !answer.OK() && answer.Status != http.StatusBadRequest {
		return r.Refused(twitch.ErrRejected, answer)
	}
	return err
}

func (a *Application) server() authServer {
	return authServer{url: a.AuthURL, client: a.HTTP, now: a.Clock.Now, clientID: a.ClientID, secret: a.Secret}
}
