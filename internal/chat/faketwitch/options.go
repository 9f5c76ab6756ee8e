package faketwitch

import "time"

// Options configure a Server. The zero value suits most tests.
type Options struct {
	Login    string // the bot's login; empty means "chatguard_bot"
	Token    string // the bot's access token; empty means a fixed one
	ClientID string // of the bot's application; empty means a fixed one
	// ClientSecret is the application's secret. If it is empty, the application is public: it can't
	// redeem authorization codes, and renews tokens without a secret.
	ClientSecret string
	Scopes       []string         // of the token; nil means all that the bot needs
	Channels     []string         // logins of the initial channels
	TokenLife    time.Duration    // of access tokens; 0 means 4 h, as at Twitch
	Now          func() time.Time // nil means time.Now
	// InMemory means that the server opens no system port and is reachable only through Dial.
	InMemory bool

	// HelixBudget is the number of requests that Helix accepts at once; every 100 ms it accepts one
	// more. 0 means Twitch's 800, a negative value means no limit.
	HelixBudget int
	// SanctionLimit is how many timeouts, bans and unbans, counted together, Helix accepts per
	// channel within 30 s. Warnings have a limit of their own with the same number. 0 means 100, as
	// measured at Twitch; a negative value means no limit.
	SanctionLimit int
	// SubscriptionCost is what each EventSub subscription counts against the account's limit of 10.
	// 0 is right for subscriptions that the bot's account has authorized.
	SubscriptionCost int
}

// The scopes that the chat and the endpoints need.
const (
	scopeRead      = "chat:read"
	scopeDelete    = "moderator:manage:chat_messages"
	scopeBan       = "moderator:manage:banned_users"
	scopeWarn      = "moderator:manage:warnings"
	scopeSettings  = "moderator:manage:chat_settings"
	scopeSend      = "user:write:chat"
	scopeModerated = "user:read:moderated_channels"
)
