package eventsub

import (
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/recent"
)

// BenchmarkEventSubFrame measures the whole cost of an EventSub message, from the socket to the
// sink. The frame is 1.5 kB long, like Twitch's.
func BenchmarkEventSubFrame(b *testing.B) {
	event := messageEvent(`"badges":[]`, `"badges":[{"set_id":"moderator","id":"1","info":""},{"set_id":"subscriber","id":"12","info":"16"}],"color":"#00FF7F",`+
		`"channel_points_custom_reward_id":null,"channel_points_animation_id":null,"source_broadcaster_user_login":null,"source_badges":null,`+
		`"padding":"`+strings.Repeat("x", 400)+`"`)
	event = strings.Replace(event, `"fragments":null`, `"fragments":[{"type":"text","text":"hello","cheermote":null,"emote":null,"mention":null}]`, 1)
	e := &Conn{rooms: map[string]string{"10": "gardenhour"}}
	must(b, e.report.Begin([]string{"gardenhour"}, clock.Clock{}, nil))
	got := 0
	d := twitch.NewDelivery(&e.report, twitchtest.MessagesTo(func(messages []chat.Message) { got += len(messages) }), e.chatTime())
	text := []byte(notification("f1", helix.KindChat, "10", event))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		e.seen = recent.Map[string, struct{}]{}
		frame, err := readFrame(text)
		must(b, err)
		e.read(d, arrival{time.Now(), time.Now(), frame})
		d.Flush()
	}
	if got != b.N {
		b.Errorf("%d of %d delivered", got, b.N)
	}
}
