package twitch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Moderator carries out penalties for messages, in the name of the token's user. It is safe for concurrent use; calls about one user should
// come one after the other.
type Moderator struct {
	Helix  *Helix        // required
	UserID func() string // of the token's user, as Identify tells it, asked for with each request; required
	Login  func() string // of the token's user; where it isn't known, the bot's own doings are told from others' by time and length alone

	Now func() time.Time // the chat's time, by which silences begin and end; nil means the Helix's clock

	mu    sync.Mutex
	users map[target]*dealings // guarded by mu
}

func (m *Moderator) now() time.Time {
	if m.Now == nil {
		return m.Helix.now()
	}
	return m.Now()
}

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

// Timeout keeps the author from writing for a length of 1 s to 14 days. Where they are silenced for at least as long already, by whomever, that stays,
// and nothing is sent.
func (m *Moderator) Timeout(ctx context.Context, msg chatguard.Message, length time.Duration, reason string) error {
	return m.silence(target{msg.ChannelID, msg.User.ID}, length, msg.SentAt, func(unless func() bool) error {
		return m.Helix.timeOut(ctx, m.room(msg.ChannelID), msg.User.ID, length, reason, unless)
	})
}

// Ban keeps the author from writing for good.
func (m *Moderator) Ban(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.silence(target{msg.ChannelID, msg.User.ID}, 0, msg.SentAt, func(unless func() bool) error {
		return m.Helix.ban(ctx, m.room(msg.ChannelID), msg.User.ID, reason, unless)
	})
}

// Lift lets a user write again who is timed out or banned. What somebody else gave them isn't lifted, but refused with ErrNotOurs.
func (m *Moderator) Lift(ctx context.Context, channelID, userID string) error {
	who := target{channelID, userID}
	if m.isTheirs(who) {
		return fmt.Errorf("unban user: %w", ErrNotOurs)
	}
	if err := m.Helix.UnbanUser(ctx, m.room(channelID), userID); err != nil {
		return err
	}
	m.forget(who)
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

// Left returns how many requests could be sent without waiting for Twitch's request budget within a time from now; 0 is now.
func (m *Moderator) Left(within time.Duration) int { return m.Helix.Left(within) }

// Trouble returns, for people, why no request is sent for now, and how the last one failed. Both are empty if nothing is wrong.
func (m *Moderator) Trouble() (refused, failed string) { return m.Helix.Trouble() }

func (m *Moderator) login() string {
	if m.Login == nil {
		return ""
	}
	return m.Login()
}

func (m *Moderator) room(channelID string) Room {
	return Room{BroadcasterID: channelID, ModeratorID: m.UserID()}
}
