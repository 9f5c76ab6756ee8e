package faketwitch

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// identity is a fake Twitch whose identity server a test asks, and its clock.
type identity struct {
	*Server
	t     *testing.T
	clock *clock
}

func newIdentity(t *testing.T) *identity {
	i := &identity{t: t, clock: newClock()}
	i.Server = start(t, Options{Scopes: []string{"chat:read"}, Now: i.clock.Now})
	return i
}

// authAnswer is an answer of the identity server.
type authAnswer struct {
	Message      string
	AccessToken  string   `json:"access_token"`
	RefreshToken string   `json:"refresh_token"`
	IDToken      string   `json:"id_token"`
	Scope        []string `json:"scope"`
	ExpiresIn    int      `json:"expires_in"`
	DeviceCode   string   `json:"device_code"`
	UserCode     string   `json:"user_code"`
	Address      string   `json:"verification_uri"`
	Interval     int
	Login        string
	Scopes       []string
}

func (i *identity) send(r *http.Request) (status int, answer authAnswer) {
	i.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return 0, authAnswer{}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		i.t.Fatalf("%v in %q", err, text)
	}
	return resp.StatusCode, answer
}

func (i *identity) validate(token string) (status int, answer authAnswer) {
	i.t.Helper()
	r, err := http.NewRequestWithContext(i.t.Context(), "GET", i.AuthURL()+"/validate", nil)
	must(i.t, err)
	r.Header.Set("Authorization", "OAuth "+token)
	return i.send(r)
}

// post sends a form, given as "name=value&name=value".
func (i *identity) post(path, form string) (status int, answer authAnswer) {
	i.t.Helper()
	r, err := http.NewRequestWithContext(i.t.Context(), "POST", i.AuthURL()+path, strings.NewReader(form))
	must(i.t, err)
	return i.send(r)
}

func (i *identity) refresh(token string) (status int, answer authAnswer) {
	i.t.Helper()
	return i.post("/token", "grant_type=refresh_token&client_id="+i.ClientID()+"&refresh_token="+token)
}

const twoScopes = "chat:read+user:write:chat"

func (i *identity) poll(deviceCode string) (status int, answer authAnswer) {
	i.t.Helper()
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {i.ClientID()}, "device_code": {deviceCode}}
	return i.post("/token", form.Encode()+"&scopes="+twoScopes)
}

// checkPending checks that polling with a device code is refused with the message want.
func (i *identity) checkPending(deviceCode, want string) {
	i.t.Helper()
	if status, answer := i.poll(deviceCode); status != 400 || answer.Message != want {
		i.t.Errorf("%d %+v, want %q", status, answer, want)
	}
}

// TestRefreshToken_Rotates checks that a refresh token can be used once, within 30 days.
func TestRefreshToken_Rotates(t *testing.T) {
	i := newIdentity(t)
	status, first := i.refresh(i.RefreshToken())
	if status != 200 || first.ExpiresIn != 4*60*60 || strings.Join(first.Scope, " ") != "chat:read" || i.Refreshes() != 1 {
		t.Fatalf("%d %+v", status, first)
	}
	if status, _ := i.validate(first.AccessToken); status != 200 {
		t.Errorf("the new token: %d", status)
	}
	if status, answer := i.refresh(i.RefreshToken()); status != 400 || answer.Message != "Invalid refresh token" {
		t.Errorf("used twice: %d %+v", status, answer)
	}
	i.clock.advance(30*24*time.Hour - 1)
	status, second := i.refresh(first.RefreshToken)
	if status != 200 {
		t.Errorf("after less than 30 days: %d", status)
	}
	i.clock.advance(30 * 24 * time.Hour)
	if status, _ := i.refresh(second.RefreshToken); status != 400 || i.Refreshes() != 2 {
		t.Errorf("after 30 days: %d", status)
	}
}

// TestLogin_NeedsScope checks that the chat refuses a token without the scope for reading chat.
func TestLogin_NeedsScope(t *testing.T) {
	srv := start(t, Options{Scopes: []string{scopeSend}})
	if dial(t, srv, "PASS oauth:"+srv.Token(), "NICK "+srv.BotLogin()).readUntil("Login authentication failed") == "" {
		t.Error("chat let a token in that lacks chat:read")
	}
}

// TestDeviceLogin checks what the clients' tests can't tell apart: the two answers before anybody
// has entered the code, and that the code can be used once, within 30 minutes.
func TestDeviceLogin(t *testing.T) {
	i := newIdentity(t)
	request := "client_id=" + i.ClientID() + "&scopes=" + twoScopes
	_, begun := i.post("/device", request)
	i.checkPending(begun.DeviceCode, "authorization_pending")
	i.CallPendingInvalid(true)
	i.checkPending(begun.DeviceCode, "invalid device code")
	if i.Approve("wrong") || !i.Approve(begun.UserCode) {
		t.Error("another code is approved")
	}
	if status, pair := i.poll(begun.DeviceCode); status != 200 {
		t.Errorf("%d %+v", status, pair)
	}
	i.checkPending(begun.DeviceCode, "invalid device code")
	_, late := i.post("/device", request)
	i.clock.advance(30 * time.Minute)
	i.Approve(late.UserCode)
	i.checkPending(late.DeviceCode, "invalid device code")
}

func TestIdentity_Refuses(t *testing.T) {
	i := newIdentity(t)
	id := "&client_id=" + i.ClientID()
	for name, c := range map[string]struct{ path, form, want string }{
		"device without client": {"/device", "scopes=chat:read", "missing client id"},
		"unknown client":        {"/device", "scopes=chat:read&client_id=other", "invalid client"},
		"no scopes":             {"/device", id, "missing scopes"},
		"unknown scope":         {"/device", "scopes=everything" + id, "invalid scope requested: 'everything'"},
		"token without client":  {"/token", "grant_type=refresh_token", "missing client id"},
		"token, unknown client": {"/token", "grant_type=refresh_token&client_id=other", "invalid client"},
		"no grant type":         {"/token", id, "Invalid grant type"},
		"no refresh token":      {"/token", "grant_type=refresh_token" + id, "missing refresh token"},
		"unknown refresh token": {"/token", "grant_type=refresh_token&refresh_token=other" + id, "Invalid refresh token"},
	} {
		if status, answer := i.post(c.path, c.form); status != 400 || answer.Message != c.want {
			t.Errorf("%s: %d %q, want %q", name, status, answer.Message, c.want)
		}
	}
}

func TestIdentity_Faults(t *testing.T) {
	i := newIdentity(t)
	i.FailNextAuth(Fault{Status: 503, Message: "later"}, Fault{After: true})
	if status, answer := i.validate(i.Token()); status != 503 || answer.Message != "later" {
		t.Errorf("%d %+v", status, answer)
	}
	if status, _ := i.refresh(i.RefreshToken()); status != 0 || i.Refreshes() != 1 {
		t.Errorf("done but unanswered: %d", status)
	}
	i.FailAuth(&Fault{Status: 500})
	for range 2 {
		if status, _ := i.validate(i.Token()); status != 500 {
			t.Errorf("down: %d", status)
		}
	}
	i.FailAuth(nil)
	if status, _ := i.validate(i.Token()); status != 200 {
		t.Errorf("up again: %d", status)
	}
}
