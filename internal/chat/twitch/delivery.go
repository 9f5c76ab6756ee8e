package twitch

import (
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/clock"
)

// Delivery collects messages and hands them to the sink.
type Delivery struct {
	report   *Report
	sink     chat.Sink
	time     *clock.Chat    // set from the messages' times
	messages []chat.Message // received since the last removal
	read     time.Time      // when the first of the messages was read
}

// NewDelivery returns a Delivery to a sink. It counts deliveries in the report and passes the
// timestamps of messages to chatTime.
func NewDelivery(r *Report, sink chat.Sink, chatTime *clock.Chat) *Delivery {
	return &Delivery{report: r, sink: sink, time: chatTime}
}

// Add adds a message that was read at a time of this machine's clock. The message is judged by
// Twitch's timestamp, however late it arrives. Neither this machine's clock nor a pause of this
// process therefore changes who is throttled. A message without a valid timestamp gets the current
// time.
func (d *Delivery) Add(m chat.Message, read time.Time) {
	if ms := m.SentAt.UnixMilli(); ms <= 0 || ms > MaxMillis {
		m.SentAt = d.time.Now()
	} else {
		d.time.Observe(m.SentAt)
	}
	if len(d.messages) == 0 {
		d.read = read
	}
	d.messages = append(d.messages, m)
}

// Flush hands the added messages to the sink.
func (d *Delivery) Flush() {
	if len(d.messages) == 0 {
		return
	}
	d.report.Note(func(s *Status) { s.Messages += uint64(len(d.messages)) })
	d.sink.Messages(d.read, d.messages)
	clear(d.messages) // release the lines; the next batch may come late
	d.messages = d.messages[:0]
}

// Removed hands the added messages to the sink, followed by a removal.
func (d *Delivery) Removed(r chat.Removal) {
	d.Flush()
	d.sink.Removed(r)
}

// Lifted hands the added messages to the sink, followed by the end of a timeout or ban.
func (d *Delivery) Lifted(l chat.Lift) {
	d.Flush()
	d.sink.Lifted(l)
}
