package helix

import (
	"context"
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/journal"
)

// Silence returns a user's last timeout or ban that the Moderator has given or recalled, or that
// the chat has reported. If somebody has ended it, it is a timeout that ended then. ok is false if
// none is known.
func (m *Moderator) Silence(channelID, userID string) (s journal.Silence, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch d := m.users[target{channelID, userID}]; {
	case d == nil:
		return s, false
	case !d.endedAt.IsZero():
		return journal.Silence{Until: d.endedAt.UTC()}, true
	case !d.last.from.IsZero():
		return d.last.silence(), true
	}
	return s, false
}

// Recall records a timeout or ban from before the start, unless the Moderator knows a later one, or
// the end of this one.
func (m *Moderator) Recall(t journal.Target, s journal.Silence) {
	length := time.Duration(0)
	if !s.Banned {
		length = s.Until.Sub(s.At)
	}
	last := givenBy(s.By, s.At, length)
	who := target{t.ChannelID, t.UserID}
	m.mu.Lock()
	d := m.historyOf(who)
	isLast := d.last.from.IsZero() && last.from.After(d.endedAt)
	if isLast {
		d.give(last)
	}
	m.mu.Unlock()
	if isLast {
		m.changed(who, "")
	}
}

// TimeOutUser times a user out for 1 s to 14 days in the name of the target's author. It replaces
// another timeout, even a longer one. If the user is banned, the error is ErrBanned. The Moderator
// treats the timeout as one that somebody else gave, unless the author is journal.ProgramAuthor. It
// doesn't wait behind penalties.
func (m *Moderator) TimeOutUser(ctx context.Context, t journal.Target, length time.Duration, reason string) error {
	return m.act(t, length, func(how sending) error {
		return m.Helix.timeOut(ctx, m.room(t.ChannelID), t.UserID, length, reason, how)
	})
}

// BanUser is like TimeOutUser, but bans the user permanently. If the user is already banned, the
// error is ErrBanned.
func (m *Moderator) BanUser(ctx context.Context, t journal.Target, reason string) error {
	return m.act(t, 0, func(how sending) error {
		return m.Helix.ban(ctx, m.room(t.ChannelID), t.UserID, reason, how)
	})
}

// act imposes a sanction that a person requested. Length 0 means a ban.
func (m *Moderator) act(t journal.Target, length time.Duration, give func(sending) error) error {
	who := target{t.ChannelID, t.UserID}
	request := m.noteRequest(who, givenBy(t.Author, m.now(), length))
	err := give(sending{essential: true})
	m.noteAnswer(who, request, err)
	return err
}

// UnbanUser lifts a user's timeout or ban, even one that somebody else gave. If Twitch knows of
// none, the error is chat.ErrNotSilenced.
func (m *Moderator) UnbanUser(ctx context.Context, channelID, userID string) error {
	asked := m.now()
	err := m.Helix.UnbanUser(ctx, m.room(channelID), userID)
	if err == nil || errors.Is(err, chat.ErrNotSilenced) {
		m.Lifted(chat.Lift{ChannelID: channelID, UserID: userID, At: asked})
	}
	return err
}
