package helix

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// TestSlowMode checks that slow mode is set with both fields, within Twitch's limits, and read back
// as it was set.
func TestSlowMode(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	ctx, room := t.Context(), msg.ChannelID
	for _, c := range []struct {
		on   bool
		wait time.Duration
		body string // body sent; empty for none
		kept time.Duration
	}{
		{true, 3 * time.Second, `{"slow_mode":true,"slow_mode_wait_time":3}`, 3 * time.Second},
		{true, 119_001 * time.Millisecond, `{"slow_mode":true,"slow_mode_wait_time":120}`, 2 * time.Minute},
		{true, 3*time.Second - 1, "", 2 * time.Minute},
		{true, 2*time.Minute + 1, "", 2 * time.Minute},
		{true, 0, "", 2 * time.Minute},
		{false, 0, `{"slow_mode":false,"slow_mode_wait_time":null}`, 0},
		{false, time.Hour, `{"slow_mode":false,"slow_mode_wait_time":null}`, 0},
	} {
		before := len(srv.Requests())
		err := moderator.SetSlowMode(ctx, room, c.on, c.wait)
		sent := srv.Requests()[before:]
		switch {
		case c.body == "" && (!errors.Is(err, twitch.ErrUnsafe) || len(sent) > 0):
			t.Errorf("%v %v: %v, %d sent", c.on, c.wait, err, len(sent))
		case c.body != "" && (err != nil || len(sent) != 1 || sent[0].Body != c.body):
			t.Errorf("%v %v: %v, sent %+v", c.on, c.wait, err, sent)
		}
		on, wait, err := moderator.SlowMode(ctx, room)
		if err != nil || on != (c.kept > 0) || wait != c.kept {
			t.Errorf("after %v %v it is %v %v, %v", c.on, c.wait, on, wait, err)
		}
	}
	if got, want := requests(srv)[:2], []string{
		"PATCH /chat/settings?broadcaster_id=" + room + "&moderator_id=" + srv.BotID() + ` {"slow_mode":true,"slow_mode_wait_time":3}`,
		"GET /chat/settings?broadcaster_id=" + room,
	}; !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// TestSlowMode_CanBeSetAsRead checks that a slow mode shorter than the minimum is read as the
// minimum.
func TestSlowMode_CanBeSetAsRead(t *testing.T) {
	for told, want := range map[string]SlowMode{
		`{"slow_mode":true,"slow_mode_wait_time":1}`:     {true, 3 * time.Second},
		`{"slow_mode":true,"slow_mode_wait_time":null}`:  {true, 3 * time.Second},
		`{"slow_mode":true,"slow_mode_wait_time":4}`:     {true, 4 * time.Second},
		`{"slow_mode":false,"slow_mode_wait_time":null}`: {},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[`+told+`]}`) }))
		h := &Client{BaseURL: srv.URL, Token: twitchtest.TokenOf("a-token")}
		if got, err := h.ChatSettings(t.Context(), Room{"1", "2"}); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", told, got, err)
		}
		h.Close()
		srv.Close()
	}
}

// TestSlowMode_Answers checks Twitch's other answers.
func TestSlowMode_Answers(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	ctx := t.Context()
	read := func(channelID string) error {
		_, _, err := moderator.SlowMode(ctx, channelID)
		return err
	}
	srv.FailNext(faketwitch.Fault{Status: 400, Message: "no"}, faketwitch.Fault{Status: 200})
	for _, step := range []struct {
		name string
		err  error
		want error
	}{
		{"refused", moderator.SetSlowMode(ctx, msg.ChannelID, false, 0), twitch.ErrRejected},
		{"tells nothing", read(msg.ChannelID), twitch.ErrRejected},
		{"no such channel", read("5"), twitch.ErrRejected},
		{"no channel to read", read(""), twitch.ErrUnsafe},
		{"no channel to change", moderator.SetSlowMode(ctx, "", false, 0), twitch.ErrUnsafe},
		{"where it is no moderator", moderator.SetSlowMode(ctx, "5", false, 0), twitch.ErrNotModerator},
	} {
		if !errors.Is(step.err, step.want) {
			t.Errorf("%s: %v, want %v", step.name, step.err, step.want)
		}
	}
}

// TestSlowMode_NotBehindModeration checks that slow mode does not wait behind penalties, because it
// ends a flood that penalties can't keep up with. Requests that the chat connection needs don't
// wait either, nor do requests that lift a timeout or ban.
func TestSlowMode_NotBehindModeration(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	sleeps := twitchtest.NewSleeps()
	moderator.Helix.Clock.NowFunc, moderator.Helix.Clock.SleepFunc = sleeps.Now, sleeps.Sleep
	must(t, moderator.Helix.budget.note(t.Context(), api.Answer{Header: budgetHeader(800, reserve)}, 1, moderator.Helix.now()))
	if _, _, err := moderator.SlowMode(t.Context(), msg.ChannelID); err != nil {
		t.Error(err)
	}
	if err := moderator.SetSlowMode(t.Context(), msg.ChannelID, true, time.Minute); err != nil || len(sleeps.All()) > 0 {
		t.Errorf("%v, waited %v", err, sleeps.All())
	}
	h := moderator.Helix
	_, looking := h.Users(t.Context(), "ann")
	_, listing := h.ModeratedChannels(t.Context(), srv.BotID())
	for what, err := range map[string]error{
		"users": looking, "moderated channels": listing, "unban": moderator.Lift(t.Context(), msg.ChannelID, msg.User.ID), "unsubscribe": h.Unsubscribe(t.Context(), "gone"),
	} {
		if err != nil && !errors.Is(err, chat.ErrNotSilenced) || len(sleeps.All()) > 0 {
			t.Errorf("%s: %v, waited %v", what, err, sleeps.All())
		}
	}
	if err := moderator.Delete(t.Context(), msg); err != nil || len(sleeps.All()) == 0 {
		t.Errorf("%v, moderation didn't wait", err)
	}
}
