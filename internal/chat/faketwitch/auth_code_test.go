package faketwitch

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"
)

const (
	secret   = "fake0client0secret"
	callback = "http://localhost:8080/signin/twitch/callback"
)

// newConfidential returns a fake Twitch whose application has a secret and an address for codes.
func newConfidential(t *testing.T) *identity {
	i := &identity{t: t, clock: newClock()}
	i.Server = start(t, Options{Channels: []string{"room"}, ClientSecret: secret, Now: i.clock.Now})
	i.RegisterRedirect(callback)
	return i
}

// page returns the address of the page that asks for an authorization.
func (i *identity) page(change map[string]string) string {
	q := url.Values{
		"client_id": {i.ClientID()}, "redirect_uri": {callback}, "response_type": {"code"}, "state": {"s t"}, "nonce": {"n"},
		"scope": {"openid user:read:moderated_channels"},
	}
	for key, value := range change {
		q.Set(key, value)
	}
	return i.AuthURL() + "/authorize?" + q.Encode()
}

// authorize authorizes the application and returns the code.
func (i *identity) authorize(login string) string {
	i.t.Helper()
	back, err := i.Authorize(i.page(nil), login)
	must(i.t, err)
	u, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(back, callback+"?") || u.Query().Get("state") != "s t" || u.Query().Get("code") == "" {
		i.t.Fatalf("sent back to %s (%v)", back, err)
	}
	return u.Query().Get("code")
}

func (i *identity) redeem(code, secret, redirect string) (status int, answer authAnswer) {
	i.t.Helper()
	return i.post("/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {i.ClientID()}, "client_secret": {secret}, "code": {code}, "redirect_uri": {redirect},
	}.Encode())
}

// TestAuthorizationCode checks that a code works once, within 10 minutes, with the secret, for the
// address that it was made for; and that the ID token contains the nonce.
func TestAuthorizationCode(t *testing.T) {
	i := newConfidential(t)
	code := i.authorize("anna")
	for want, tried := range map[string][2]string{
		"missing client secret": {"", callback}, "invalid client secret": {"wrong", callback},
		"Parameter redirect_uri does not match registered URI": {secret, "http://localhost/"},
	} {
		if status, answer := i.redeem(code, tried[0], tried[1]); status < 400 || answer.Message != want {
			t.Errorf("%v: %d %+v, want %s", tried, status, answer, want)
		}
	}
	status, answer := i.redeem(code, secret, callback)
	if status != 200 || answer.AccessToken == "" || answer.RefreshToken == "" || len(answer.Scope) != 2 {
		t.Fatalf("%d %+v", status, answer)
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(answer.IDToken, ".")[1])
	if err != nil || !strings.Contains(string(claims), `"nonce":"n"`) || !strings.Contains(string(claims), `"sub":"`+i.UserID("anna")+`"`) {
		t.Errorf("claims %s (%v)", claims, err)
	}
	if status, told := i.validate(answer.AccessToken); status != 200 || told.Login != "anna" {
		t.Errorf("%d %+v", status, told)
	}
	late := i.authorize("anna")
	i.clock.advance(10 * time.Minute)
	for name, code := range map[string]string{"used": code, "late": late, "unknown": "x"} {
		if status, answer := i.redeem(code, secret, callback); status != 400 || answer.Message != "Invalid authorization code" {
			t.Errorf("%s: %d %+v", name, status, answer)
		}
	}
}

// TestAuthorize_Refused checks that no browser is sent to an address that isn't registered.
func TestAuthorize_Refused(t *testing.T) {
	i := newConfidential(t)
	for want, change := range map[string]map[string]string{
		"invalid client": {"client_id": "another"},
		"Parameter redirect_uri does not match registered URI": {"redirect_uri": callback + "x"},
		"Response type is not supported":                       {"response_type": "token"},
	} {
		if back, err := i.Authorize(i.page(change), "anna"); err == nil || err.Error() != want {
			t.Errorf("%v: %q, %v", change, back, err)
		}
	}
	if back, err := i.DenyAuthorize(i.page(nil)); err != nil || !strings.HasPrefix(back, callback+"?error=access_denied&") || !strings.Contains(back, "state=s+t") {
		t.Errorf("denied: %q, %v", back, err)
	}
}

// TestRevoke_OneToken checks that a revoked token is invalid, and that another one of the account
// stays valid until the account disconnects the application.
func TestRevoke_OneToken(t *testing.T) {
	i := newConfidential(t)
	_, first := i.redeem(i.authorize("anna"), secret, callback)
	_, second := i.redeem(i.authorize("anna"), secret, callback)
	form := "client_id=" + i.ClientID() + "&token=" + first.AccessToken
	if status, _ := i.post("/revoke", form); status != 200 {
		t.Errorf("%d", status)
	}
	if status, answer := i.post("/revoke", form); status != 400 {
		t.Errorf("again: %d %+v", status, answer)
	}
	if i.Tokens("anna") != 1 {
		t.Errorf("%d tokens", i.Tokens("anna"))
	}
	i.DisconnectAccount("anna")
	if status, _ := i.validate(second.AccessToken); status != 401 || i.Tokens("anna") != 0 {
		t.Errorf("disconnected: %d", status)
	}
	if status, _ := i.refresh(second.RefreshToken + "&client_secret=" + secret); status != 400 {
		t.Errorf("disconnected, renewed: %d", status)
	}
}
