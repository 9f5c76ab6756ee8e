package helix

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// TestSay checks that the request is the one that Twitch documents, and that a text of more than
// one line is refused.
func TestSay(t *testing.T) {
	for text, want := range map[string]string{
		"@anna, next message in 4 s": "@anna, next message in 4 s",
		strings.Repeat("ä", 500):     strings.Repeat("ä", 500),
	} {
		srv := twitchtest.Start(t, "room")
		moderator, msg := newModerator(t, srv)
		if err := moderator.Say(t.Context(), msg.ChannelID, text, msg.ID); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
		if got := requests(srv); len(got) != 1 || got[0] != `POST /chat/messages {"broadcaster_id":"`+msg.ChannelID+`","sender_id":"`+srv.BotID()+
			`","message":"`+want+`","reply_parent_message_id":"`+msg.ID+`"}` {
			t.Errorf("%.20q: %q", text, got)
		}
	}
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	for _, text := range []string{"", " ", " \n", "two\r\nlines", "a\u2028b", "a\u0085b", "a\x00", "a\xff", " a", strings.Repeat("ä", 501)} {
		if err := moderator.Say(t.Context(), msg.ChannelID, text, ""); !errors.Is(err, twitch.ErrUnsafe) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for _, err := range []error{
		moderator.Say(t.Context(), "", "hello", ""),
		(&Moderator{Helix: moderator.Helix, UserID: func() string { return "" }}).Say(t.Context(), msg.ChannelID, "hello", ""),
	} {
		if !errors.Is(err, twitch.ErrUnsafe) {
			t.Error(err)
		}
	}
	if err := moderator.Say(t.Context(), msg.ChannelID, "hello", ""); err != nil || len(srv.Sent()) != 1 || strings.Contains(srv.Requests()[0].Body, "reply") {
		t.Errorf("%v, sent %v", err, srv.Sent())
	}
}

// TestSay_DeletedParent checks that the error tells if only the reply is refused.
func TestSay_DeletedParent(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	must(t, moderator.Delete(t.Context(), msg))
	if err := moderator.Say(t.Context(), msg.ChannelID, "hello", msg.ID); !errors.Is(err, chat.ErrNoParent) {
		t.Error(err)
	}
	srv.FailNext(faketwitch.Fault{Status: 400, Message: "The broadcaster_id is not valid."})
	if err := moderator.Say(t.Context(), msg.ChannelID, "hello", "another"); !errors.Is(err, twitch.ErrRejected) {
		t.Error(err)
	}
}

// TestSay_TriedOnce checks that no message is sent twice, whatever goes wrong. A message is sent
// again only after a refused token, because then Twitch has certainly not shown it.
func TestSay_TriedOnce(t *testing.T) {
	done := func(code int) faketwitch.Fault { return faketwitch.Fault{Status: code, After: true} }
	for name, c := range map[string]struct {
		fault faketwitch.Fault
		want  error
		tries int
	}{
		"500":         {done(500), twitch.ErrUnavailable, 1},
		"503":         {statusFaults(503)[0], twitch.ErrUnavailable, 1},
		"409":         {done(409), twitch.ErrConflict, 1},
		"429":         {statusFaults(429)[0], twitch.ErrLimited, 1},
		"no answer":   {done(0), twitch.ErrUnavailable, 1},
		"half answer": {faketwitch.Fault{Status: faketwitch.AsAsked, Cut: true}, twitch.ErrUnavailable, 1},
		"403":         {statusFaults(403)[0], twitch.ErrRejected, 1},
		"400":         {statusFaults(400)[0], twitch.ErrRejected, 1},
		"401":         {statusFaults(401)[0], nil, 2},
	} {
		srv := twitchtest.Start(t, "room")
		h, sleeps := newHelix(t, srv)
		h.Refused = func(context.Context, string) error { return nil }
		srv.FailNext(c.fault)
		err := h.SendMessage(t.Context(), srv.UserID("room"), srv.BotID(), "hello", "")
		if !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if got := len(srv.Requests()); got != c.tries || len(srv.Sent()) > 1 || len(sleeps.All()) > 0 {
			t.Errorf("%s: %d requests, %d said, waited %v", name, got, len(srv.Sent()), sleeps.All())
		}
	}
}

// TestSay_DoesNotWait checks that if the budget has no room, the message is sent neither now nor
// later.
func TestSay_DoesNotWait(t *testing.T) {
	for name, spend := range map[string]func(h *Client){
		"used up": func(h *Client) { _ = h.budget.note(t.Context(), api.Answer{Header: budgetHeader(800, 0)}, 1, h.now()) },
		"held":    func(h *Client) { h.budget.hold(h.now().Add(time.Minute)) },
	} {
		srv := twitchtest.Start(t, "room")
		moderator, msg := newModerator(t, srv)
		sleeps := twitchtest.NewSleeps()
		moderator.Helix.Clock.NowFunc, moderator.Helix.Clock.SleepFunc = sleeps.Now, sleeps.Sleep
		spend(moderator.Helix)
		err := moderator.Say(t.Context(), msg.ChannelID, "hello", "")
		if !errors.Is(err, twitch.ErrBusy) || len(srv.Requests()) != 0 || len(sleeps.All()) != 0 {
			t.Errorf("%s: %v, %d requests, waited %v", name, err, len(srv.Requests()), sleeps.All())
		}
	}
}

// TestSay_TimesOut checks that Say doesn't wait for a late answer and doesn't send the message
// twice.
func TestSay_TimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startInMemory(t, faketwitch.Options{Channels: []string{"gardenhour"}})
		srv.FailNext(faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Minute})
		began := time.Now()
		err := h.SendMessage(t.Context(), srv.UserID("gardenhour"), srv.BotID(), "hello", "")
		if !errors.Is(err, twitch.ErrUnavailable) || time.Since(began) != api.Timeout || len(srv.Requests()) != 1 {
			t.Errorf("%v after %v, %d requests", err, time.Since(began), len(srv.Requests()))
		}
	})
}

// TestSay_Dropped checks that a 200 isn't a success if Twitch says that nobody sees the message.
func TestSay_Dropped(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	must(t, moderator.Say(t.Context(), msg.ChannelID, "hello", ""))
	err := moderator.Say(t.Context(), msg.ChannelID, "hello", "")
	if !errors.Is(err, ErrDropped) || !strings.Contains(err.Error(), "msg_duplicate") || !strings.Contains(err.Error(), "identical") {
		t.Error(err)
	}
}
