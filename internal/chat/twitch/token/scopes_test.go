package token

import (
	"slices"
	"testing"
)

func TestMissingScopes(t *testing.T) {
	moderation := []string{
		"user:write:chat", "moderator:manage:chat_messages", "moderator:manage:banned_users", "moderator:manage:warnings", "moderator:manage:chat_settings",
		"user:read:moderated_channels",
	}
	over := []string{
		"user:read:chat", "moderator:manage:blocked_terms", "moderator:read:unban_requests", "moderator:read:moderators", "moderator:read:vips",
	}
	for name, c := range map[string]struct {
		transport string
		has, want []string
	}{
		"all":                      {"", ScopeNames(), nil},
		"IRC":                      {"irc", append([]string{"chat:read"}, moderation...), nil},
		"IRC over WebSocket":       {"irc-websocket", moderation, []string{"chat:read"}},
		"EventSub, managing terms": {"eventsub", append(over, moderation...), nil},
		"EventSub with IRC's":      {"eventsub", append([]string{"moderator:read:vips", "chat:read"}, moderation...), []string{"user:read:chat", "moderator:read:blocked_terms", "moderator:read:unban_requests", "moderator:read:moderators"}},
		"none":                     {"irc", nil, append([]string{"chat:read"}, moderation...)},
	} {
		if got := MissingScopes(c.transport, c.has); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
