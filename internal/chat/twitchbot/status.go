package twitchbot

import (
	"context"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/eventsub"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
)

// Status returns the state of reading. Its channels have the logins of the configuration.
func (t *Connection) Status() twitch.Status {
	s := t.reader.Status()
	if t.names != nil {
		t.names.translate(s.Channels)
	}
	return s
}

// SetChannels changes which channels are read. If it returns an error, nothing has changed.
func (t *Connection) SetChannels(logins []string) error {
	if t.names == nil {
		return t.reader.SetChannels(logins)
	}
	return t.names.set(logins)
}

// Read reads chat without managing tokens and permissions, and ends with the first error. Use it
// instead of Run to find out whether the chat can be read.
func (t *Connection) Read(ctx context.Context, sink chat.Sink) error { return t.reader.Run(ctx, sink) }

// Tokens returns the bot's tokens, or nil if chatguard only reads.
func (t *Connection) Tokens() *token.Store { return t.tokens }

// Helix returns the client for Helix, or nil if chatguard only reads.
func (t *Connection) Helix() *helix.Client { return t.helix }

// NeedsToken reports whether the chat can't be read without a token.
func (t *Connection) NeedsToken() bool {
	_, needed := t.reader.(*eventsub.Conn)
	return needed
}

// Moderates reports whether the bot is known to moderate a channel.
func (t *Connection) Moderates(channelID string) bool { return t.permissions.moderates(channelID) }

// Observing returns the channels that only observe because the bot isn't a moderator. The map's
// keys are channel IDs, and its values are texts for people.
func (t *Connection) Observing() map[string]string { return t.permissions.observingChannels() }

// Anonymous returns why chat is read without an account although there is a token. It returns nil
// if chat is read with an account, or if there is no token.
func (t *Connection) Anonymous() []string {
	if t.tokens == nil {
		return nil
	}
	return t.chat.notes(t.tokens.Status().Identity)
}

// Standing reports whether the bot is a moderator of a channel. While Twitch hasn't answered that,
// known and moderates are false.
func (t *Connection) Standing(channelID string) (known, moderates bool) {
	return t.permissions.standing(channelID)
}

// Recheck asks Twitch again where the bot is a moderator, at most once every RecheckEvery. It
// doesn't wait for the answer. Call it while somebody waits for the bot to become a moderator.
func (t *Connection) Recheck() { t.permissions.recheckSoon() }
