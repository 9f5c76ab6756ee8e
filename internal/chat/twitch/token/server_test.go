package token

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

func TestValidate(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	s := authServer{url: srv.AuthURL(), client: api.NewClient(), now: time.Now}
	defer s.client.CloseIdleConnections()
	got, err := s.validate(t.Context(), srv.Token())
	must(t, err)
	if got.UserID != srv.BotID() || got.Login != srv.BotLogin() || got.ClientID != srv.ClientID() || got.ExpiresIn != 4*time.Hour ||
		!slices.Contains(got.Scopes, "moderator:manage:chat_messages") {
		t.Errorf("%+v", got)
	}
	if auth := srv.Requests()[0].Header.Get("Authorization"); auth != "OAuth "+srv.Token() {
		t.Errorf("authorized by %q", auth)
	}
	if _, err := s.validate(t.Context(), "another"); !errors.Is(err, twitch.ErrToken) {
		t.Errorf("a wrong token: %v", err)
	}
}
