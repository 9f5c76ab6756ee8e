package twitch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestSay: what is said is what Twitch documents, and nothing that would be more than a line.
func TestSay(t *testing.T) {
	for text, want := range map[string]string{
		"@anna, next message in 4 s": "@anna, next message in 4 s",
		" two\r\nlines\x00\t ":       "two  lines",
		"a\u2028b\u0085c\xff":        "a b c?",
		strings.Repeat("ä", 600):     strings.Repeat("ä", 500),
	} {
		srv := startTwitch(t, "room")
		moderator, msg := newModerator(t, srv)
		if err := moderator.Say(t.Context(), msg.ChannelID, text, msg.ID); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
		if got := requests(srv); len(got) != 1 || got[0] != `POST /chat/messages {"broadcaster_id":"`+msg.ChannelID+`","sender_id":"`+srv.BotID()+
			`","message":"`+want+`","reply_parent_message_id":"`+msg.ID+`"}` {
			t.Errorf("%.20q: %q", text, got)
		}
	}
	srv := startTwitch(t, "room")
	moderator, msg := newModerator(t, srv)
	for _, err := range []error{
		moderator.Say(t.Context(), msg.ChannelID, "", ""), moderator.Say(t.Context(), msg.ChannelID, " \n", ""), moderator.Say(t.Context(), "", "hello", ""),
		(&Moderator{Helix: moderator.Helix, UserID: func() string { return "" }}).Say(t.Context(), msg.ChannelID, "hello", ""),
	} {
		if !errors.Is(err, ErrUnsafe) {
			t.Error(err)
		}
	}
	if err := moderator.Say(t.Context(), msg.ChannelID, "hello", ""); err != nil || len(srv.Sent()) != 1 || strings.Contains(srv.Requests()[0].Body, "reply") {
		t.Errorf("%v, sent %v", err, srv.Sent())
	}
}

// TestSayIsTriedOnce: whatever goes wrong, nothing is said twice. Only a refused token is sure not to have said it.
func TestSayIsTriedOnce(t *testing.T) {
	done := func(code int) faketwitch.Fault { return faketwitch.Fault{Status: code, After: true} }
	for name, c := range map[string]struct {
		fault faketwitch.Fault
		want  error
		tries int
	}{
		"500":         {done(500), ErrUnavailable, 1},
		"503":         {status(503)[0], ErrUnavailable, 1},
		"409":         {done(409), ErrUnavailable, 1},
		"429":         {status(429)[0], ErrBusy, 1},
		"no answer":   {done(0), ErrUnavailable, 1},
		"half answer": {faketwitch.Fault{Status: faketwitch.AsAsked, Cut: true}, ErrUnavailable, 1},
		"403":         {status(403)[0], ErrRejected, 1},
		"400":         {status(400)[0], ErrRejected, 1},
		"401":         {status(401)[0], nil, 2},
	} {
		srv := startTwitch(t, "room")
		h, naps := newHelix(t, srv)
		h.Refused = func(context.Context, string) error { return nil }
		srv.FailNext(c.fault)
		err := h.SendMessage(t.Context(), srv.UserID("room"), srv.BotID(), "hello", "")
		if !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if got := len(srv.Requests()); got != c.tries || len(srv.Sent()) > 1 || len(naps.all()) > 0 {
			t.Errorf("%s: %d requests, %d said, waited %v", name, got, len(srv.Sent()), naps.all())
		}
	}
}

// TestSayDoesNotWait: where the budget has no room, nothing is said, now or later.
func TestSayDoesNotWait(t *testing.T) {
	for name, spend := range map[string]func(h *Helix){
		"used up": func(h *Helix) { _ = h.heed(t.Context(), answer{header: told(800, 0)}, 1) },
		"held":    func(h *Helix) { h.budget.hold(h.now().Add(time.Minute)) },
	} {
		srv := startTwitch(t, "room")
		moderator, msg := newModerator(t, srv)
		naps := newNaps()
		moderator.Helix.Now, moderator.Helix.sleep = naps.now, naps.sleep
		spend(moderator.Helix)
		err := moderator.Say(t.Context(), msg.ChannelID, "hello", "")
		if !errors.Is(err, ErrBusy) || len(srv.Requests()) != 0 || len(naps.all()) != 0 {
			t.Errorf("%s: %v, %d requests, waited %v", name, err, len(srv.Requests()), naps.all())
		}
	}
}

// TestSayTimesOut: an answer that doesn't come in time isn't waited for, and nothing is said twice.
func TestSayTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := inMemory(t, faketwitch.Options{Channels: []string{"gardenhour"}})
		srv.FailNext(faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Minute})
		began := time.Now()
		err := h.SendMessage(t.Context(), srv.UserID("gardenhour"), srv.BotID(), "hello", "")
		if !errors.Is(err, ErrUnavailable) || time.Since(began) != exchangeTimeout || len(srv.Requests()) != 1 {
			t.Errorf("%v after %v, %d requests", err, time.Since(began), len(srv.Requests()))
		}
	})
}

// TestDropped: Twitch's 200 isn't taken for success where it says that nobody sees the message.
func TestDropped(t *testing.T) {
	srv := startTwitch(t, "room")
	moderator, msg := newModerator(t, srv)
	if err := moderator.Say(t.Context(), msg.ChannelID, "hello", ""); err != nil {
		t.Fatal(err)
	}
	err := moderator.Say(t.Context(), msg.ChannelID, "hello", "")
	if !errors.Is(err, ErrDropped) || !strings.Contains(err.Error(), "msg_duplicate") || !strings.Contains(err.Error(), "identical") {
		t.Error(err)
	}
}
