package helix

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// TestModeration_Requests checks that each action sends exactly the request that Twitch documents.
func TestModeration_Requests(t *testing.T) {
	const (
		where       = "?broadcaster_id=1000002&moderator_id=1000001"
		deletesThat = "DELETE /moderation/chat?broadcaster_id=1000002&message_id=fa4e7817-c000-4000-8000-000000000001&moderator_id=1000001"
	)
	for name, c := range map[string]struct {
		act  func(context.Context, *Moderator, chatguard.Message) error
		want []string
	}{
		"delete": {
			func(ctx context.Context, m *Moderator, msg chatguard.Message) error { return m.Delete(ctx, msg) },
			[]string{deletesThat},
		},
		"warn": {
			func(ctx context.Context, m *Moderator, msg chatguard.Message) error {
				return m.Warn(ctx, msg, "slow down")
			},
			[]string{"POST /moderation/warnings" + where + ` {"data":{"user_id":"1000003","reason":"slow down"}}`},
		},
		"timeout": {
			func(ctx context.Context, m *Moderator, msg chatguard.Message) error {
				return m.Timeout(ctx, msg, 29_001*time.Millisecond, "slow down")
			},
			[]string{"POST /moderation/bans" + where + ` {"data":{"user_id":"1000003","duration":30,"reason":"slow down"}}`},
		},
		"ban": {
			func(ctx context.Context, m *Moderator, msg chatguard.Message) error { return m.Ban(ctx, msg, "") },
			[]string{"POST /moderation/bans" + where + ` {"data":{"user_id":"1000003","reason":""}}`},
		},
		"lift": {
			func(ctx context.Context, m *Moderator, msg chatguard.Message) error {
				return errors.Join(m.Ban(ctx, msg, "spam"), m.Lift(ctx, msg.ChannelID, msg.User.ID))
			},
			[]string{
				"POST /moderation/bans" + where + ` {"data":{"user_id":"1000003","reason":"spam"}}`,
				"DELETE /moderation/bans" + where + "&user_id=1000003",
			},
		},
	} {
		srv := twitchtest.Start(t, "room")
		moderator, msg := newModerator(t, srv)
		if err := c.act(t.Context(), moderator, msg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := requests(srv); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
		for _, r := range srv.Requests() {
			if r.Header.Get("Authorization") != "Bearer "+srv.Token() || r.Header.Get("Client-Id") != srv.ClientID() || r.Status >= 300 {
				t.Errorf("%s: headers %v, answered %d", name, r.Header, r.Status)
			}
		}
	}
}

// newModerator returns a Moderator connected to the fake Twitch, and a message sent there.
func newModerator(t testing.TB, srv *faketwitch.Server) (*Moderator, chatguard.Message) {
	h, _ := newHelix(t, srv)
	id := twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "hi"})
	return &Moderator{Helix: h, UserID: srv.BotID}, chatguard.Message{
		ID: id, ChannelID: srv.UserID("room"), User: chatguard.User{ID: srv.UserID("ann"), Login: "ann"}, SentAt: h.now(),
	}
}

// TestModeration_Unsafe checks that a request that would do more than intended isn't sent.
func TestModeration_Unsafe(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	good := Room{BroadcasterID: srv.UserID("room"), ModeratorID: srv.BotID()}
	rooms := []Room{{}, {BroadcasterID: good.BroadcasterID}, {ModeratorID: good.ModeratorID}, {" ", good.ModeratorID}, {good.BroadcasterID, "\n"}}
	ctx := t.Context()
	attempts := map[string]error{
		"no message ID":        h.DeleteMessage(ctx, good, ""),
		"blank message ID":     h.DeleteMessage(ctx, good, " \t"),
		"NUL in a message ID":  h.DeleteMessage(ctx, good, "\x00"),
		"no user to warn":      h.WarnUser(ctx, good, "", "slow down"),
		"warning says nothing": h.WarnUser(ctx, good, "5", ""),
		"warning is blank":     h.WarnUser(ctx, good, "5", " \n"),
		"no user to time out":  h.timeOut(ctx, good, "", time.Minute, "", sending{}),
		"no length":            h.timeOut(ctx, good, "5", 0, "", sending{}),
		"under a second":       h.timeOut(ctx, good, "5", time.Second-1, "", sending{}),
		"negative":             h.timeOut(ctx, good, "5", -time.Minute, "", sending{}),
		"over 14 days":         h.timeOut(ctx, good, "5", 14*24*time.Hour+1, "", sending{}),
		"no user to ban":       h.ban(ctx, good, "", "", sending{}),
		"no user to unban":     h.UnbanUser(ctx, good, ""),
	}
	for _, room := range rooms {
		attempts["delete in "+room.BroadcasterID+"/"+room.ModeratorID] = h.DeleteMessage(ctx, room, "1")
		attempts["warn in "+room.BroadcasterID+"/"+room.ModeratorID] = h.WarnUser(ctx, room, "5", "slow down")
		attempts["time out in "+room.BroadcasterID+"/"+room.ModeratorID] = h.timeOut(ctx, room, "5", time.Minute, "", sending{})
		attempts["ban in "+room.BroadcasterID+"/"+room.ModeratorID] = h.ban(ctx, room, "5", "", sending{})
		attempts["unban in "+room.BroadcasterID+"/"+room.ModeratorID] = h.UnbanUser(ctx, room, "5")
	}
	for name, err := range attempts {
		if !errors.Is(err, twitch.ErrUnsafe) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := requests(srv); len(got) != 0 || len(srv.Clears()) != 0 {
		t.Errorf("sent %q", got)
	}
}

func TestTimeOut_Bounds(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	room := Room{BroadcasterID: srv.UserID("room"), ModeratorID: srv.BotID()}
	for _, length := range []time.Duration{time.Second, 14 * 24 * time.Hour} {
		must(t, h.timeOut(t.Context(), room, "5", length, "", sending{}))
	}
	if got := srv.Bans(); len(got) != 2 || got[0].Length != time.Second || got[1].Length != 1_209_600*time.Second {
		t.Errorf("%+v", got)
	}
}

func TestModeration_ReasonIsCut(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	long := strings.Repeat("ä", 600)
	for _, err := range []error{
		moderator.Warn(t.Context(), msg, long), moderator.Timeout(t.Context(), msg, time.Minute, long), moderator.Ban(t.Context(), msg, long),
	} {
		must(t, err)
	}
	for _, given := range append(srv.Warnings(), srv.Bans()...) {
		if given.Reason != long[:2*maxReason] {
			t.Errorf("a reason of %d bytes", len(given.Reason))
		}
	}
}

// TestModeration_Answers checks how answers from Twitch are interpreted if their meaning differs
// between requests.
func TestModeration_Answers(t *testing.T) {
	srv := twitchtest.Start(t, "room", "other")
	moderator, msg := newModerator(t, srv)
	ctx := t.Context()
	staff := msg
	staff.ID = twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "mo", Badges: "lead_moderator/1", Text: "hi"})
	staff.User.ID = srv.UserID("mo")
	gone := msg
	gone.ID = "0"
	elsewhere := msg
	elsewhere.ChannelID = srv.UserID("other")
	srv.SetBotModerator("other", false)
	impostor := &Moderator{Helix: moderator.Helix, UserID: func() string { return "5" }}

	for _, step := range []struct {
		name string
		err  error
		want error
	}{
		{"delete", moderator.Delete(ctx, msg), nil},
		{"delete again", moderator.Delete(ctx, msg), nil},
		{"delete the unknown", moderator.Delete(ctx, gone), nil},
		{"delete a moderator's", moderator.Delete(ctx, staff), ErrProtected},
		{"warn a moderator", moderator.Warn(ctx, staff, "slow down"), ErrProtected},
		{"time a moderator out", moderator.Timeout(ctx, staff, time.Minute, ""), ErrProtected},
		{"ban a moderator", moderator.Ban(ctx, staff, ""), ErrProtected},
		{"where it is no moderator", moderator.Delete(ctx, elsewhere), twitch.ErrNotModerator},
		{"in another's name", impostor.Delete(ctx, msg), twitch.ErrRejected},
		{"ban", moderator.Ban(ctx, msg, ""), nil},
		{"ban again", moderator.Ban(ctx, msg, ""), nil},
		{"time the banned out", moderator.Timeout(ctx, msg, time.Minute, ""), nil},
		{"lift", moderator.Lift(ctx, msg.ChannelID, msg.User.ID), nil},
		{"lift again", moderator.Lift(ctx, msg.ChannelID, msg.User.ID), chat.ErrNotSilenced},
		{"lift where it is no moderator", moderator.Lift(ctx, elsewhere.ChannelID, msg.User.ID), twitch.ErrNotModerator},
	} {
		if !errors.Is(step.err, step.want) || step.err != nil && step.want == nil {
			t.Errorf("%s: %v, want %v", step.name, step.err, step.want)
		}
	}
	if len(srv.Warnings()) != 0 || len(srv.Clears()) != 0 || len(srv.Bans()) != 1 || len(srv.Deletes()) != 1 {
		t.Errorf("warnings %v, clears %v, bans %v, deletes %v", srv.Warnings(), srv.Clears(), srv.Bans(), srv.Deletes())
	}
}
