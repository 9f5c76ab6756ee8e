package twitch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

func TestPacer(t *testing.T) {
	start := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	p := newPacer(3, 10*time.Second)
	for _, step := range []struct{ at, wait time.Duration }{
		{0, 0}, {time.Second, 0}, {time.Second, 0},
		{time.Second, 9 * time.Second}, // booked for 10 s
		{time.Second, 10 * time.Second},
		{11 * time.Second, 0},
		{12 * time.Second, 8 * time.Second}, // 20 s: 10 s after the fourth
		{40 * time.Second, 0}, {40 * time.Second, 0},
		{40 * time.Second, 0}, {40 * time.Second, 10 * time.Second},
	} {
		if got := p.take(start.Add(step.at)); got != step.wait {
			t.Errorf("at %v: waits %v, want %v", step.at, got, step.wait)
		}
	}
}

// joins returns the channels that clients asked to join, line by line.
func joins(srv *faketwitch.Server) (channels []string) {
	for _, r := range srv.Received() {
		if channel, ok := strings.CutPrefix(r.Line, "JOIN "); ok {
			channels = append(channels, channel)
		}
	}
	return channels
}

// TestJoinPacing: 45 channels take three bursts, and while joining waits, PING is answered and chat is read.
func TestJoinPacing(t *testing.T) {
	var logins []string
	for n := range 45 {
		logins = append(logins, fmt.Sprintf("room%d", n))
	}
	srv := startTwitch(t, logins...)
	naps, gate := newNaps(), newGate()
	irc := &IRC{Channels: logins, Address: srv.IRCAddress(), Now: naps.now, sleep: gate.sleep}
	in := &inbox{}
	run(t, irc, in.deliver)

	if wait := <-gate.asked; wait != joinPeriod {
		t.Errorf("after 20 joins at once it waits %v, want %v", wait, joinPeriod)
	}
	if err := srv.WaitJoined(t.Context(), joinBurst); err != nil {
		t.Fatal(err)
	}
	if got := joins(srv); len(got) != joinBurst {
		t.Fatalf("%d joins in the first burst, want %d", len(got), joinBurst)
	}
	say(t, srv, faketwitch.Line{Channel: "room0", Login: "ann", Text: "hi"})
	in.wait(t, 1)
	srv.SendRaw("PING :are you there")
	eventually(t, "a PONG", func() bool { return received(srv, "PONG :are you there") == 1 })

	// The clock stands still, so every further join is booked a period later.
	for n := range 25 {
		gate.open <- struct{}{}
		if n == 24 {
			break
		}
		if wait, want := <-gate.asked, joinPeriod*time.Duration(1+(n+1)/joinBurst); wait != want {
			t.Errorf("join %d waits %v, want %v", 21+n+1, wait, want)
		}
	}
	joined(t, irc)
	if got := joins(srv); len(got) != 45 || strings.Contains(strings.Join(got, " "), ",") {
		t.Errorf("joined with %d lines, want 45, a channel each", len(got))
	}
}
