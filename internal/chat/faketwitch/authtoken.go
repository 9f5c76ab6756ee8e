package faketwitch

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// How long tokens live: a refresh token as long as nobody uses it.
const (
	accessLife  = 4 * time.Hour
	refreshLife = 30 * 24 * time.Hour
)

// accessToken is what a token allows, and until when.
type accessToken struct {
	owner   *account
	scopes  []string
	expires time.Time
}

// refreshToken is what the access token made for it will be.
type refreshToken struct {
	owner  *account
	scopes []string
	dies   time.Time
}

// firstRefreshToken belongs to Options.Token.
const firstRefreshToken = "fake0refresh0token0of0the0bot"

// openIdentity makes the identity server know the bot's first pair of tokens.
func (s *Server) openIdentity() {
	s.auth = identityServer{
		access: make(map[string]*accessToken), refresh: make(map[string]*refreshToken), devices: make(map[string]*device),
		life: deviceLife, interval: deviceInterval,
	}
	s.addPair(s.opts.Token, firstRefreshToken, s.account(s.opts.Login), s.opts.Scopes)
}

func (s *Server) addPair(access, refresh string, owner *account, scopes []string) {
	now := s.opts.Now()
	s.auth.access[access] = &accessToken{owner: owner, scopes: scopes, expires: now.Add(s.opts.TokenLife)}
	s.auth.refresh[refresh] = &refreshToken{owner: owner, scopes: scopes, dies: now.Add(refreshLife)}
}

// liveToken is what a token is that can be used. The caller holds mu.
func (s *Server) liveToken(token string) (*accessToken, bool) {
	t, ok := s.auth.access[token]
	return t, ok && s.opts.Now().Before(t.expires)
}

func (t *accessToken) allows(scope string) bool {
	return scope == "" || slices.Contains(t.scopes, scope)
}

// issue makes a new pair of tokens and the answer that gives it out. The caller holds mu.
func (s *Server) issue(owner *account, scopes []string) reply {
	s.auth.lastID++
	access, refresh := fmt.Sprintf("fake0access0token%d", s.auth.lastID), fmt.Sprintf("fake0refresh0token%d", s.auth.lastID)
	s.addPair(access, refresh, owner, scopes)
	return reply{status: http.StatusOK, body: map[string]any{
		"access_token": access, "refresh_token": refresh, "expires_in": seconds(s.opts.TokenLife), "scope": scopes, "token_type": "bearer",
	}}
}

// giveForRefresh gives a new pair for a refresh token, which can't be used again. The access token before it goes on until it expires.
func (s *Server) giveForRefresh(c authCall) reply {
	name := c.form.Get("refresh_token")
	refresh, ok := s.auth.refresh[name]
	switch {
	case name == "":
		return refuseAuth(http.StatusBadRequest, "missing refresh token")
	case !ok || !c.at.Before(refresh.dies):
		return refuseAuth(http.StatusBadRequest, "Invalid refresh token")
	}
	delete(s.auth.refresh, name)
	s.auth.refreshed++
	return s.issue(refresh.owner, refresh.scopes)
}

// RefreshToken is the refresh token that belongs to Token.
func (s *Server) RefreshToken() string { return firstRefreshToken }

// Refreshes returns how many times a new pair of tokens was given for a refresh token.
func (s *Server) Refreshes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.auth.refreshed
}

// ExpireTokens ends the life of all access tokens; they can be refreshed.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.auth.access)
}

// Revoke makes all tokens void, access and refresh tokens alike, as when the bot's owner disconnects the application, and ends all subscriptions of
// EventSub. Connections stay.
func (s *Server) Revoke() {
	s.mu.Lock()
	clear(s.auth.access)
	clear(s.auth.refresh)
	notices := s.revoke("authorization_revoked", func(*eventSubscription) bool { return true })
	s.mu.Unlock()
	deliver(notices)
}

// seconds is a length of time as Twitch tells it, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
