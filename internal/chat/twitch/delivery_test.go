package twitch

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/clock"
)

// readTimes is a chat.Sink that records when messages were read.
type readTimes []time.Time

func (r *readTimes) Messages(read time.Time, _ []chat.Message) { *r = append(*r, read) }
func (r *readTimes) Removed(chat.Removal)                      {}
func (r *readTimes) Lifted(chat.Lift)                          {}

// Messages that are delivered together count as read when the first of them was.
func TestDelivery_TimeOfReading(t *testing.T) {
	var report Report
	var got readTimes
	d := NewDelivery(&report, &got, clock.NewChat(nil))
	start := time.Now()
	for _, after := range []time.Duration{0, 1, 2} {
		d.Add(chat.Message{Message: chatguard.Message{ID: "m"}}, start.Add(after))
	}
	d.Flush()
	d.Add(chat.Message{Message: chatguard.Message{ID: "n"}}, start.Add(3))
	d.Removed(chat.Removal{})
	if len(got) != 2 || !got[0].Equal(start) || !got[1].Equal(start.Add(3)) {
		t.Errorf("%v", got)
	}
}
