package twitch

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/sendtime"
)

// consume hands what queued lines say to the sink, until ctx ends.
func (i *IRC) consume(ctx context.Context, lines *queue, sink chat.Sink) {
	d := delivery{report: &i.report, sink: sink}
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-lines.batches:
			for _, line := range b.lines {
				d.read(line, b.at)
			}
			d.flush()
		}
	}
}

// delivery is what was read and is to be handed over.
type delivery struct {
	report   *report
	sink     chat.Sink
	messages []chatguard.Message // since the last removal
}

// read takes a line that was received at a time. What can't be read is counted.
func (d *delivery) read(line string, at time.Time) {
	raw, err := split(line)
	switch {
	case err != nil:
	case raw.command == "PRIVMSG":
		var m chatguard.Message
		if m, err = parseChat(line, raw); err == nil {
			m.SentAt = sendtime.Live(m.SentAt, at)
			d.messages = append(d.messages, m)
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
