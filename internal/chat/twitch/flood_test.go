package twitch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestStuckConsumer: a consumer that takes nothing neither makes memory grow nor keeps the reader from answering PING.
func TestStuckConsumer(t *testing.T) {
	srv := startTwitch(t, "room")
	irc := &IRC{Channels: []string{"room"}, Address: srv.IRCAddress(), Timing: Timing{QueueWait: time.Millisecond}}
	stuck, in := make(chan struct{}), &inbox{}
	run(t, irc, func(messages []chatguard.Message) {
		<-stuck
		in.deliver(messages)
	})
	joined(t, irc)

	// The queue holds at most queueBatches of readBuffer bytes each; this is several times as much.
	block := strings.Repeat(privmsg("padding="+strings.Repeat("x", 1000))+"\r\n", 1000)
	sent := 0
	for sent*len(block) < 4*queueBatches*readBuffer {
		srv.Flood([]byte(block))
		sent++
	}
	srv.SendRaw("PING :still there?")
	eventually(t, "a PONG", func() bool { return received(srv, "PONG :still there?") == 1 })
	close(stuck)

	total := uint64(sent * 1000)
	eventually(t, "every line delivered or counted as dropped", func() bool { s := irc.Status(); return s.Messages+s.Dropped == total })
	if s := irc.Status(); s.Dropped == 0 || s.Messages == 0 {
		t.Errorf("%d delivered, %d dropped", s.Messages, s.Dropped)
	}
	id := say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "and now?"})
	eventually(t, "the next message", func() bool { all := in.all(); return all[len(all)-1].ID == id })
}

// TestFloodLosesNothing: a consumer that works is waited for, however fast the server writes; also with a RECONNECT or a close in the midst.
func TestFloodLosesNothing(t *testing.T) {
	const blocks, perBlock = 50, 1000
	for name, disturb := range map[string]func(*faketwitch.Server){
		"undisturbed": nil, "RECONNECT": (*faketwitch.Server).Reconnect, "close": (*faketwitch.Server).Disconnect,
	} {
		srv := startTwitch(t, "room")
		irc := &IRC{Channels: []string{"room"}, Address: srv.IRCAddress(), Timing: Timing{BackoffMin: time.Millisecond}}
		run(t, irc, func([]chatguard.Message) {})
		joined(t, irc)
		for n := range blocks {
			if n == blocks/2 && disturb != nil {
				disturb(srv)
			}
			srv.Flood([]byte(strings.Repeat(privmsg("")+"\r\n", perBlock)))
		}
		if disturb != nil {
			eventually(t, name+": the next connection", func() bool { return irc.Status().Reconnects == 1 })
			joined(t, irc)
			before := irc.Status().Messages
			say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "afterwards"})
			eventually(t, name+": reading afterwards", func() bool { return irc.Status().Messages > before })
			continue
		}
		eventually(t, "all lines", func() bool { return irc.Status().Messages == blocks*perBlock })
		if s := irc.Status(); s.Dropped != 0 {
			t.Errorf("%d lines dropped", s.Dropped)
		}
	}
}

// TestOrder: messages come in the order in which they were sent, in one batch or in many.
func TestOrder(t *testing.T) {
	srv := startTwitch(t, "room")
	irc := &IRC{Channels: []string{"room"}}
	in := connect(t, srv, irc)
	var raw strings.Builder
	for n := range 5000 {
		fmt.Fprintf(&raw, "%s %d\r\n", privmsg(""), n)
	}
	srv.Flood([]byte(raw.String()))
	for n, m := range in.wait(t, 5000) {
		if want := fmt.Sprintf("hi there %d", n); m.Text != want {
			t.Fatalf("message %d is %q, want %q", n, m.Text, want)
		}
	}
}

// TestCancelInFlood: Run ends in the midst of a flood, and while nobody takes what it delivers.
func TestCancelInFlood(t *testing.T) {
	srv := startTwitch(t, "room")
	irc := &IRC{Channels: []string{"room"}, Address: srv.IRCAddress(), Timing: Timing{QueueWait: time.Hour}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- irc.Run(ctx, messagesTo(func([]chatguard.Message) { <-ctx.Done() })) }()
	joined(t, irc)
	flooding := make(chan struct{})
	go func() {
		defer close(flooding)
		block := []byte(strings.Repeat(privmsg("")+"\r\n", 1000))
		for range 2 * queueBatches * readBuffer / len(block) {
			srv.Flood(block)
		}
	}()
	eventually(t, "the flood to arrive", func() bool { return irc.Status().Lines > 1000 })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-flooding
}
