package irc

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// TestIRC_StuckConsumer checks that a stuck consumer neither makes memory grow nor keeps the reader
// from answering PING.
func TestIRC_StuckConsumer(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Timing: twitch.Timing{QueueWait: time.Millisecond}}
	stuck, in := make(chan struct{}), &twitchtest.Inbox{}
	run(t, irc, func(messages []chat.Message) {
		<-stuck
		in.Deliver(messages)
	})
	waitJoined(t, irc)

	// The queue holds at most QueueSize batches of readBuffer bytes each. This is four times as
	// much.
	block := strings.Repeat(privmsg("padding="+strings.Repeat("x", 1000))+"\r\n", 1000)
	sent := 0
	for sent*len(block) < 4*twitch.QueueSize*readBuffer {
		srv.Flood([]byte(block))
		sent++
	}
	srv.SendRaw("PING :still there?")
	twitchtest.Eventually(t, "a PONG", func() bool { return twitchtest.Received(srv, "PONG :still there?") == 1 })
	close(stuck)

	total := uint64(sent * 1000)
	twitchtest.Eventually(t, "every line delivered or counted as dropped", func() bool { s := irc.Status(); return s.Messages+s.Dropped == total })
	if s := irc.Status(); s.Dropped == 0 || s.Messages == 0 {
		t.Errorf("%d delivered, %d dropped", s.Messages, s.Dropped)
	}
	id := twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "and now?"})
	twitchtest.Eventually(t, "the next message", func() bool { all := in.All(); return all[len(all)-1].ID == id })
}

// TestIRC_FloodLosesNothing checks that the reader waits for a working consumer, however fast the
// server writes, even with a RECONNECT or a close in between.
func TestIRC_FloodLosesNothing(t *testing.T) {
	const blocks, perBlock = 50, 1000
	for name, disturb := range map[string]func(*faketwitch.Server){
		"undisturbed": nil, "RECONNECT": (*faketwitch.Server).Reconnect, "close": (*faketwitch.Server).Disconnect,
	} {
		srv := twitchtest.Start(t, "room")
		irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Timing: twitch.Timing{BackoffMin: time.Millisecond}}
		run(t, irc, func([]chat.Message) {})
		waitJoined(t, irc)
		for n := range blocks {
			if n == blocks/2 && disturb != nil {
				disturb(srv)
			}
			srv.Flood([]byte(strings.Repeat(privmsg("")+"\r\n", perBlock)))
		}
		if disturb != nil {
			twitchtest.Eventually(t, name+": the next connection", func() bool { return irc.Status().Reconnects == 1 })
			waitJoined(t, irc)
			before := irc.Status().Messages
			twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "afterwards"})
			twitchtest.Eventually(t, name+": reading afterwards", func() bool { return irc.Status().Messages > before })
			continue
		}
		twitchtest.Eventually(t, "all lines", func() bool { return irc.Status().Messages == blocks*perBlock })
		if s := irc.Status(); s.Dropped != 0 {
			t.Errorf("%d lines dropped", s.Dropped)
		}
	}
}

// TestIRC_CancelInFlood checks that Run ends in the middle of a flood and while the consumer is
// stuck.
func TestIRC_CancelInFlood(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Timing: twitch.Timing{QueueWait: time.Hour}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- irc.Run(ctx, twitchtest.MessagesTo(func([]chat.Message) { <-ctx.Done() })) }()
	waitJoined(t, irc)
	flooding := make(chan struct{})
	go func() {
		defer close(flooding)
		block := []byte(strings.Repeat(privmsg("")+"\r\n", 1000))
		for range 2 * twitch.QueueSize * readBuffer / len(block) {
			srv.Flood(block)
		}
	}()
	twitchtest.Eventually(t, "the flood to arrive", func() bool { return irc.Status().Lines > 1000 })
	cancel()
	must(t, <-ended)
	<-flooding
}
