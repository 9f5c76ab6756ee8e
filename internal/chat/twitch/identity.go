package twitch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Identity is whom a token belongs to.
type Identity struct {
	UserID    string
	Login     string
	ClientID  string        // of the application it was made for; empty where only Helix could be asked
	Scopes    []string      // what it allows; nil where only Helix could be asked
	ExpiresIn time.Duration // 0 where it doesn't expire, or only Helix could be asked
}

// Account is a Twitch user.
type Account struct {
	ID          string `json:"id"`
	Login       string `json:"login"`
	DisplayName string `json:"display_name"`
}

// maxLogins is how many accounts Twitch tells about in one request.
const maxLogins = 100

// Validate asks the identity server whom the token belongs to. It returns ErrToken for a token that isn't valid (any more), and tries once: an
// identity server that can't be reached is an ErrUnavailable.
func (h *Helix) Validate(ctx context.Context) (Identity, error) {
	r := request{op: "validate the token", method: http.MethodGet, url: h.authURL() + "/validate", scheme: "OAuth"}
	token, err := h.token(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w", r.op, err)
	}
	a, err := h.send(ctx, r, token)
	if err := r.trouble(a, err); err != nil {
		return Identity{}, err
	}
	if !a.ok() {
		return Identity{}, r.refused(ErrRejected, a)
	}
	var told struct {
		ClientID  string   `json:"client_id"`
		Login     string   `json:"login"`
		Scopes    []string `json:"scopes"`
		UserID    string   `json:"user_id"`
		ExpiresIn int64    `json:"expires_in"`
	}
	if err := r.decode(a, &told); err != nil {
		return Identity{}, err
	}
	if told.UserID == "" {
		return Identity{}, fmt.Errorf("%s: %w (it is an application's; the bot needs a user's)", r.op, ErrToken)
	}
	return Identity{
		UserID: told.UserID, Login: told.Login, ClientID: told.ClientID, Scopes: told.Scopes,
		ExpiresIn: time.Duration(told.ExpiresIn) * time.Second,
	}, nil
}

// Users returns the accounts with these logins. Those that don't exist are missing from the result, whose order is Twitch's. It doesn't wait behind
// moderation.
func (h *Helix) Users(ctx context.Context, logins ...string) ([]Account, error) {
	var all []Account
	for some := range slices.Chunk(logins, maxLogins) {
		accounts, err := h.accounts(ctx, request{op: "look users up", essential: true}, url.Values{"login": some})
		if err != nil {
			return nil, err
		}
		all = append(all, accounts...)
	}
	return all, nil
}

func (h *Helix) accounts(ctx context.Context, r request, query url.Values) ([]Account, error) {
	r.method, r.url = http.MethodGet, h.baseURL()+"/users"
	if len(query) > 0 {
		r.url += "?" + query.Encode()
	}
	var told struct {
		Data []Account `json:"data"`
	}
	if err := h.ask(ctx, r, &told); err != nil {
		return nil, err
	}
	return told.Data, nil
}
