package helix

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Moderator carries out penalties for messages, and actions that people request, as the token's
// user. It is safe for concurrent use. If calls about one user overlap, the Moderator may mistake
// its own sanction for somebody else's.
type Moderator struct {
	Helix *Client // required
	// UserID returns the ID of the token's user. It is called for each request; required.
	UserID func() string
	// Login returns the login of the token's user. If it is unknown, the bot's own actions are
	// recognized only by their time and duration.
	Login func() string

	// Now returns the chat's time, by which sanctions begin and end. Nil means the Client's clock.
	Now func() time.Time
	// Changed is called after the known timeout or ban of a user has changed; see Silence. login
	// may be empty. It must not block. Nil means no calls.
	Changed func(channelID, userID, login string)

	mu    sync.Mutex
	users map[target]*userHistory // guarded by mu
}

func (m *Moderator) now() time.Time {
	if m.Now == nil {
		return m.Helix.now()
	}
	return m.Now()
}

func (m *Moderator) changed(who target, login string) {
	if m.Changed != nil {
		m.Changed(who.channelID, who.userID, login)
	}
}

// Delete removes the message.
func (m *Moderator) Delete(ctx context.Context, msg chatguard.Message) error {
	return m.Helix.DeleteMessage(ctx, m.room(msg.ChannelID), msg.ID)
}

// Warn warns the author. It doesn't remove the message.
func (m *Moderator) Warn(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.Helix.WarnUser(ctx, m.room(msg.ChannelID), msg.User.ID, reason)
}

// Timeout prevents the author from writing for 1 s to 14 days. It sends nothing if the user already
// has a timeout or ban, given by anybody, that lasts at least as long.
func (m *Moderator) Timeout(ctx context.Context, msg chatguard.Message, length time.Duration, reason string) error {
	return m.sanction(target{msg.ChannelID, msg.User.ID}, length, msg.SentAt, func(unless func() bool) error {
		return m.Helix.timeOut(ctx, m.room(msg.ChannelID), msg.User.ID, length, reason, sending{unless: unless})
	})
}

// Ban bans the author permanently.
func (m *Moderator) Ban(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.sanction(target{msg.ChannelID, msg.User.ID}, 0, msg.SentAt, func(unless func() bool) error {
		return m.Helix.ban(ctx, m.room(msg.ChannelID), msg.User.ID, reason, sending{unless: unless})
	})
}

// Lift lifts a user's timeout or ban. If somebody else gave it, Lift returns ErrNotOurs. If there
// is none, it returns chat.ErrNotSilenced.
func (m *Moderator) Lift(ctx context.Context, channelID, userID string) error {
	who := target{channelID, userID}
	if m.sanctionedByOther(who) {
		return fmt.Errorf("unban user: %w", ErrNotOurs)
	}
	return m.UnbanUser(ctx, channelID, userID)
}

// Say sends a message to the channel, as a reply if replyTo is a message ID. It doesn't retry.
func (m *Moderator) Say(ctx context.Context, channelID, text, replyTo string) error {
	return m.Helix.SendMessage(ctx, channelID, m.UserID(), text, replyTo)
}

// Left returns how many requests Twitch's request budget has room for within a duration from now; a
// duration of 0 means now.
func (m *Moderator) Left(within time.Duration) int { return m.Helix.Left(within) }

// Trouble returns why no request is sent, and how the last request failed, as text for people.
// Both are empty if nothing is wrong.
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
