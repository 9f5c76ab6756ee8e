package twitch

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	srv := startTwitch(t, "room")
	h, _ := newHelix(t, srv)
	h.ClientID = nil
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
	h.Token = tokenOf("another")
	if _, err := h.Validate(t.Context()); !errors.Is(err, ErrToken) {
		t.Errorf("a wrong token: %v", err)
	}
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
