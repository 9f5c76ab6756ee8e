package twitch

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
)

// maxAge is how much older than the local clock a message's time may be before the local clock is believed instead.
const maxAge = time.Minute

// consume turns queued lines into messages and hands them over, until ctx ends.
func (i *IRC) consume(ctx context.Context, lines *queue, sink chat.Sink) {
	var messages []chatguard.Message
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-lines.batches:
			messages = i.read(messages[:0], b)
			if len(messages) > 0 {
				sink.Messages(messages)
			}
			clear(messages) // the next batch may be long in coming; don't hold this one's lines until then
		}
	}
}

// read appends the batch's messages, and counts what can't be read.
func (i *IRC) read(messages []chatguard.Message, b batch) []chatguard.Message {
	for _, line := range b.lines {
		m, err := parseChat(line)
		if err != nil {
			i.skip(err)
			continue
		}
		m.SentAt = liveTime(m.SentAt, b.at)
		messages = append(messages, m)
	}
	i.note(func(s *Status) { s.Messages += uint64(len(messages)) })
	return messages
}

// liveTime is the time to judge a message by that arrived at now: the time it was sent, unless that is missing, in the future, or long past.
func liveTime(sent, now time.Time) time.Time {
	if sent.IsZero() || sent.After(now) || sent.Before(now.Add(-maxAge)) {
		return now
	}
	return sent
}

// skip counts a line that can't be read. The first for each reason is logged, too.
func (i *IRC) skip(reason error) {
	first := false
	i.note(func(s *Status) {
		s.Skipped[reasonOf(reason)]++
		first = s.Skipped[reasonOf(reason)] == 1
	})
	if first {
		i.logger().Warn("twitch chat: a line was skipped; more like it are only counted", "reason", reason)
	}
}
