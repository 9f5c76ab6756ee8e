package faketwitch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The lifetime and polling interval of a device code.
const (
	deviceLife     = 30 * time.Minute
	deviceInterval = 5 * time.Second
)

// device is a login by device code.
type device struct {
	userCode string
	scopes   []string
	expires  time.Time
	owner    *account // the account that approved it, or nil
	denied   bool
}

// beginDevice starts a login by device code.
func (s *identityServer) beginDevice(c authCall) reply {
	scopes := strings.Fields(c.form.Get("scopes"))
	switch {
	case c.form.Get("client_id") == "":
		return authRefusal(http.StatusBadRequest, "missing client id")
	case c.form.Get("client_id") != s.opts.ClientID:
		return authRefusal(http.StatusBadRequest, "invalid client")
	case len(scopes) == 0:
		return authRefusal(http.StatusBadRequest, "missing scopes")
	}
	for _, scope := range scopes {
		if !strings.Contains(scope, ":") {
			return authRefusal(http.StatusBadRequest, fmt.Sprintf("invalid scope requested: '%s'", scope))
		}
	}
	s.lastID++
	d := &device{userCode: fmt.Sprintf("FAKE%04d", s.lastID), scopes: scopes, expires: c.at.Add(s.life)}
	code := fmt.Sprintf("fake0device0code%d", s.lastID)
	s.devices[code] = d
	s.notifyChanged()
	return reply{status: http.StatusOK, body: map[string]any{
		"device_code": code, "user_code": d.userCode, "expires_in": seconds(s.life), "interval": seconds(s.interval),
		"verification_uri": "http://" + s.web.Addr().String() + "/activate?" + url.Values{"public": {"true"}, "device-code": {d.userCode}}.Encode(),
	}}
}

// giveForDevice issues a pair of tokens once somebody has approved the login. Twitch's
// documentation doesn't say how it answers a denied login. This fake sends the standard's answer
// (RFC 8628, section 3.5).
func (s *identityServer) giveForDevice(c authCall) reply {
	code := c.form.Get("device_code")
	d, ok := s.devices[code]
	switch {
	case !ok || !c.at.Before(d.expires):
		return authRefusal(http.StatusBadRequest, "invalid device code")
	case !slices.Equal(strings.Fields(c.form.Get("scopes")), d.scopes):
		return authRefusal(http.StatusBadRequest, "missing scopes")
	case d.denied:
		return authRefusal(http.StatusBadRequest, "access_denied")
	case d.owner == nil && s.vague:
		return authRefusal(http.StatusBadRequest, "invalid device code")
	case d.owner == nil:
		return authRefusal(http.StatusBadRequest, "authorization_pending")
	}
	delete(s.devices, code)
	return s.issue(d.owner, d.scopes)
}

// Approve approves the login with this code as the bot's account, as a person does in the browser.
// It reports whether there is such a login.
func (s *identityServer) Approve(userCode string) bool { return s.ApproveAs(userCode, s.opts.Login) }

// ApproveAs is like Approve, but approves the login as the given account.
func (s *identityServer) ApproveAs(userCode, login string) bool {
	return s.decide(userCode, func(d *device) { d.owner = s.account(login) })
}

// Deny denies the login with this code. It reports whether there is such a login.
func (s *identityServer) Deny(userCode string) bool {
	return s.decide(userCode, func(d *device) { d.denied = true })
}

func (s *identityServer) decide(userCode string, decision func(*device)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.devices {
		if d.userCode == userCode {
			decision(d)
			return true
		}
	}
	return false
}

// SetDeviceTimes changes the lifetime and the polling interval of device codes issued from now on.
// Clients receive both in seconds.
func (s *identityServer) SetDeviceTimes(life, interval time.Duration) {
	s.locked(func() { s.life, s.interval = life, interval })
}

// CallPendingInvalid makes the identity server answer that a device code is invalid while nobody
// has approved it. Twitch has been seen to do so.
func (s *identityServer) CallPendingInvalid(on bool) { s.locked(func() { s.vague = on }) }

// WaitLogin waits for a pending login by device code and returns its code, or the context's error.
func (s *identityServer) WaitLogin(ctx context.Context) (userCode string, err error) {
	err = s.waitUntil(ctx, func() bool {
		for _, d := range s.devices {
			if d.owner == nil && !d.denied && s.opts.Now().Before(d.expires) {
				userCode = d.userCode
			}
		}
		return userCode != ""
	})
	return userCode, err
}
