package twitch

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
)

// maxEventAge is how old an event may be. Twitch sends again what may have been lost, and says that older ones can be an attacker's.
const maxEventAge = 10 * time.Minute

// consume hands what queued frames say to the sink, until ctx ends.
func (e *EventSub) consume(ctx context.Context, frames *eventQueue, sink chat.Sink) {
	d := newDelivery(&e.report, sink, e.chatTime())
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-frames.batches:
			e.read(d, first)
			for range len(frames.batches) {
				e.read(d, <-frames.batches)
			}
			d.flush()
		}
	}
}

// read takes an event that is neither old nor known. What can't be read is counted.
func (e *EventSub) read(d *delivery, a arrival) {
	var err error
	meta, kind, room := &a.frame.Metadata, a.frame.Payload.Subscription.Kind, a.frame.Payload.Subscription.Condition.ChannelID
	switch {
	case !meta.At.IsZero() && a.byTwitch.Sub(meta.At.Time) > maxEventAge:
		err = Stale
	case e.seen.again(meta.ID, a.at):
		err = Repeated
	case !e.reads(room): // it was left a moment ago
	case (kind == kindChat || kind == kindModerate) && a.frame.Payload.Event.ChannelID != room:
		err = OtherChannel // or a command for one channel would be carried out in another
	case kind == kindChat:
		err = e.readChat(d, a)
	case kind == kindModerate:
		err = e.readModeration(d, a)
	}
	if err != nil {
		e.skip(err)
	}
}

func (e *EventSub) readChat(d *delivery, a arrival) error {
	m, err := a.frame.Payload.Event.message(a.frame.Metadata.At.Time)
	if err != nil {
		return err
	}
	d.message(m)
	return nil
}

func (e *EventSub) readModeration(d *delivery, a arrival) error {
	event := &a.frame.Payload.Event
	switch me := e.UserID(); {
	case event.Action == "mod" && event.Mod.UserID == me:
		e.tellModerates(event.ChannelID, true)
	case event.Action == "unmod" && event.Unmod.UserID == me:
		e.tellModerates(event.ChannelID, false)
	}
	r, ok, err := event.removal(a.frame.Metadata.At.Time)
	if ok {
		d.flush()
		d.sink.Removed(r)
	}
	return err
}

// reads reports whether the channel with this ID is one of those that are read.
func (e *EventSub) reads(roomID string) bool {
	_, ok := e.login(roomID)
	return ok
}

// seen is the IDs of frames that arrived of late, for ten minutes at least unless there are too many. The zero value is empty.
type seen struct {
	recent, before map[string]bool // recent takes the place of before when it is full or old
	since          time.Time       // when recent was begun
}

// maxSeen is how many IDs are remembered at least, of those that are young enough.
const maxSeen = 1 << 16

// again reports whether an ID was seen before.
func (s *seen) again(id string, now time.Time) bool {
	if s.recent[id] || s.before[id] {
		return true
	}
	if s.recent == nil || len(s.recent) >= maxSeen || now.Sub(s.since) > maxEventAge {
		s.recent, s.before, s.since = make(map[string]bool), s.recent, now
	}
	s.recent[id] = true
	return false
}
