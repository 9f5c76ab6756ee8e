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
	"github.com/chatguard/chatguard/internal/journal"
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
		{false, 0, `{"slow_mode":false}`, 0},
		{false, time.Hour, `{"slow_mode":false}`, 0},
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
	for told, want := range map[string]time.Duration{
		`{"slow_mode":true,"slow_mode_wait_time":1}`:     3 * time.Second,
		`{"slow_mode":true,"slow_mode_wait_time":null}`:  3 * time.Second,
		`{"slow_mode":true,"slow_mode_wait_time":4}`:     4 * time.Second,
		`{"slow_mode":false,"slow_mode_wait_time":null}`: 0,
	} {
		moderator := answering(t, `{"data":[`+told+`]}`)
		if on, wait, err := moderator.SlowMode(t.Context(), "1"); err != nil || on != (want > 0) || wait != want {
			t.Errorf("%s is read as %v %v, %v", told, on, wait, err)
		}
	}
}

// answering returns a Moderator whose Helix gives one answer to all requests.
func answering(t *testing.T, answer string) *Moderator {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
	h := &Client{BaseURL: srv.URL, Token: twitchtest.TokenOf("a-token")}
	t.Cleanup(func() { h.Close(); srv.Close() })
	return &Moderator{Helix: h, UserID: func() string { return "2" }}
}

// TestChatModes checks that only the named modes are changed, that Twitch's answer says all of
// them, and that a change that Twitch would refuse isn't sent.
func TestChatModes(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	yes, no := new(true), new(false)
	for _, c := range []struct {
		change journal.ChatModesChange
		body   string // body sent; empty for none
		after  journal.ChatModes
	}{
		{journal.ChatModesChange{FollowerMode: yes, FollowerModeDuration: new(10)}, `{"follower_mode":true,"follower_mode_duration":10}`,
			journal.ChatModes{FollowerMode: true, FollowerModeDuration: 10}},
		{journal.ChatModesChange{EmoteMode: yes, SubscriberMode: yes}, `{"emote_mode":true,"subscriber_mode":true}`,
			journal.ChatModes{FollowerMode: true, FollowerModeDuration: 10, EmoteMode: true, SubscriberMode: true}},
		{journal.ChatModesChange{FollowerMode: no, EmoteMode: no, UniqueChatMode: yes}, `{"emote_mode":false,"follower_mode":false,"unique_chat_mode":true}`,
			journal.ChatModes{SubscriberMode: true, UniqueChatMode: true}},
		{journal.ChatModesChange{FollowerMode: yes, FollowerModeDuration: new(0)}, `{"follower_mode":true,"follower_mode_duration":0}`,
			journal.ChatModes{FollowerMode: true, SubscriberMode: true, UniqueChatMode: true}},
		{change: journal.ChatModesChange{}},
		{change: journal.ChatModesChange{FollowerModeDuration: new(10)}},
		{change: journal.ChatModesChange{FollowerMode: yes, FollowerModeDuration: new(129_601)}},
		{change: journal.ChatModesChange{SlowMode: yes, SlowModeWait: new(2)}},
		{change: journal.ChatModesChange{SlowMode: no, SlowModeWait: new(30)}},
	} {
		before := len(srv.Requests())
		after, err := moderator.SetChatModes(t.Context(), msg.ChannelID, c.change)
		sent := srv.Requests()[before:]
		switch {
		case c.body == "" && (!errors.Is(err, twitch.ErrUnsafe) || len(sent) > 0):
			t.Errorf("%+v: %v, %d sent", c.change, err, len(sent))
		case c.body != "" && (err != nil || len(sent) != 1 || sent[0].Body != c.body || *after != c.after):
			t.Errorf("%s: %v, sent %+v, after it %+v", c.body, err, sent, after)
		}
	}
	want := journal.ChatModes{FollowerMode: true, SubscriberMode: true, UniqueChatMode: true}
	if got, err := moderator.Helix.ChatSettings(t.Context(), Room{BroadcasterID: msg.ChannelID}); err != nil || got != want {
		t.Errorf("read back: %+v, %v", got, err)
	}
}

// TestChatModes_NotSaid checks that a change is done even if Twitch's answer doesn't say the modes.
func TestChatModes_NotSaid(t *testing.T) {
	for _, answer := range []string{"", `{"data":[]}`, "no JSON"} {
		after, err := answering(t, answer).SetChatModes(t.Context(), "1", journal.ChatModesChange{EmoteMode: new(true)})
		if err != nil || after != nil {
			t.Errorf("%q: %+v, %v", answer, after, err)
		}
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
