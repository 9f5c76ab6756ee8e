package twitch

import (
	"context"
	"errors"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/clock"
)

// consume hands what queued lines say to the sink, until ctx ends.
func (i *IRC) consume(ctx context.Context, lines *queue, sink chat.Sink) {
	d := newDelivery(&i.report, sink, i.chatTime())
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-lines.batches:
			for _, line := range b {
				d.read(line)
			}
			d.flush()
		}
	}
}

// delivery is what was read and is to be handed over.
type delivery struct {
	report   *report
	sink     chat.Sink
	time     *clock.Chat         // learns from the messages
	messages []chatguard.Message // since the last removal
}

func newDelivery(r *report, sink chat.Sink, chatTime *clock.Chat) *delivery {
	return &delivery{report: r, sink: sink, time: chatTime}
}

// read takes a line. What can't be read is counted.
func (d *delivery) read(line string) {
	raw, err := split(line)
	switch {
	case err != nil:
	case raw.command == "PRIVMSG":
		var m chatguard.Message
		if m, err = parseChat(line, raw); err == nil {
			d.message(m)
		}
	default:
		var r chat.Removal
		if r, err = parseRemoval(raw, d.report.roomID(raw.channel())); err == nil {
			d.flush()
			d.sink.Removed(r)
		}
	}
	if err != nil {
		d.report.skip(err)
	}
}

// message takes a message. It is judged by Twitch's stamp as it is, however late it arrives: then neither this machine's clock nor a pause of this
// process changes who is throttled. One without a stamp that can be was sent now.
func (d *delivery) message(m chatguard.Message) {
	if m.SentAt.IsZero() || errors.Is(m.Validate(), chatguard.ErrTime) {
		m.SentAt = d.time.Now()
	} else {
		d.time.Observe(m.SentAt)
	}
	d.messages = append(d.messages, m)
}

// flush hands the messages over.
func (d *delivery) flush() {
	if len(d.messages) == 0 {
		return
	}
	d.report.note(func(s *Status) { s.Messages += uint64(len(d.messages)) })
	d.sink.Messages(d.messages)
	clear(d.messages) // the next batch may be long in coming; don't hold this one's lines until then
	d.messages = d.messages[:0]
}

// skip counts a line that can't be read. The first for each reason is logged, too.
func (r *report) skip(reason error) {
	first := false
	r.note(func(s *Status) {
		s.Skipped[reasonOf(reason)]++
		first = s.Skipped[reasonOf(reason)] == 1
	})
	if first {
		r.log.Warn("twitch chat: a line was skipped; more like it are only counted", "reason", reason)
	}
}
