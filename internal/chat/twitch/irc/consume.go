package irc

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// batch is the chat lines of one read, at most readBuffer bytes.
type batch struct {
	lines []string
	read  time.Time
}

// queue passes chat lines from the reader to the consumer.
type queue = twitch.Queue[batch]

// consume passes the contents of queued lines to the sink until ctx ends.
func (i *Conn) consume(ctx context.Context, lines *queue, sink chat.Sink) {
	d := twitch.NewDelivery(&i.report, sink, i.chatTime())
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-lines.Batches():
			for _, line := range b.lines {
				i.read(d, line, b.read)
			}
			d.Flush()
		}
	}
}

// read processes a line that arrived at a time. A line that can't be read is counted.
func (i *Conn) read(d *twitch.Delivery, line string, at time.Time) {
	raw, err := split(line)
	switch {
	case err != nil:
	case raw.isSilent():
	case raw.isMessage():
		var m chat.Message
		if m, err = parseChat(line, raw); err == nil {
			d.Add(m, at)
		}
	default:
		var r chat.Removal
		if r, err = parseRemoval(raw, i.report.RoomID(raw.channel())); err == nil {
			d.Removed(r)
		}
	}
	if err != nil {
		i.report.Skip(err)
	}
}
