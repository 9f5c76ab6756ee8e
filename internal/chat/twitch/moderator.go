package twitch

import (
	"context"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Moderator carries out penalties for messages, in the name of the token's user. It is safe for concurrent use; calls about one user should
// come one after the other.
type Moderator struct {
	Helix  *Helix        // required
	UserID func() string // of the token's user, as Identify tells it, asked for with each request; required

	mu       sync.Mutex
	timeouts map[target]timeoutSpan // those in force that this Moderator gave; guarded by mu
}

// target is one user in one channel.
type target struct{ channelID, userID string }

// timeoutSpan is a timeout that was given and when it ends.
type timeoutSpan struct{ given, until time.Time }

const (
	maxTimeouts = 10_000          // timeouts remembered
	sampled     = 16              // of them are looked at for one to forget
	inTransit   = 5 * time.Second // how long after a timeout a message that was sent before it may still be stamped
)

// Delete removes the message.
func (m *Moderator) Delete(ctx context.Context, msg chatguard.Message) error {
	return m.Helix.DeleteMessage(ctx, m.room(msg.ChannelID), msg.ID)
}

// Warn removes the message and warns its author.
func (m *Moderator) Warn(ctx context.Context, msg chatguard.Message, reason string) error {
	if err := m.Delete(ctx, msg); err != nil {
		return err
	}
	return m.Helix.WarnUser(ctx, m.room(msg.ChannelID), msg.User.ID, reason)
}

// Timeout keeps the author from writing for a length of 1 s to 14 days. Where a timeout that this Moderator gave lasts longer, it stays, and
// nothing is sent.
func (m *Moderator) Timeout(ctx context.Context, msg chatguard.Message, length time.Duration, reason string) error {
	who := target{msg.ChannelID, msg.User.ID}
	if m.outlasts(who, m.Helix.now().Add(length), msg.SentAt) {
		return nil
	}
	if err := m.Helix.TimeoutUser(ctx, m.room(msg.ChannelID), msg.User.ID, length, reason); err != nil {
		return err
	}
	given := m.Helix.now() // only now: the request may have waited for the budget
	m.remember(who, timeoutSpan{given: given, until: given.Add(length)})
	return nil
}

// Ban keeps the author from writing for good.
func (m *Moderator) Ban(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.Helix.BanUser(ctx, m.room(msg.ChannelID), msg.User.ID, reason)
}

// Lift lets a user write again who is timed out or banned.
func (m *Moderator) Lift(ctx context.Context, channelID, userID string) error {
	if err := m.Helix.UnbanUser(ctx, m.room(channelID), userID); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.timeouts, target{channelID, userID})
	return nil
}

// Say says something in the channel, in answer to a message where replyTo is its ID. It is tried once.
func (m *Moderator) Say(ctx context.Context, channelID, text, replyTo string) error {
	return m.Helix.SendMessage(ctx, channelID, m.UserID(), text, replyTo)
}

// SlowMode returns whether users have to wait between two messages, and how long.
func (m *Moderator) SlowMode(ctx context.Context, channelID string) (on bool, wait time.Duration, err error) {
	s, err := m.Helix.ChatSettings(ctx, m.room(channelID))
	return s.On, s.Wait, err
}

// SetSlowMode makes users wait between two messages, 3 s to 2 min, or no more.
func (m *Moderator) SetSlowMode(ctx context.Context, channelID string, on bool, wait time.Duration) error {
	return m.Helix.SetSlowMode(ctx, m.room(channelID), SlowMode{On: on, Wait: wait})
}

// Left returns how many penalties could be carried out now without waiting for Twitch's request budget.
func (m *Moderator) Left() int { return m.Helix.Left() }

func (m *Moderator) room(channelID string) Room {
	return Room{BroadcasterID: channelID, ModeratorID: m.UserID()}
}

// outlasts reports whether a timeout in force lasts at least until then. One during which the user could write isn't in force any more: another
// moderator has lifted it.
func (m *Moderator) outlasts(who target, until, sent time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	span, ok := m.timeouts[who]
	return ok && !span.until.Before(until) && !sent.After(span.given.Add(inTransit))
}

// remember keeps a timeout in mind. When there is no room, the one of a few that ends first goes.
func (m *Moderator) remember(who target, span timeoutSpan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timeouts == nil {
		m.timeouts = make(map[target]timeoutSpan)
	}
	if len(m.timeouts) >= maxTimeouts {
		delete(m.timeouts, m.endsFirst())
	}
	m.timeouts[who] = span
}

// endsFirst is the timeout that ends first among a few, which the map's random order picks.
func (m *Moderator) endsFirst() (first target) {
	var until time.Time
	looked := 0
	for who, span := range m.timeouts {
		if looked == 0 || span.until.Before(until) {
			first, until = who, span.until
		}
		if looked++; looked == sampled {
			break
		}
	}
	return first
}
