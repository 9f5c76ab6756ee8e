// Package config reads chatguard.toml and the environment, and turns whatever is wrong there into one line that names the place and the
// mend. It knows the shape of the file and which values make sense together; it opens no database and no connection, and it starts nothing.
package config

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/chatguard/chatguard"
)

// Config is everything an owner can set before chatguard starts. Load, Parse and Default make one; in each every value has been checked.
type Config struct {
	Path string `toml:"-"` // the file it was read from; empty for Default

	Database      string        `toml:"database"`       // path of the SQLite file; relative to the file until Parse has joined them
	NoDatabase    bool          `toml:"-"`              // whether the database is left alone and nothing is kept, which no file can ask for
	Timezone      string        `toml:"timezone"`       // IANA name of the zone of the channels' day; the same as Policy.Timezone
	FlushInterval time.Duration `toml:"flush_interval"` // time between two writes of what changed
	Retention     Retention     `toml:"retention"`      // how long the journal is kept

	MemoryPerTable Size `toml:"memory_per_table"` // what the users of a channel take at most, and once more those of limits per user everywhere

	Twitch  Twitch           `toml:"twitch"`
	Check   Check            `toml:"check"`
	Notices Notices          `toml:"notices"`
	Raid    Raid             `toml:"raid"`
	Web     Web              `toml:"web"`
	Policy  chatguard.Policy `toml:"-"` // of all channels: from [policy], [[limit]], [penalties] and Timezone; see document

	// Channels are the whole policies of the channels that have a [channel.NAME], by NAME: a login as ChannelName returns it, or an ID.
	// PolicyFor finds a channel's.
	Channels map[string]chatguard.Policy `toml:"-"`
}

// Twitch says which channels are read and how Twitch is reached.
type Twitch struct {
	Channels        []string `toml:"channels"`          // logins as ChannelName returns them, each once; may be empty
	ClientID        string   `toml:"client_id"`         // public ID of the owner's Twitch application; may be empty
	Transport       string   `toml:"transport"`         // "irc", "irc-websocket" or "eventsub"
	IRCAddress      string   `toml:"irc_address"`       // host:port
	IRCTLS          bool     `toml:"irc_tls"`           // whether IRCAddress speaks TLS
	IRCWebSocketURL string   `toml:"irc_websocket_url"` // ws or wss; like all URLs here without a slash at its end
	EventSubURL     string   `toml:"eventsub_url"`      // ws or wss
	HelixURL        string   `toml:"helix_url"`         // http or https
	AuthURL         string   `toml:"auth_url"`          // http or https
	Commands        bool     `toml:"commands"`          // whether !quota and !chatguard are answered in chat

	SlowMode time.Duration `toml:"slow_mode"` // of a channel with more flood than can be acted on: whole seconds, 3 to 120; 0 never
	Token    Secret        `toml:"token"`     // access token without "oauth:"; empty means that of a login, or reading anonymously

	RefreshToken Secret `toml:"refresh_token"` // renews Token; empty means that it works until it expires
}

// Check says for which chats of one's own a server asks, by POST /api/v1/check.
type Check struct {
	Channels []string `toml:"channels"` // their IDs, each once and none a login of Twitch.Channels; may be empty. A server may ask for others, too
}

// Notices are what throttled users are told in chat.
type Notices struct {
	Text     string        `toml:"text"`     // may hold {name}, {wait} and {limit}; empty tells nobody anything
	Cooldown time.Duration `toml:"cooldown"` // how long a user isn't told again
}

// Raid is what raid mode adds to a channel's policy while it lasts.
type Raid struct {
	Lasts            time.Duration `toml:"lasts"`              // unless whoever switches it on says how long
	Burst            int           `toml:"channel_burst"`      // messages of everyone together at once
	Refill           time.Duration `toml:"channel_refill"`     // time until one more
	FirstTimerBurst  int           `toml:"first_timer_burst"`  // of those who write here for the first time, in each token-bucket
	FirstTimerRefill time.Duration `toml:"first_timer_refill"` //
}

// Web says where the dashboard is served, and to whom.
type Web struct {
	Listen         string  `toml:"listen"`          // host:port; port 0 means any free one
	TLSCert        string  `toml:"tls_cert"`        // path of a PEM file, as Database; empty means plain HTTP
	TLSKey         string  `toml:"tls_key"`         // path of a PEM file; set exactly when TLSCert is
	PublicURL      string  `toml:"public_url"`      // the address people use, where a proxy stands in front; may be empty
	TrustedProxies []Proxy `toml:"trusted_proxies"` // whose word on a request's origin is taken
	Insecure       bool    `toml:"insecure"`        // whether listening off loopback without TLS is meant
	Token          Secret  `toml:"token"`           // signs its bearer in as the owner; empty means no such token
}

// TokenFile is the path of the file that the bot's tokens are kept in: beside the database, under its name.
func (c *Config) TokenFile() string { return c.Database + ".token" }

// Default returns the configuration of an empty file: no channels, and the policy that chatguard.DefaultPolicy has.
func Default() Config {
	policy := chatguard.DefaultPolicy()
	return Config{
		Database:      "chatguard.db",
		Timezone:      policy.Timezone,
		FlushInterval: time.Second,
		Retention:     Retention(30 * day),

		MemoryPerTable: chatguard.DefaultMemory,
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
		Notices: Notices{Cooldown: time.Minute},
		Raid: Raid{
			Lasts: 10 * time.Minute,
			Burst: 30, Refill: 200 * time.Millisecond,
			FirstTimerBurst: 1, FirstTimerRefill: 30 * time.Second,
		},
		Web: Web{
			Listen:         "127.0.0.1:8080",
			TrustedProxies: []Proxy{},
		},
		Policy: policy,
	}
}

// Load reads the file at path as Parse does. The error is an *Error.
func Load(path string, env func(string) (string, bool)) (Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, &Error{File: path, Problem: "there is no such file (`chatguard init` writes one)"}
	}
	if err != nil {
		if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
			err = cause.Err // the path is in the Error already
		}
		return Config{}, &Error{File: path, Problem: "can't be read: " + err.Error()}
	}
	return Parse(path, data, env)
}

// Parse reads the contents of the file called name, and over it the environment; what neither mentions has its default. Paths are relative
// to the folder of name, those from the environment too. A [[limit]] in the file replaces both default limits.
//
// env looks a variable up, as os.LookupEnv does; nil means an empty environment. Variables that belong to no key are never asked for.
// The error is an *Error and names the first mistake.
func Parse(name string, data []byte, env func(string) (string, bool)) (Config, error) {
	r, err := newReader(name, data)
	if err != nil {
		return Config{}, err
	}
	c := Default()
	c.Path = name
	if err := r.fill(documentOf(&c), env); err != nil {
		return Config{}, err
	}
	if err := r.finish(&c); err != nil {
		return Config{}, err
	}
	if err := r.channels(&c); err != nil {
		return Config{}, err
	}
	return c, nil
}
