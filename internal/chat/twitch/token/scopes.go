package token

import (
	"slices"
	"strings"
)

// Scope is a permission that the bot's account grants to its application.
type Scope struct {
	Name string
	For  string // its purpose, as text for people
	over string // prefix of the transports that need it; empty means all
}

// Scopes are all permissions that the bot may need. A login requests all of them, so that another
// transport needs no new login.
var Scopes = []Scope{
	{"chat:read", "read chat over IRC", "irc"},
	{"user:read:chat", "read chat over EventSub", "eventsub"},
	{"user:write:chat", "answer in chat", ""},
	{"moderator:manage:chat_messages", "delete messages", ""},
	{"moderator:manage:banned_users", "time out, ban, and lift both", ""},
	{"moderator:manage:warnings", "warn", ""},
	{"moderator:manage:chat_settings", "set slow mode and other chat modes", ""},
	{"user:read:moderated_channels", "see where the bot is a moderator", ""},
	{"moderator:read:blocked_terms", "see what other moderators do, over EventSub", "eventsub"},
	{"moderator:read:unban_requests", "see what other moderators do, over EventSub", "eventsub"},
	{"moderator:read:moderators", "see what other moderators do, over EventSub", "eventsub"},
	{"moderator:read:vips", "see what other moderators do, over EventSub", "eventsub"},
}

// ScopeNames returns the names of all Scopes.
func ScopeNames() []string { return scopeNames("") }

// MissingScopes returns the names of the scopes that a bot on this transport needs and its token
// lacks. The transport is "irc", "irc-websocket" or "eventsub"; empty means all of them. The
// permission to manage something includes the permission to read it.
func MissingScopes(transport string, has []string) []string {
	return slices.DeleteFunc(scopeNames(transport), func(name string) bool {
		return slices.Contains(has, name) || slices.Contains(has, strings.Replace(name, ":read:", ":manage:", 1))
	})
}

func scopeNames(transport string) (names []string) {
	for _, s := range Scopes {
		if transport == "" || strings.HasPrefix(transport, s.over) {
			names = append(names, s.Name)
		}
	}
	return names
}
