package helix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/journal"
)

// TestHelix_RefusedToken checks that a request that got a 401 is tried once more if there is
// another token.
func TestHelix_RefusedToken(t *testing.T) {
	for name, c := range map[string]struct {
		faults []int
		renew  []error // results of Refused
		want   error
		tries  int
	}{
		"renewed":                      {[]int{401}, []error{nil}, nil, 2},
		"refused again":                {[]int{401, 401}, []error{nil}, twitch.ErrToken, 2},
		"revoked":                      {[]int{401}, []error{errors.New("the refresh token is refused")}, twitch.ErrToken, 1},
		"identity server fails once":   {[]int{401, 401}, []error{fmt.Errorf("refresh: %w", twitch.ErrUnavailable), nil}, nil, 3},
		"identity server fails always": {slices.Repeat([]int{401}, 5), slices.Repeat([]error{twitch.ErrUnavailable}, 5), twitch.ErrUnavailable, 5},
		"trouble before and after":     {[]int{503, 401, 409}, []error{nil}, nil, 4},
		"another trouble":              {[]int{403}, nil, twitch.ErrNotModerator, 1},
	} {
		srv := twitchtest.Start(t, "room")
		h, _ := newHelix(t, srv)
		var refused []string
		h.Refused = func(_ context.Context, token string) error {
			refused = append(refused, token)
			return c.renew[len(refused)-1]
		}
		srv.FailNext(statusFaults(c.faults...)...)
		err := h.timeOut(t.Context(), Room{srv.UserID("room"), srv.BotID()}, "5", time.Minute, "slow down", sending{})
		if !errors.Is(err, c.want) || err != nil && c.want == nil || errors.Is(err, twitch.ErrToken) && c.want != twitch.ErrToken {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if want := slices.Repeat([]string{srv.Token()}, len(c.renew)); !slices.Equal(refused, want) {
			t.Errorf("%s: told of %d refused tokens, want %d", name, len(refused), len(want))
		}
		if got := requests(srv); len(got) != c.tries || len(slices.Compact(got)) != 1 || !strings.HasSuffix(got[0], `"reason":"slow down"}}`) {
			t.Errorf("%s: %d requests, want %d, each with its whole body: %q", name, len(got), c.tries, got)
		}
	}
}

// TestHelix_Unanswered checks that an error says whether Twitch may have carried out the request:
// if a try was sent, no answer came, and no later answer says more.
func TestHelix_Unanswered(t *testing.T) {
	lost, cut := faketwitch.Fault{After: true}, faketwitch.Fault{Status: 200, Cut: true}
	for name, c := range map[string]struct {
		faults []faketwitch.Fault
		once   bool
		want   bool
	}{
		"no answer":                  {slices.Repeat([]faketwitch.Fault{lost}, maxTries), false, true},
		"no answer, once":            {[]faketwitch.Fault{lost}, true, true},
		"half an answer":             {[]faketwitch.Fault{cut}, true, true},
		"a failure in the middle":    {statusFaults(500), true, true},
		"a proxy without an answer":  {statusFaults(502), true, true},
		"no answer, then refusals":   {append([]faketwitch.Fault{lost}, statusFaults(503, 503, 503, 503)...), false, true},
		"no answer, then a refusal":  {append([]faketwitch.Fault{lost}, statusFaults(403)...), false, true},
		"no answer, then an error":   {append([]faketwitch.Fault{lost}, statusFaults(400)...), false, true},
		"no answer, then a limit":    {[]faketwitch.Fault{lost, {Status: 429}}, false, true},
		"refused each time":          {statusFaults(503, 503, 503, 503, 503), false, false},
		"the context ends meanwhile": {nil, false, true},
	} {
		srv := twitchtest.Start(t, "room")
		h, _ := newHelix(t, srv)
		h.Once = c.once
		ctx, stop := context.WithCancel(t.Context())
		srv.FailNext(c.faults...)
		srv.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			stop()
			return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Hour}, true
		})
		err := h.ban(ctx, Room{srv.UserID("room"), srv.BotID()}, "5", "", sending{})
		stop()
		if err == nil || errors.Is(err, chat.ErrUnanswered) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := &Client{BaseURL: "http://127.0.0.1:1", Token: twitchtest.TokenOf("x"), Once: true}
	if err := h.ban(t.Context(), Room{"1", "2"}, "5", "", sending{}); !errors.Is(err, twitch.ErrUnavailable) || errors.Is(err, chat.ErrUnanswered) {
		t.Errorf("no connection: %v", err)
	}
}

// transport answers requests in this process.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestHelix_AnsweredAtTheEnd checks that a request has succeeded if its answer came, even if its
// context has ended since.
func TestHelix_AnsweredAtTheEnd(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	h := &Client{Token: twitchtest.TokenOf("x"), HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		stop()
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	})}}
	must(t, h.ban(ctx, Room{"1", "2"}, "5", "", sending{}))
}

// TestHelix_UsesRenewedToken checks that requests after a renewal carry the new token.
func TestHelix_UsesRenewedToken(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	h.Token = twitchtest.TokenOf("stale")
	h.Refused = func(_ context.Context, token string) error {
		if token != "stale" {
			t.Errorf("told that %q is refused", token)
		}
		h.Token = twitchtest.TokenOf(srv.Token())
		return nil
	}
	_, err := h.Users(t.Context(), "ann")
	must(t, err)
	if got := srv.Requests()[1].Header.Get("Authorization"); got != "Bearer "+srv.Token() {
		t.Errorf("authorized by %q", got)
	}
}

// TestHelix_NoTokenForNow checks that a request waits for a token that is missing because the
// identity server fails.
func TestHelix_NoTokenForNow(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, sleeps := newHelix(t, srv)
	h.Token = func(context.Context) (string, error) {
		if len(sleeps.All()) == 0 {
			return "", twitch.ErrUnavailable
		}
		return srv.Token(), nil
	}
	if _, err := h.Users(t.Context(), "ann"); err != nil || len(srv.Requests()) != 1 {
		t.Errorf("%v, %d requests", err, len(srv.Requests()))
	}
	h.Token = func(context.Context) (string, error) { return "", twitch.ErrUnavailable }
	if _, err := h.Users(t.Context(), "ann"); !errors.Is(err, twitch.ErrUnavailable) || errors.Is(err, twitch.ErrToken) {
		t.Error(err)
	}
}

// TestHelix_OtherUsersToken checks that a token does not count as refused if it belongs to a
// different user than the one named in the request. No other token is requested.
func TestHelix_OtherUsersToken(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	h.Refused = func(context.Context, string) error {
		t.Error("the token is good")
		return nil
	}
	for _, err := range []error{
		h.DeleteMessage(t.Context(), Room{srv.UserID("room"), "5"}, "1"), h.SendMessage(t.Context(), srv.UserID("room"), "5", "hello", ""),
	} {
		if !errors.Is(err, twitch.ErrRejected) || !strings.Contains(err.Error(), "must match") {
			t.Error(err)
		}
	}
}

// TestHelix_MissingScope checks that the error names the scope and the command that fixes it, and
// that no other token is requested.
func TestHelix_MissingScope(t *testing.T) {
	srv := twitchtest.StartWith(t, faketwitch.Options{Channels: []string{"room"}, Scopes: []string{"chat:read"}})
	h, _ := newHelix(t, srv)
	h.Refused = func(context.Context, string) error {
		t.Error("the token isn't refused: it lacks a scope")
		return nil
	}
	ctx, room := t.Context(), Room{srv.UserID("room"), srv.BotID()}
	_, listing := h.ModeratedChannels(ctx, srv.BotID())
	_, setting := h.SetChatSettings(ctx, room, journal.ChatModesChange{EmoteMode: new(true)})
	for scope, err := range map[string]error{
		"moderator:manage:chat_messages": h.DeleteMessage(ctx, room, "1"),
		"moderator:manage:banned_users":  errors.Join(h.ban(ctx, room, "5", "", sending{}), h.UnbanUser(ctx, room, "5")),
		"moderator:manage:warnings":      h.WarnUser(ctx, room, "5", "slow down"),
		"moderator:manage:chat_settings": setting,
		"user:write:chat":                h.SendMessage(ctx, room.BroadcasterID, room.ModeratorID, "hello", ""),
		"user:read:moderated_channels":   listing,
	} {
		if !errors.Is(err, twitch.ErrScope) || !strings.Contains(err.Error(), scope) || !strings.Contains(err.Error(), "chatguard login") {
			t.Errorf("%s: %v", scope, err)
		}
	}
	srv.FailNext(faketwitch.Fault{Status: http.StatusForbidden, Message: "missing scope: channel:moderate"})
	if err := h.DeleteMessage(ctx, room, "1"); !errors.Is(err, twitch.ErrScope) {
		t.Errorf("as a 403: %v", err)
	}
}
