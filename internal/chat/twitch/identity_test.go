package twitch

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	srv := startTwitch(t, "room")
	h, _ := newHelix(t, srv)
	h.ClientID = ""
	got, err := h.Validate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.UserID != srv.BotID() || got.Login != srv.BotLogin() || got.ClientID != srv.ClientID() || got.ExpiresIn != 4*time.Hour ||
		!slices.Contains(got.Scopes, "moderator:manage:chat_messages") {
		t.Errorf("%+v", got)
	}
	if auth := srv.Requests()[0].Header.Get("Authorization"); auth != "OAuth "+srv.Token() {
		t.Errorf("authorized by %q", auth)
	}
	if _, err := h.Me(t.Context()); err != nil {
		t.Errorf("with the client ID that it learned: %v", err)
	}
	h.Token = tokenOf("another")
	if _, err := h.Validate(t.Context()); !errors.Is(err, ErrToken) {
		t.Errorf("a wrong token: %v", err)
	}
}

// TestIdentify: where the identity server gives no answer, Helix is asked; where it refuses the token, nobody is.
func TestIdentify(t *testing.T) {
	srv := startTwitch(t, "room")
	for name, c := range map[string]struct {
		auth, token string
		want        error
	}{
		"validated":                   {srv.AuthURL(), srv.Token(), nil},
		"refused":                     {srv.AuthURL(), "another", ErrToken},
		"nobody there":                {"http://127.0.0.1:1", srv.Token(), nil},
		"no such path":                {srv.HelixURL(), srv.Token(), nil},
		"nobody there, and a refusal": {"http://127.0.0.1:1", "another", ErrToken},
	} {
		h, _ := newHelix(t, srv)
		h.AuthURL, h.Token = c.auth, tokenOf(c.token)
		got, err := h.Identify(t.Context())
		if !errors.Is(err, c.want) || err == nil && (got.UserID != srv.BotID() || got.Login != srv.BotLogin()) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestIdentifyKeepsTheTokenAtHome: the token of somebody else's Helix is none of Twitch's identity server's business.
func TestIdentifyKeepsTheTokenAtHome(t *testing.T) {
	srv := startTwitch(t, "room")
	h, _ := newHelix(t, srv)
	h.AuthURL = ""
	h.HTTP = &http.Client{Transport: loopbackOnly{t, &http.Transport{DisableKeepAlives: true}}}
	got, err := h.Identify(t.Context())
	if err != nil || got.UserID != srv.BotID() {
		t.Errorf("%+v, %v", got, err)
	}
}

// loopbackOnly fails the test where a request would leave the machine.
type loopbackOnly struct {
	testing.TB
	http.RoundTripper
}

func (l loopbackOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Hostname() != "127.0.0.1" {
		l.Errorf("asked %s", r.URL.Host)
		return nil, errors.New("not on loopback")
	}
	return l.RoundTripper.RoundTrip(r)
}

func TestUsers(t *testing.T) {
	srv := startTwitch(t, "room")
	h, _ := newHelix(t, srv)
	var logins []string
	for n := range 250 {
		logins = append(logins, fmt.Sprintf("user%d", n))
		srv.UserID(logins[n])
	}
	got, err := h.Users(t.Context(), append(logins, "nobody")...)
	if err != nil || len(got) != 250 {
		t.Fatalf("%d accounts, %v", len(got), err)
	}
	for _, a := range got {
		if a.ID != srv.UserID(a.Login) {
			t.Errorf("%+v", a)
		}
	}
	if len(srv.Requests()) != 3 {
		t.Errorf("%d requests for 251 logins, want 3", len(srv.Requests()))
	}
	if got, err := h.Users(t.Context()); err != nil || len(got) != 0 || len(srv.Requests()) != 3 {
		t.Errorf("no logins: %v, %v", got, err)
	}
}
