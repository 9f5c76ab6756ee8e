package twitchbot

import (
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// Acts reports whether the bot can time out and ban users on behalf of people. The methods TimeOut,
// Ban, Unban, Silence and Recall need that.
func (t *Connection) Acts() bool { return t.acting != nil }

// actScopes are the scopes that penalties need.
var actScopes = map[chatguard.Action]string{
	chatguard.ActionDelete: "moderator:manage:chat_messages", penalties.Warn: "moderator:manage:warnings",
	chatguard.ActionTimeout: "moderator:manage:banned_users", chatguard.ActionBan: "moderator:manage:banned_users",
}

// Lacks reports whether the token is known to lack the scope that a penalty needs.
func (t *Connection) Lacks(action chatguard.Action) bool {
	return t.tokens != nil && slices.Contains(t.tokens.Status().Missing, actScopes[action])
}

// TimeOut times a user out in the name of the target's author; see helix.Moderator.TimeOutUser.
func (t *Connection) TimeOut(ctx context.Context, to journal.Target, length time.Duration, reason string) error {
	return t.permissions.record(to.ChannelID, t.acting.TimeOutUser(ctx, to, length, reason))
}

// Ban bans a user in the name of the target's author; see helix.Moderator.BanUser.
func (t *Connection) Ban(ctx context.Context, to journal.Target, reason string) error {
	return t.permissions.record(to.ChannelID, t.acting.BanUser(ctx, to, reason))
}

// Unban lifts a user's timeout or ban, even one that somebody else gave; see
// helix.Moderator.UnbanUser.
func (t *Connection) Unban(ctx context.Context, to journal.Target) error {
	return t.permissions.record(to.ChannelID, t.acting.UnbanUser(ctx, to.ChannelID, to.UserID))
}

// Silence returns a user's last timeout or ban, if one is known; see helix.Moderator.Silence.
func (t *Connection) Silence(channelID, userID string) (journal.Silence, bool) {
	return t.acting.Silence(channelID, userID)
}

// Recall records a timeout or ban from before the start; see helix.Moderator.Recall.
func (t *Connection) Recall(to journal.Target, s journal.Silence) { t.acting.Recall(to, s) }

// ModCommand returns the command that makes the bot a moderator of a channel.
func (t *Connection) ModCommand(channel string) string { return ModCommand(t.login(), channel) }
