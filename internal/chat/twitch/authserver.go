package twitch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Pair is an access token and the refresh token that renews it. Printed, it shows neither.
type Pair struct {
	Access   string    `json:"access_token"`
	Refresh  string    `json:"refresh_token,omitempty"` // empty: the access token works until it expires
	Expires  time.Time `json:"expires_at,omitzero"`     // of the access token; zero where that isn't known
	ClientID string    `json:"client_id,omitempty"`     // of the application it was made for; empty where that isn't known
}

// String hides the tokens.
func (p Pair) String() string { return "hidden" }

// LogValue hides the tokens.
func (p Pair) LogValue() slog.Value { return slog.StringValue(p.String()) }

// due reports whether the access token is of no use from a moment on, looked at a margin before. A token that can't be renewed is used to its end.
func (p Pair) due(now time.Time, margin time.Duration) bool {
	if p.Refresh == "" {
		margin = 0
	}
	return p.Access == "" || !p.Expires.IsZero() && !now.Before(p.Expires.Add(-margin))
}

// authServer is Twitch's identity server.
type authServer struct {
	url    string // empty means Twitch's
	client *http.Client
	now    func() time.Time
}

func (s authServer) base() string { return cmp.Or(s.url, authURL) }

// ask posts a form. The error is for an exchange that didn't come to its end, for a server that is in trouble, or, of ErrToken, ErrBusy and the like,
// for a refusal other than 400, which is the caller's to understand. It never holds what the form does.
func (s authServer) ask(ctx context.Context, r request, form url.Values) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", r.op, err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, r.trouble(answer{}, err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	a := answer{status: resp.StatusCode, header: resp.Header, body: read}
	if !a.ok() {
		a.body = hide(a.body, form["refresh_token"], form["device_code"])
	}
	return a, r.trouble(a, err)
}

// hide takes secrets out of what a server says of them.
func hide(text []byte, secrets ...[]string) []byte {
	for _, list := range secrets {
		for _, secret := range list {
			if secret != "" {
				text = []byte(strings.ReplaceAll(string(text), secret, "[hidden]"))
			}
		}
	}
	return text
}

// pair reads the tokens from an answer that gives some.
func (s authServer) pair(r request, a answer, clientID string) (Pair, error) {
	var told struct {
		Access    string `json:"access_token"`
		Refresh   string `json:"refresh_token"`
		ExpiresIn int64  `json:"expires_in"`
	}
	if err := r.decode(a, &told); err != nil {
		return Pair{}, err
	}
	access, err := bareToken(told.Access)
	if err != nil {
		return Pair{}, fmt.Errorf("%s: %w (%w)", r.op, ErrRejected, err)
	}
	p := Pair{Access: access, Refresh: told.Refresh, ClientID: clientID}
	if told.ExpiresIn > 0 {
		p.Expires = s.after(time.Duration(told.ExpiresIn) * time.Second)
	}
	return p, nil
}

// after is a moment to be written down: of the wall's clock, which goes on while the machine sleeps.
func (s authServer) after(d time.Duration) time.Time { return s.now().Add(d).UTC() }

// renew gets a new pair for an old one, whose refresh token can't be used again. ErrToken is for a refresh token that Twitch no longer takes; any other
// error may pass.
func (s authServer) renew(ctx context.Context, old Pair) (Pair, error) {
	r := request{op: "renew the token", url: s.base() + "/token", forbidden: ErrToken}
	a, err := s.ask(ctx, r, url.Values{
		"client_id": {old.ClientID}, "grant_type": {"refresh_token"}, "refresh_token": {old.Refresh},
	})
	switch {
	case err == nil && a.status == http.StatusBadRequest:
		return Pair{}, r.refused(ErrToken, a)
	case err == nil && !a.ok():
		err = r.refused(ErrUnavailable, a)
	}
	if err != nil {
		return Pair{}, inconclusive(err)
	}
	p, err := s.pair(r, a, old.ClientID)
	p.Refresh = cmp.Or(p.Refresh, old.Refresh)
	return p, inconclusive(err)
}

// validate says whose a token is. ErrToken is for one that Twitch doesn't take; any other error may pass.
func (s authServer) validate(ctx context.Context, access string) (Identity, error) {
	h := &Helix{AuthURL: s.url, HTTP: s.client, Now: s.now, Token: func(context.Context) (string, error) { return access, nil }}
	id, err := h.Validate(ctx)
	return id, inconclusive(err)
}

// inconclusive makes an ErrUnavailable of whatever doesn't tell whether a token is good.
func inconclusive(err error) error {
	if err == nil || errors.Is(err, ErrToken) || errors.Is(err, ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrUnavailable, err)
}
