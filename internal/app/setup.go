package app

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/live"
)

// Pages are pages of Twitch for people.
type Pages struct {
	Console string // where people register an application
	Chat    string // prefix of a channel's chat page; the login and "/chat" follow
}

// Real returns the pages, with the real ones for empty fields.
func (p Pages) Real() Pages {
	return Pages{
		Console: cmp.Or(p.Console, "https://dev.twitch.tv/console/apps/create"),
		Chat:    cmp.Or(p.Chat, "https://www.twitch.tv/popout/"),
	}
}

// chatPage returns the address of a channel's chat.
func (p Pages) chatPage(login string) string { return p.Chat + url.PathEscape(login) + "/chat" }

// setup returns what a channel's bot has and lacks. ok is false if the configuration doesn't name
// the channel. If the token is valid but the bot isn't known to be a moderator, setup makes the bot
// ask Twitch again.
func (l *botLogin) setup(channelID string) (s web.BotSetup, ok bool) {
	channel := l.names.login(channelID)
	cfg := l.names.config()
	if channelID == "" && len(cfg.Twitch.Channels) > 0 {
		channel = cfg.Twitch.Channels[0]
	}
	if !slices.Contains(cfg.Twitch.Channels, channel) {
		return s, false
	}
	status := l.tokens.Status()
	s = web.BotSetup{
		Token: tokenStates[status.State], Account: status.Identity.Login, Moderator: web.ModeratorUnknown,
		ChatPage: l.pages.chatPage(channel), Since: l.since.UTC(),
	}
	if s.Token != live.Missing {
		s.Problem = status.Detail
	}
	if known, moderates := l.bot.Standing(channelID); moderates {
		s.Moderator = web.ModeratorYes
	} else if known {
		s.Moderator = web.ModeratorNo
	}
	if s.Account != "" {
		s.Command = "/mod " + s.Account
	}
	if s.Moderator != web.ModeratorYes && status.State == token.Good {
		l.bot.Recheck()
	}
	return s, true
}

// tokenStates are the states of a token as people see them.
var tokenStates = map[token.State]live.ConnectionState{
	token.Missing: live.Missing, token.Revoked: live.Refused, token.Unknown: live.Unchecked, token.Good: live.Valid,
}
