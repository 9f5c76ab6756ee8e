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

// How long a device code may be used, and how often it may be asked about.
const (
	deviceLife     = 30 * time.Minute
	deviceInterval = 5 * time.Second
)

// device is one login by device code.
type device struct {
	userCode string
	scopes   []string
	expires  time.Time
	owner    *account // who approved it; nil while nobody has
	denied   bool
}

// beginDevice begins a login by device code.
func (s *Server) beginDevice(c authCall) reply {
	scopes := strings.Fields(c.form.Get("scopes"))
	switch {
	case c.form.Get("client_id") == "":
		return refuseAuth(http.StatusBadRequest, "missing client id")
	case c.form.Get("client_id") != s.opts.ClientID:
		return refuseAuth(http.StatusBadRequest, "invalid client")
	case len(scopes) == 0:
		return refuseAuth(http.StatusBadRequest, "missing scopes")
	}
	for _, scope := range scopes {
		if !strings.Contains(scope, ":") {
			return refuseAuth(http.StatusBadRequest, fmt.Sprintf("invalid scope requested: '%s'", scope))
		}
	}
	s.auth.lastID++
	d := &device{userCode: fmt.Sprintf("FAKE%04d", s.auth.lastID), scopes: scopes, expires: c.at.Add(s.auth.life)}
	code := fmt.Sprintf("fake0device0code%d", s.auth.lastID)
	s.auth.devices[code] = d
	s.tellChanged()
	return reply{status: http.StatusOK, body: map[string]any{
		"device_code": code, "user_code": d.userCode, "expires_in": seconds(s.auth.life), "interval": seconds(s.auth.interval),
		"verification_uri": "http://" + s.web.Addr().String() + "/activate?" + url.Values{"public": {"true"}, "device-code": {d.userCode}}.Encode(),
	}}
}

// giveForDevice gives a pair of tokens once somebody has approved the login. Twitch's documentation doesn't say how it answers one that was denied;
// this is the standard's word for it (RFC 8628, section 3.5).
func (s *Server) giveForDevice(c authCall) reply {
	code := c.form.Get("device_code")
	d, ok := s.auth.devices[code]
	switch {
	case !ok || !c.at.Before(d.expires):
		return refuseAuth(http.StatusBadRequest, "invalid device code")
	case !slices.Equal(strings.Fields(c.form.Get("scopes")), d.scopes):
		return refuseAuth(http.StatusBadRequest, "missing scopes")
	case d.denied:
		return refuseAuth(http.StatusBadRequest, "access_denied")
	case d.owner == nil && s.auth.vague:
		return refuseAuth(http.StatusBadRequest, "invalid device code")
	case d.owner == nil:
		return refuseAuth(http.StatusBadRequest, "authorization_pending")
	}
	delete(s.auth.devices, code)
	return s.issue(d.owner, d.scopes)
}

// Approve lets the bot's account approve the login with this code, as a person does in the browser. It reports whether there is such a login.
func (s *Server) Approve(userCode string) bool { return s.ApproveAs(userCode, s.opts.Login) }

// ApproveAs is Approve by another account.
func (s *Server) ApproveAs(userCode, login string) bool {
	return s.decide(userCode, func(d *device) { d.owner = s.account(login) })
}

// Deny denies the login with this code. It reports whether there is such a login.
func (s *Server) Deny(userCode string) bool {
	return s.decide(userCode, func(d *device) { d.denied = true })
}

func (s *Server) decide(userCode string, decision func(*device)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.auth.devices {
		if d.userCode == userCode {
			decision(d)
			return true
		}
	}
	return false
}

// SetDeviceTimes changes how long device codes live that are given out from now on, and how often they may be asked about; both are told in seconds.
func (s *Server) SetDeviceTimes(life, interval time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.auth.life, s.auth.interval = life, interval
}

// CallPendingInvalid makes the identity server say of a device code that nobody has approved yet that it is invalid, as Twitch has been seen to do.
func (s *Server) CallPendingInvalid(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.auth.vague = on
}

// WaitLogin waits until a login by device code has begun that can be decided on still, and returns its code, or the context's error.
func (s *Server) WaitLogin(ctx context.Context) (userCode string, err error) {
	for {
		s.mu.Lock()
		changed := s.changed
		for _, d := range s.auth.devices {
			if d.owner == nil && !d.denied && s.opts.Now().Before(d.expires) {
				userCode = d.userCode
			}
		}
		s.mu.Unlock()
		if userCode != "" {
			return userCode, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
