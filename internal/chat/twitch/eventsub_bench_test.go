package twitch

import (
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// BenchmarkEventSubFrame is all that a message over EventSub costs between the socket and the sink. The frame is as long as Twitch's are, 1.5 kB.
func BenchmarkEventSubFrame(b *testing.B) {
	event := saidEvent(`"badges":[]`, `"badges":[{"set_id":"moderator","id":"1","info":""},{"set_id":"subscriber","id":"12","info":"16"}],"color":"#00FF7F",`+
		`"channel_points_custom_reward_id":null,"channel_points_animation_id":null,"source_broadcaster_user_login":null,"source_badges":null,`+
		`"padding":"`+strings.Repeat("x", 500)+`"`)
	e := &EventSub{rooms: map[string]string{"10": "gardenhour"}}
	if err := e.begin([]string{"gardenhour"}, time.Now, pause, loggerOr(nil)); err != nil {
		b.Fatal(err)
	}
	got := 0
	d := newDelivery(&e.report, messagesTo(func(messages []chatguard.Message) { got += len(messages) }), e.chatTime())
	text := []byte(notification("f1", kindChat, "10", event))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		e.seen = seen{}
		frame, err := readFrame(text)
		if err != nil {
			b.Fatal(err)
		}
		e.read(d, arrival{time.Now(), time.Now(), frame})
		d.flush()
	}
	if got != b.N {
		b.Errorf("%d of %d delivered", got, b.N)
	}
}
