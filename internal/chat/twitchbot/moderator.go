package twitchbot

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
)

// Lift returns the function that lifts timeouts and bans, or nil if chatguard only reads.
func (t *Connection) Lift() func(ctx context.Context, channelID, userID string) error {
	if t.acting == nil {
		return nil
	}
	return t.acting.Lift
}

// Moderator returns the Moderator that carries out penalties, or nil if chatguard only reads.
func (t *Connection) Moderator() chat.Moderator {
	if t.acting == nil {
		return nil
	}
	return moderator{t.acting, t.permissions}
}

// moderator is a Moderator that records in which channels Twitch doesn't let us moderate.
type moderator struct {
	*helix.Moderator
	permissions *permissions
}

func (m moderator) Delete(ctx context.Context, msg chatguard.Message) error {
	return m.record(msg.ChannelID, m.Moderator.Delete(ctx, msg))
}

func (m moderator) Warn(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.record(msg.ChannelID, m.Moderator.Warn(ctx, msg, reason))
}

func (m moderator) Timeout(ctx context.Context, msg chatguard.Message, length time.Duration, reason string) error {
	return m.record(msg.ChannelID, m.Moderator.Timeout(ctx, msg, length, reason))
}

func (m moderator) Ban(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.record(msg.ChannelID, m.Moderator.Ban(ctx, msg, reason))
}

func (m moderator) record(channelID string, err error) error {
	return m.permissions.record(channelID, err)
}
