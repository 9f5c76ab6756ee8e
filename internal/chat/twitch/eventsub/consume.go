package eventsub

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
)

// maxEventAge is the maximum age of an event. Twitch resends events that may have been lost, and
// warns that older events may come from an attacker.
const maxEventAge = 10 * time.Minute

// consume passes the contents of queued frames to the sink until ctx ends.
func (e *Conn) consume(ctx context.Context, frames *queue, sink chat.Sink) {
	d := twitch.NewDelivery(&e.report, sink, e.chatTime())
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-frames.Batches():
			e.read(d, first)
			for range len(frames.Batches()) {
				e.read(d, <-frames.Batches())
			}
			d.Flush()
		}
	}
}

// read processes an event that is neither stale nor a repeat. It counts events that can't be read.
func (e *Conn) read(d *twitch.Delivery, a arrival) {
	var err error
	meta, kind, room := &a.frame.Metadata, a.frame.Payload.Subscription.Kind, a.frame.Payload.Subscription.Condition.ChannelID
	switch {
	case !meta.At.IsZero() && a.byTwitch.Sub(meta.At.Time) > maxEventAge:
		err = Stale
	case e.isRepeat(meta.ID, a.at):
		err = Repeated
	case !e.isRead(room): // the channel was left a moment ago
	case (kind == helix.KindChat || kind == helix.KindNotice || kind == helix.KindModerate) && a.frame.Payload.Event.ChannelID != room:
		err = OtherChannel // a command must not run in another channel
	case kind == helix.KindNotice && a.frame.Payload.Event.Message.Text == "": // nobody wrote it
	case kind == helix.KindChat || kind == helix.KindNotice:
		err = e.readChat(d, a)
	case kind == helix.KindModerate:
		err = e.readModeration(d, a)
	}
	if err != nil {
		e.report.Skip(err)
	}
}

func (e *Conn) readChat(d *twitch.Delivery, a arrival) error {
	m, err := a.frame.Payload.Event.message(a.frame.Metadata.At.Time)
	if err != nil {
		return err
	}
	d.Add(m, a.at)
	return nil
}

func (e *Conn) readModeration(d *twitch.Delivery, a arrival) error {
	event := &a.frame.Payload.Event
	switch me := e.UserID(); {
	case event.Action == "mod" && event.Mod.UserID == me:
		e.reportModerates(event.ChannelID, true)
	case event.Action == "unmod" && event.Unmod.UserID == me:
		e.reportModerates(event.ChannelID, false)
	case event.Action == "mod":
		e.reportStaff(event.ChannelID, event.Mod.UserID)
	case event.Action == "unmod":
		e.reportStaff(event.ChannelID, event.Unmod.UserID)
	case event.isModeChange():
		e.reportModes(event.ChannelID, true)
	}
	if user := event.lifted(); user != "" {
		if err := twitch.CheckRemoval(&chat.Removal{ChannelID: event.ChannelID, UserID: user}); err != nil {
			return err
		}
		d.Lifted(chat.Lift{ChannelID: event.ChannelID, UserID: user, At: a.frame.Metadata.At.Time})
		return nil
	}
	r, ok, err := event.removal(a.frame.Metadata.At.Time)
	if ok {
		d.Removed(r)
	}
	return err
}

// reportStaff reports a user who became a moderator of a channel, or is no longer one.
func (e *Conn) reportStaff(roomID, userID string) {
	if e.StaffChanged != nil && userID != "" {
		e.StaffChanged(roomID, userID)
	}
}

// isRead reports whether the channel with this ID is being read.
func (e *Conn) isRead(roomID string) bool {
	_, ok := e.login(roomID)
	return ok
}

// isRepeat reports whether a frame with this ID has arrived recently, and records it.
func (e *Conn) isRepeat(id string, now time.Time) bool {
	if _, ok := e.seen.Get(id); ok {
		return true
	}
	e.seen.Set(id, struct{}{}, now)
	return false
}
