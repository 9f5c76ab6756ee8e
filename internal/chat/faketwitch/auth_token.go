package faketwitch

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Lifetimes of tokens. A refresh token expires if it isn't used for its lifetime.
const (
	accessLife  = 4 * time.Hour
	refreshLife = 30 * 24 * time.Hour
)

// token is what an access token or a refresh token allows, and when it expires.
type token struct {
	owner   *account
	scopes  []string
	expires time.Time
}

// firstRefreshToken is the refresh token that belongs to Options.Token.
const firstRefreshToken = "fake0refresh0token0of0the0bot"

func (s *identityServer) addPair(access, refresh string, owner *account, scopes []string) {
	now := s.opts.Now()
	s.access[access] = &token{owner: owner, scopes: scopes, expires: now.Add(s.opts.TokenLife)}
	s.refresh[refresh] = &token{owner: owner, scopes: scopes, expires: now.Add(refreshLife)}
}

// liveToken returns an access token if it is valid. The caller holds mu.
func (s *identityServer) liveToken(access string) (*token, bool) {
	t, ok := s.access[access]
	return t, ok && s.opts.Now().Before(t.expires)
}

func (t *token) allows(scope string) bool {
	return scope == "" || slices.Contains(t.scopes, scope)
}

// issue creates a pair of tokens and returns the answer that contains it. The caller holds mu.
func (s *identityServer) issue(owner *account, scopes []string) reply {
	s.lastID++
	access, refresh := fmt.Sprintf("fake0access0token%d", s.lastID), fmt.Sprintf("fake0refresh0token%d", s.lastID)
	s.addPair(access, refresh, owner, scopes)
	return reply{status: http.StatusOK, body: map[string]any{
		"access_token": access, "refresh_token": refresh, "expires_in": seconds(s.opts.TokenLife), "scope": scopes, "token_type": "bearer",
	}}
}

// giveForRefresh issues a new pair for a refresh token. The refresh token can't be used again. The
// previous access token stays valid until it expires.
func (s *identityServer) giveForRefresh(c authCall) reply {
	name := c.form.Get("refresh_token")
	refresh, ok := s.refresh[name]
	switch {
	case s.opts.ClientSecret != "" && c.form.Get("client_secret") != s.opts.ClientSecret:
		return s.refuseSecret(c)
	case name == "":
		return authRefusal(http.StatusBadRequest, "missing refresh token")
	case !ok || !c.at.Before(refresh.expires):
		return authRefusal(http.StatusBadRequest, "Invalid refresh token")
	}
	delete(s.refresh, name)
	s.refreshed++
	return s.issue(refresh.owner, refresh.scopes)
}

// refuseSecret returns the refusal of a request without the application's secret.
func (s *identityServer) refuseSecret(c authCall) reply {
	if c.form.Get("client_secret") == "" {
		return authRefusal(http.StatusBadRequest, "missing client secret")
	}
	return authRefusal(http.StatusForbidden, "invalid client secret")
}

// revokeToken invalidates an access token. Its refresh token stays valid.
func (s *identityServer) revokeToken(c authCall) reply {
	token := c.form.Get("token")
	switch {
	case c.form.Get("client_id") != s.opts.ClientID:
		return authRefusal(http.StatusNotFound, "client does not exist")
	case s.access[token] == nil:
		return authRefusal(http.StatusBadRequest, "Invalid token")
	}
	delete(s.access, token)
	return reply{status: http.StatusOK}
}

// DisconnectAccount invalidates all tokens of an account, as if it had disconnected the
// application.
func (s *identityServer) DisconnectAccount(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.account(login)
	isTheirs := func(_ string, t *token) bool { return t.owner == owner }
	maps.DeleteFunc(s.access, isTheirs)
	maps.DeleteFunc(s.refresh, isTheirs)
}

// Tokens returns the number of valid access tokens of an account.
func (s *identityServer) Tokens(login string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner, valid := s.account(login), 0
	for token := range s.access {
		if t, ok := s.liveToken(token); ok && t.owner == owner {
			valid++
		}
	}
	return valid
}

// RefreshToken returns the refresh token that belongs to Token.
func (s *identityServer) RefreshToken() string { return firstRefreshToken }

// Refreshes returns how many times a refresh token was exchanged for a new pair.
func (s *identityServer) Refreshes() int { return read(s.state, &s.refreshed) }

// ExpireTokens expires all access tokens. Their refresh tokens stay valid.
func (s *identityServer) ExpireTokens() { s.locked(func() { clear(s.access) }) }

// seconds returns a duration in whole seconds, rounded up, as Twitch does.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
