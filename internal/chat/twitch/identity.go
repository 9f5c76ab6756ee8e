package twitch

import (
	"context"
	"errors"
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
	h.learnClientID(told.ClientID)
	return Identity{
		UserID: told.UserID, Login: told.Login, ClientID: told.ClientID, Scopes: told.Scopes,
		ExpiresIn: time.Duration(told.ExpiresIn) * time.Second,
	}, nil
}

func (h *Helix) learnClientID(id string) {
	if h.ClientID != "" && h.ClientID != id {
		loggerOr(h.Logger).Warn("twitch.client_id isn't the one the token was made for; Twitch will refuse the two together",
			"client_id", h.ClientID, "of_token", oneLine(id))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.learned = id
}

// Identify says whom the token belongs to: by the identity server, or, where that gives no answer, by Helix. A token that the identity server
// refuses is an ErrToken without asking further. Twitch's own identity server is never told the token of another Helix.
func (h *Helix) Identify(ctx context.Context) (Identity, error) {
	if foreign := h.baseURL() != helixURL && h.authURL() == authURL; !foreign {
		identity, err := h.Validate(ctx)
		if err == nil || errors.Is(err, ErrToken) || ctx.Err() != nil {
			return identity, err
		}
		loggerOr(h.Logger).Warn("twitch: the identity server gave no answer, asking Helix", "trouble", oneLine(err.Error()))
	}
	me, err := h.Me(ctx)
	if err != nil {
		return Identity{}, err
	}
	return Identity{UserID: me.ID, Login: me.Login}, nil
}

// Me returns the account that the token belongs to.
func (h *Helix) Me(ctx context.Context) (Account, error) {
	accounts, err := h.accounts(ctx, "ask whose the token is", nil)
	if err != nil {
		return Account{}, err
	}
	if len(accounts) != 1 || accounts[0].ID == "" {
		return Account{}, fmt.Errorf("ask whose the token is: %w (no user's: it may be an application's)", ErrToken)
	}
	return accounts[0], nil
}

// Users returns the accounts with these logins. Those that don't exist are missing from the result, whose order is Twitch's.
func (h *Helix) Users(ctx context.Context, logins ...string) ([]Account, error) {
	var all []Account
	for some := range slices.Chunk(logins, maxLogins) {
		accounts, err := h.accounts(ctx, "look users up", url.Values{"login": some})
		if err != nil {
			return nil, err
		}
		all = append(all, accounts...)
	}
	return all, nil
}

func (h *Helix) accounts(ctx context.Context, op string, query url.Values) ([]Account, error) {
	r := request{op: op, method: http.MethodGet, url: h.baseURL() + "/users"}
	if len(query) > 0 {
		r.url += "?" + query.Encode()
	}
	a, err := h.do(ctx, r)
	if err != nil {
		return nil, err
	}
	if !a.ok() {
		return nil, r.refused(ErrRejected, a)
	}
	var told struct {
		Data []Account `json:"data"`
	}
	if err := r.decode(a, &told); err != nil {
		return nil, err
	}
	return told.Data, nil
}
