package person

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

var must = twitchtest.Must

// scene is an application at a fake Twitch with the channels garden and tea.
type scene struct {
	*testing.T
	*Twitch
	srv   *faketwitch.Server
	clock *twitchtest.Sleeps
}

const redirect = "https://chat.example.org/signin/twitch/callback"

func newScene(t *testing.T) *scene {
	sleeps := twitchtest.NewSleeps()
	srv, err := faketwitch.Start(faketwitch.Options{Channels: []string{"garden", "tea"}, ClientSecret: "fake0secret", Now: sleeps.Now})
	must(t, err)
	srv.RegisterRedirect(redirect)
	srv.SetModerator("garden", "anna", true)
	client := api.NewClient()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return &scene{T: t, srv: srv, clock: sleeps, Twitch: &Twitch{HelixURL: srv.HelixURL(), Application: token.Application{
		AuthURL: srv.AuthURL(), ClientID: srv.ClientID(), Secret: "fake0secret", HTTP: client, Clock: clock.Clock{NowFunc: sleeps.Now, SleepFunc: sleeps.Sleep},
	}}}
}

func authorization() token.Authorization {
	return token.Authorization{Redirect: redirect, State: "state", Nonce: "nonce", Scopes: ModeratorScopes}
}

// code lets a person authorize the application, and returns the code.
func (s *scene) code(login string, of token.Authorization) string {
	s.Helper()
	back, err := s.srv.Authorize(s.Page(of), login)
	must(s, err)
	u, err := url.Parse(back)
	must(s, err)
	return u.Query().Get("code")
}

func (s *scene) meet(login string) *Person {
	s.Helper()
	pair, err := s.Redeem(s.Context(), s.code(login, authorization()), authorization())
	must(s, err)
	p := s.New(pair, ModeratorScopes)
	if a, err := p.Identify(s.Context()); err != nil || a != (Account{s.srv.UserID(login), login}) {
		s.Fatalf("%+v, %v", a, err)
	}
	return p
}

func TestPerson_Moderates(t *testing.T) {
	s := newScene(t)
	p := s.meet("anna")
	if _, ids, err := p.Moderates(t.Context()); err != nil || !slices.Equal(ids, []string{s.srv.UserID("garden")}) {
		t.Errorf("%v, %v", ids, err)
	}
	if name, err := p.Name(t.Context()); err != nil || name != "anna" {
		t.Errorf("%q, %v", name, err)
	}
	s.srv.Rename("anna", "Annabel")
	s.srv.SetModerator("garden", "annabel", false)
	if a, ids, err := p.Moderates(t.Context()); err != nil || len(ids) != 0 || a.Login != "annabel" {
		t.Errorf("%+v, %v, %v", a, ids, err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %s", p, p, p), "fake0access") {
		t.Error("shows its token")
	}
}

// TestRedeem_Refused checks that a code is refused that was used, was made for another sign-in, or
// comes with the wrong secret or to the wrong address.
func TestRedeem_Refused(t *testing.T) {
	s := newScene(t)
	used := s.code("anna", authorization())
	_, err := s.Redeem(t.Context(), used, authorization())
	must(t, err)
	others := authorization()
	others.Nonce = "nonce of another sign-in"
	elsewhere := authorization()
	elsewhere.Redirect += "/x"
	for name, c := range map[string]struct {
		code string
		of   token.Authorization
		want error
	}{
		"used":         {used, authorization(), token.ErrCode},
		"unknown":      {"x", authorization(), token.ErrCode},
		"stolen":       {s.code("anna", others), authorization(), token.ErrNonce},
		"another page": {s.code("anna", authorization()), elsewhere, token.ErrCode},
	} {
		if _, err := s.Redeem(t.Context(), c.code, c.of); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	s.Secret = "wrong"
	if _, err := s.Redeem(t.Context(), "x", authorization()); !errors.Is(err, token.ErrSecret) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong secret: %v", err)
	}
}

// TestRedeem_Nonsense checks that no answer of Twitch's that makes no sense yields tokens.
func TestRedeem_Nonsense(t *testing.T) {
	const pair = `{"access_token":"a","refresh_token":"r","expires_in":1,"id_token":`
	for name, fault := range map[string]faketwitch.Fault{
		"text":             {Status: 200, Body: "<html>"},
		"empty":            {Status: 200, Body: "{}"},
		"no ID token":      {Status: 200, Body: `{"access_token":"a"}`},
		"unreadable":       {Status: 200, Body: pair + `"a.%.c"}`},
		"claims not JSON":  {Status: 200, Body: pair + `"a.YWJj.c"}`},
		"no nonce":         {Status: 200, Body: pair + `"a.e30.c"}`},
		"a bad token":      {Status: 200, Body: `{"access_token":"a\nb","id_token":"a.e30.c"}`},
		"cut":              {Status: faketwitch.AsAsked, Cut: true},
		"no answer":        {},
		"trouble":          {Status: 503},
		"refused":          {Status: 403, Message: "no"},
		"redirected":       {Status: 302},
		"another audience": {Status: 200, Body: pair + `"a.eyJub25jZSI6Im5vbmNlIiwiYXVkIjoieCJ9.c"}`},
	} {
		s := newScene(t)
		s.srv.FailNextAuth(fault)
		if _, err := s.Redeem(t.Context(), s.code("anna", authorization()), authorization()); err == nil {
			t.Errorf("%s: accepted", name)
		} else if n := len(s.srv.Requests()); n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// TestIdentify_Refused checks that tokens of another application, without the scope, or without a
// user are refused.
func TestIdentify_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"another application": {`{"client_id":"another","user_id":"1","login":"a","scopes":["user:read:moderated_channels"]}`, token.ErrApplication},
		"no application":      {`{"user_id":"1","login":"a","scopes":["user:read:moderated_channels"]}`, token.ErrApplication},
		"no scope":            {`{"client_id":"fake0client0id","user_id":"1","login":"a","scopes":null}`, twitch.ErrScope},
		"no user":             {`{"client_id":"fake0client0id","scopes":["user:read:moderated_channels"]}`, twitch.ErrToken},
		"nonsense":            {`[]`, twitch.ErrUnavailable},
	} {
		s := newScene(t)
		pair, err := s.Redeem(t.Context(), s.code("anna", authorization()), authorization())
		must(t, err)
		s.srv.FailNextAuth(faketwitch.Fault{Status: 200, Body: c.body})
		if _, err := s.New(pair, ModeratorScopes).Identify(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestPerson_Renews checks that an expired token is renewed, and that a token that Twitch refuses
// before that is not.
func TestPerson_Renews(t *testing.T) {
	s := newScene(t)
	p := s.meet("anna")
	s.clock.Sleep(t.Context(), 5*time.Hour)
	if _, ids, err := p.Moderates(t.Context()); err != nil || len(ids) != 1 || s.srv.Refreshes() != 1 {
		t.Errorf("%v, %v after %d renewals", ids, err, s.srv.Refreshes())
	}
	s.srv.DisconnectAccount("anna")
	if _, _, err := p.Moderates(t.Context()); !errors.Is(err, twitch.ErrToken) || s.srv.Refreshes() != 1 {
		t.Errorf("disconnected: %v after %d renewals", err, s.srv.Refreshes())
	}
}

// TestPerson_RenewalFails checks which failures of a renewal end the person's sign-in.
func TestPerson_RenewalFails(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*scene)
		want    error
	}{
		"disconnected": {func(s *scene) { s.srv.DisconnectAccount("anna") }, twitch.ErrToken},
		"trouble":      {func(s *scene) { s.srv.FailNextAuth(faketwitch.Fault{Status: 500}) }, twitch.ErrUnavailable},
		"wrong secret": {func(s *scene) { s.Secret = "wrong" }, token.ErrSecret},
		"other account": {func(s *scene) {
			s.srv.FailNextAuth(faketwitch.Fault{Status: faketwitch.AsAsked}, faketwitch.Fault{Status: 200, Body: `{"client_id":"fake0client0id","user_id":"5","login":"x","scopes":["user:read:moderated_channels"]}`})
		}, ErrOther},
	} {
		s := newScene(t)
		p := s.meet("anna")
		s.clock.Sleep(t.Context(), 5*time.Hour)
		c.prepare(s)
		_, _, err := p.Moderates(t.Context())
		if !errors.Is(err, c.want) || errors.Is(err, twitch.ErrToken) != (c.want == twitch.ErrToken) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestPerson_Once checks that a failed request isn't repeated.
func TestPerson_Once(t *testing.T) {
	s := newScene(t)
	p := s.meet("anna")
	before := len(s.srv.Requests())
	s.srv.FailNext(faketwitch.Fault{Status: 500})
	if _, _, err := p.Moderates(t.Context()); !errors.Is(err, twitch.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if n := len(s.srv.Requests()) - before; n != 2 { // validate and moderated channels
		t.Errorf("%d requests", n)
	}
}

func TestPerson_Leave(t *testing.T) {
	s := newScene(t)
	p := s.meet("anna")
	for range 2 {
		must(t, p.Leave(t.Context()))
	}
	if n := s.srv.Tokens("anna"); n != 0 {
		t.Errorf("%d tokens are left", n)
	}
	if _, _, err := p.Moderates(t.Context()); !errors.Is(err, twitch.ErrToken) {
		t.Errorf("after leaving: %v", err)
	}
}

// TestPerson_Device checks the sign-in by device code with the scopes of a moderator.
func TestPerson_Device(t *testing.T) {
	s := newScene(t)
	d := s.Device(ModeratorScopes)
	code, err := d.Begin(t.Context())
	must(t, err)
	if _, pending, err := d.Poll(t.Context(), code); !pending || err != nil {
		t.Errorf("at first: %v, %v", pending, err)
	}
	s.srv.ApproveAs(code.UserCode, "anna")
	pair, pending, err := d.Poll(t.Context(), code)
	if pending || err != nil {
		t.Fatal(pending, err)
	}
	if a, err := s.New(pair, ModeratorScopes).Identify(t.Context()); err != nil || a.Login != "anna" {
		t.Errorf("%v", err)
	}
	s.clock.Sleep(t.Context(), time.Hour)
	if _, pending, err := d.Poll(context.Background(), code); pending || !errors.Is(err, token.ErrCodeExpired) {
		t.Errorf("late: %v, %v", pending, err)
	}
}
