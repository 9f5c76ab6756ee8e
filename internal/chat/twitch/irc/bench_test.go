package irc

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// typical is a line as Twitch sends it, 390 bytes long.
const typical = "@badge-info=subscriber/10;badges=subscriber/9,premium/1;color=#2693E2;display-name=DevilOtter;emotes=932291:12-15;first-msg=0;flags=;" +
	"id=d10eb06b-2c8f-4813-95c1-e7bed5b70afa;mod=0;returning-chatter=0;room-id=71092938;subscriber=1;tmi-sent-ts=1568505600861;turbo=0;" +
	"user-id=82563640;user-type= :devilotter!devilotter@devilotter.tmi.twitch.tv PRIVMSG #room :hello there everyone, that jump was so close"

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := Parse(typical); !ok || err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSkip skips a line that isn't needed.
func BenchmarkSkip(b *testing.B) {
	line := strings.Replace(typical, "PRIVMSG", "USERSTATE", 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := Parse(line); ok || err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLineToDelete measures the time from when Twitch's chat writes a line to when the request
// arrives at Helix. It sends 1,000 messages per second; one message in twenty is throttled. The
// time per operation only shows the pace. The percentiles are the result.
func BenchmarkLineToDelete(b *testing.B) {
	srv := twitchtest.Start(b, "room")
	h := &helix.Client{BaseURL: srv.HelixURL(), ClientID: srv.ClientID, Token: twitchtest.TokenOf(srv.Token())}
	defer h.Close()
	moderator := &helix.Moderator{Helix: h, UserID: srv.BotID}
	throttled := make(chan chat.Message, 1000)
	acting := make(chan struct{})
	go func() {
		defer close(acting)
		for m := range throttled {
			if err := moderator.Delete(context.Background(), m.Message); err != nil {
				b.Error(err)
			}
		}
	}()
	irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress()}
	stop := run(b, irc, func(messages []chat.Message) {
		for _, m := range messages {
			if strings.HasPrefix(m.Text, "spam") {
				throttled <- m
			}
		}
	})
	waitJoined(b, irc)

	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	said := 0
	for b.Loop() {
		<-pace.C
		text := "hello there"
		if said%20 == 19 {
			text = "spam"
		}
		said++
		twitchtest.Say(b, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: text})
	}
	twitchtest.Eventually(b, "all deletes", func() bool { return srv.Deleted() == said/20 })
	must(b, stop())
	close(throttled)
	<-acting

	var took []time.Duration
	for _, d := range srv.Deletes() {
		took = append(took, d.At.Sub(d.Message.WrittenAt))
	}
	if len(took) == 0 {
		return // a trial run, too short to say anything
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
}

// BenchmarkFlood reads as fast as it can; an operation is a line. It fails if lines are lost, and
// it reports the heap size at the end.
func BenchmarkFlood(b *testing.B) {
	srv := twitchtest.Start(b, "room")
	irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress()}
	stop := run(b, irc, func([]chat.Message) {})
	waitJoined(b, irc)
	const perBlock = 500
	block := []byte(strings.Repeat(typical+"\r\n", perBlock))
	sent, queued := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		if queued++; queued == perBlock {
			srv.Flood(block)
			sent, queued = sent+perBlock, 0
		}
	}
	twitchtest.Eventually(b, "all lines", func() bool { s := irc.Status(); return s.Messages+s.Dropped == uint64(sent) })
	if s := irc.Status(); s.Dropped != 0 {
		b.Errorf("%d lines dropped", s.Dropped)
	}
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "lines/s")
	must(b, stop())
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "MiB-heap")
	b.ReportMetric(float64(mem.HeapSys)/(1<<20), "MiB-heap-most")
}
