// Package config reads chatguard.toml and the environment. It describes any mistake in one line
// that names the place and the fix. It knows the structure of the file and which values fit
// together. It opens no database and no connection, and starts nothing.
package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/roles"
)

// Config is everything that an owner can set before chatguard starts. Load, Parse and Default
// return one. Every value in it has been checked.
type Config struct {
	Path string `toml:"-"` // file it was read from; empty for Default

	// Database is the path of the SQLite file. In the file it may be relative to the configuration
	// file's folder; Parse joins the two paths.
	Database string `toml:"database"`
	// NoDatabase means that no database is used and nothing is saved. No file can set it.
	NoDatabase bool `toml:"-"`
	// Timezone is the IANA name of the time zone for the channels' days. It equals Policy.Timezone.
	Timezone      string        `toml:"timezone"`
	FlushInterval time.Duration `toml:"flush_interval"` // time between two writes of changes
	Retention     Retention     `toml:"retention"`      // how long journal entries, streams and people's names are kept
	// TextRetention is how long the timeline keeps a hash of each text: up to 48 h. 0 means that it
	// keeps none.
	TextRetention time.Duration `toml:"text_retention"`

	// Memory is the maximum memory of the whole process. A part of it is for the users of all
	// channels.
	Memory Memory `toml:"memory"`
	// MemoryPerTable is the maximum memory for the users of each channel. Limits per user across
	// all channels may use the same amount again.
	MemoryPerTable Size `toml:"memory_per_table"`

	Twitch  Twitch  `toml:"twitch"`
	Check   Check   `toml:"check"`
	Shared  Shared  `toml:"shared"`
	Notices Notices `toml:"notices"`
	Raid    Raid    `toml:"raid"`
	Web     Web     `toml:"web"`
	Log     Log     `toml:"log"`
	// Policy is the policy of all channels, from [policy], [[limit]], [penalties] and Timezone; see
	// document.
	Policy chatguard.Policy `toml:"-"`

	// Channels holds the complete policies of the channels that have a [channel.NAME], by NAME: a
	// login as ChannelName returns it, or an ID. PolicyFor finds a channel's policy.
	Channels map[string]chatguard.Policy `toml:"-"`

	Webhooks []Webhook `toml:"-"` // from [[webhook]]

	source *reader // what it was read from; nil for Default
}

// Fail returns an error about the value of a key, such as "shared.url", that turned out to be wrong
// when it was used. It names the line of the key, or the environment variable that set it.
func (c Config) Fail(key, problem string) *Error {
	if c.source == nil {
		return &Error{File: c.Path, Key: key, Problem: problem}
	}
	var at place
	for name := range strings.SplitSeq(key, ".") {
		at = at.child(name)
	}
	return c.source.fail(at, "%s", problem)
}

// Twitch configures which channels are read and how Twitch is reached.
type Twitch struct {
	// Channels are logins as ChannelName returns them, without duplicates. It may be empty.
	Channels []string `toml:"channels"`
	// ClientID is the public ID of the owner's Twitch application. It may be empty.
	ClientID string `toml:"client_id"`
	// ClientSecret is the application's secret. It is empty if the application has none, because
	// its type on Twitch is Public. Sign-ins with Twitch through a PublicURL need it.
	ClientSecret Secret `toml:"client_secret"`

	Transport  string `toml:"transport"`   // "irc", "irc-websocket" or "eventsub"
	IRCAddress string `toml:"irc_address"` // host:port
	IRCTLS     bool   `toml:"irc_tls"`     // whether IRCAddress uses TLS
	// IRCWebSocketURL is a ws or wss URL. Like all URLs here it has no trailing slash.
	IRCWebSocketURL string `toml:"irc_websocket_url"`
	EventSubURL     string `toml:"eventsub_url"` // ws or wss
	HelixURL        string `toml:"helix_url"`    // http or https
	AuthURL         string `toml:"auth_url"`     // http or https
	// Commands enables the answers to !quota and !chatguard.
	Commands bool `toml:"commands"`

	// SlowMode is the slow mode for a channel with more flood than chatguard can act on: whole
	// seconds, 3 to 120. 0 means never.
	SlowMode time.Duration `toml:"slow_mode"`
	// Token is an access token without "oauth:". If it is empty, the token of a login is used, or
	// chat is read anonymously.
	Token Secret `toml:"token"`

	// RefreshToken renews Token. If it is empty, Token works until it expires.
	RefreshToken Secret `toml:"refresh_token"`
}

// Check lists the owner's own chats whose servers call POST /api/v1/check.
type Check struct {
	// Channels are the IDs of these chats' channels, without duplicates and different from the
	// logins in Twitch.Channels. It may be empty. A server may ask about other channels too.
	Channels []string `toml:"channels"`
}

// Notices are the messages to throttled users in chat.
type Notices struct {
	// Text may contain {name}, {wait} and {limit}. If it is empty, no notices are sent.
	Text     string        `toml:"text"`
	Cooldown time.Duration `toml:"cooldown"` // minimum time between notices to a user
	Language string        `toml:"language"` // of all that chatguard says in chat: one of language.All
}

// Raid defines the limits that raid mode adds to a channel's policy while it is on.
type Raid struct {
	Lasts time.Duration `toml:"lasts"` // default duration of raid mode
	// StartRate is the number of messages per second, over the last 10 seconds, at which raid mode
	// starts by itself. 0 means never.
	StartRate int           `toml:"start_rate"`
	Burst     int           `toml:"channel_burst"`  // burst of all users together
	Refill    time.Duration `toml:"channel_refill"` // time after which one more message fits
	// FirstTimerBurst is the burst of users who write here for the first time, in each
	// token-bucket.
	FirstTimerBurst  int           `toml:"first_timer_burst"`
	FirstTimerRefill time.Duration `toml:"first_timer_refill"`
}

// Web configures where the dashboard is served and who may use it.
type Web struct {
	Listen string `toml:"listen"` // host:port; port 0 means any free port
	// TLSCert is the path of a PEM file, resolved like Database. If it is empty, the dashboard uses
	// plain HTTP.
	TLSCert string `toml:"tls_cert"`
	TLSKey  string `toml:"tls_key"` // path of a PEM file; required with TLSCert
	// PublicURL is the address that people open in the browser, for example a proxy's, or one with
	// the certificate's host name. It sets the address in sign-in links, an accepted host name and
	// the cookie's path. If it is set, /metrics needs a token even from this machine. It may be
	// empty.
	PublicURL      string  `toml:"public_url"`
	TrustedProxies []Proxy `toml:"trusted_proxies"` // proxies trusted to name the client
	// Insecure allows listening without TLS on addresses other than loopback.
	Insecure bool `toml:"insecure"`
	// TwitchSignIn lets broadcasters and moderators sign in with their Twitch accounts.
	TwitchSignIn bool `toml:"twitch_sign_in"`
	// Owners are the logins of the Twitch accounts with all rights over the installation, in the
	// form of ChannelName and without duplicates. Nobody else who signs in with Twitch has such
	// rights.
	Owners []string `toml:"owners"`
	// ViewerPage turns on the page on which viewers see when they may write again. They sign in
	// with their Twitch accounts, whether or not TwitchSignIn is set.
	ViewerPage bool `toml:"viewer_page"`
	// ModeratorRole is what a channel's moderators may do if they sign in with their Twitch
	// accounts. It is one of auth.ModeratorRoles.
	ModeratorRole auth.Access `toml:"moderator_role"`
	// Token signs its bearer in as the owner. Empty means that there is no such token.
	Token Secret `toml:"token"`
}

// TokenFile returns the path of the file with the bot's tokens: the path of the database with
// ".token" appended.
func (c *Config) TokenFile() string { return c.Database + ".token" }

// TextKeyFile returns the path of the file with the key of texts: the path of the database with
// ".textkey" appended.
func (c *Config) TextKeyFile() string { return c.Database + ".textkey" }

// DefaultPolicy returns the policy of an empty file. It has the limits of chatguard.DefaultPolicy,
// but it only observes. Its roles are Twitch's, and its ladder is one for a bot.
func DefaultPolicy() chatguard.Policy {
	policy := chatguard.DefaultPolicy()
	policy.Mode = chatguard.ModeObserve
	policy.Roles = slices.Clone(roles.Twitch)
	policy.Exempt = []chatguard.Role{roles.Broadcaster, roles.LeadModerator, roles.Moderator}
	policy.Penalties.Ladder = []chatguard.Penalty{
		{Action: chatguard.ActionDelete},
		{Action: chatguard.ActionDelete},
		{Action: penalties.Warn},
		{Action: chatguard.ActionTimeout, Duration: 30 * time.Second},
		{Action: chatguard.ActionTimeout, Duration: 10 * time.Minute},
	}
	return policy
}

// Default returns the configuration of an empty file: no channels, and the policy of
// DefaultPolicy.
func Default() Config {
	policy := DefaultPolicy()
	return Config{
		Database:      "chatguard.db",
		Timezone:      policy.Timezone,
		FlushInterval: time.Second,
		Retention:     Retention(30 * day),
		TextRetention: day,

		MemoryPerTable: 512 << 20, // as Options.MaxMemory of a Guard
		Twitch: Twitch{
			Channels:        []string{},
			Transport:       "irc",
			IRCAddress:      "irc.chat.twitch.tv:6697",
			IRCTLS:          true,
			IRCWebSocketURL: "wss://irc-ws.chat.twitch.tv:443",
			EventSubURL:     "wss://eventsub.wss.twitch.tv/ws",
			HelixURL:        "https://api.twitch.tv/helix",
			AuthURL:         "https://id.twitch.tv/oauth2",
			Commands:        true,
			SlowMode:        30 * time.Second,
		},
		Check:   Check{Channels: []string{}},
		Shared:  defaultShared(),
		Notices: Notices{Cooldown: time.Minute, Language: language.All[0]},
		Raid: Raid{
			Lasts: 10 * time.Minute,
			Burst: 30, Refill: 200 * time.Millisecond,
			FirstTimerBurst: 1, FirstTimerRefill: 30 * time.Second,
		},
		Web: Web{
			Listen:         "127.0.0.1:8080",
			TrustedProxies: []Proxy{},
			Owners:         []string{},
			ModeratorRole:  auth.Moderate,
		},
		Log:    defaultLog(),
		Policy: policy,
	}
}

// Load reads the file at path as Parse does. Any error is an *Error.
func Load(path string, env func(string) (string, bool)) (Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, &Error{File: path, Problem: "there is no such file: name another with --config, or write one with `chatguard init`"}
	}
	if info, failed := os.Stat(path); err != nil && failed == nil && info.IsDir() {
		return Config{}, &Error{File: path, Problem: "is a folder: name the file in it"} // systems word this differently
	}
	if err != nil {
		if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
			err = cause.Err // the Error already has the path
		}
		return Config{}, &Error{File: path, Problem: "can't be read: " + err.Error()}
	}
	return Parse(path, data, env)
}

// DatabaseOf returns the path of the database that the configuration at path names, even if the
// configuration has mistakes elsewhere. If the file can't be read at all, it returns the default
// path, unless the environment names another.
func DatabaseOf(path string, env func(string) (string, bool)) string {
	database := Default().Database
	if data, err := os.ReadFile(path); err == nil {
		if tree, err := parse(data); err == nil {
			if named, ok := tree["database"].(string); ok && named != "" {
				database = named
			}
		}
	}
	if named, _ := env(variable(place{"database"})); named != "" {
		database = named
	}
	if filepath.IsAbs(database) {
		return database
	}
	return filepath.Join(filepath.Dir(path), database)
}

// Parse parses the contents of the file called name and applies the environment over it. A value
// set in neither has its default. Paths, including those from the environment, are relative to the
// folder of name. A [[limit]] in the file replaces both default limits.
//
// env looks up a variable, as os.LookupEnv does; nil means an empty environment. Variables that
// belong to no key are never looked up. Any error is an *Error about the first mistake.
func Parse(name string, data []byte, env func(string) (string, bool)) (Config, error) {
	r, err := newReader(name, data)
	if err != nil {
		return Config{}, err
	}
	c := Default()
	c.Path, c.source = name, r
	if err := r.fill(documentOf(&c), env); err != nil {
		return Config{}, err
	}
	if err := r.readWebhooks(c.Webhooks, env); err != nil {
		return Config{}, err
	}
	if err := r.finish(&c); err != nil {
		return Config{}, err
	}
	if err := r.readChannels(&c); err != nil {
		return Config{}, err
	}
	if err := c.Shared.CheckParts(c); err != nil {
		return Config{}, r.fail(place{"shared", "share"}, "%v", err)
	}
	return c, nil
}
