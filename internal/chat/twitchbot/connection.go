package twitchbot

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/eventsub"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
)

// reader is a transport for Twitch's chat.
type reader interface {
	chat.Source
	SetChannels(logins []string) error
	Status() twitch.Status
}

// Dialer opens connections to Twitch.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Connection is Twitch as a chat source. It maintains the bot's token, finds out where the bot may
// moderate, and reads chat. Without a token, it reads anonymously if the transport allows that. It
// is safe for concurrent use.
type Connection struct {
	log    *slog.Logger
	reader reader
	tokens *token.Store     // nil if chatguard only reads, or is offline
	helix  *helix.Client    // nil without tokens
	acting *helix.Moderator // nil without tokens
	chat   chatLogin

	entered     func(login, id string)
	permissions *permissions
	streams     *streams
	modes       *Modes
	names       *names // nil if chatguard reads no chat

	mu sync.Mutex
	// hangUp stops reading, which then starts again. It is nil until reading has started. mu guards
	// it.
	hangUp context.CancelFunc
}

// Options configure a Connection. Config, Log, ChatTime and Entered are required.
type Options struct {
	Config config.Twitch
	Log    *slog.Logger

	// Tokens holds the bot's tokens. If it is nil, chat is read anonymously.
	Tokens *token.Store
	// ChatTime receives the timestamps of messages.
	ChatTime *clock.Chat
	// Dial opens connections. Nil means the machine's network.
	Dial Dialer

	// Entered receives the ID of each channel before its first message is delivered. The login is
	// the configured one, even if the channel has been renamed since.
	Entered func(login, id string)
	// IDOf returns the ID that the channel of a configured login has had, or "". Nil means that no
	// channel is followed to another login.
	IDOf func(login string) string
	// Accepts reports whether the channel with this ID, which has the login now, may be read. It
	// requires IDOf. Nil accepts every channel.
	Accepts func(login, id string) bool
	// Hold makes a channel only observe if the bot may not moderate there, and receives the reason.
	// An empty reason releases the channel. If Hold is nil, no channel is held.
	Hold func(channelID, reason string) error
	// NoteStream records a stream of a channel, or its present state. Nil means no calls.
	NoteStream func(journal.Stream)
	// StaffChanged receives the ID of a user whom a channel has made a moderator, or who is no
	// longer one. Only EventSub reports that. It must not block. Nil means no calls.
	StaffChanged func(channelID, userID string)
	// Silenced is called after the known timeout or ban of a user has changed; see Silence. login
	// may be empty. It must not block. Nil means no calls.
	Silenced func(channelID, userID, login string)
	// ModesChanged is called after the known chat modes of a channel have changed; see Modes. It
	// must not block. Nil means no calls.
	ModesChanged func(channelID string)
}

// New returns a Connection that is inactive until Run.
func New(o Options) *Connection {
	c, tokens, log := o.Config, o.Tokens, o.Log
	t := &Connection{log: log, tokens: tokens, entered: o.Entered, permissions: newPermissions(log, o.Hold)}
	t.streams = newStreams(log, o.ChatTime.Now, o.NoteStream)
	t.modes = newModes(log, o.ModesChanged)
	client := httpClient(o.Dial)
	if tokens != nil {
		tokens.HTTP = client
		tokens.Changed = func(token.Status) {
			t.permissions.recheck()
			t.streams.recheck()
		}
		t.helix = &helix.Client{
			BaseURL: c.HelixURL, ClientID: t.clientID, Token: tokens.Token, Refused: tokens.Refused, HTTP: client, Logger: log,
		}
		t.acting = &helix.Moderator{Helix: t.helix, UserID: t.userID, Login: t.login, Now: o.ChatTime.Now, Changed: o.Silenced}
		t.modes.helix, t.modes.acting, t.modes.permissions = t.helix, t.acting, t.permissions
		t.permissions.tokens, t.permissions.helix, t.permissions.accountChanged = tokens, t.helix, t.restart
		t.streams.tokens, t.streams.helix, t.streams.channels = tokens, t.helix, t.permissions.ids
	}
	t.names = &names{log: log, tokens: tokens, helix: t.helix, idOf: o.IDOf, accepts: o.Accepts, configured: c.Channels}
	t.reader = t.newReader(o, client)
	t.names.reader = t.reader
	// The status has the channels before reading begins, which may wait for a token. If their names
	// are wrong, Run says so.
	_ = t.names.set(c.Channels)
	return t
}

// newReader returns the reader of the configured transport.
func (t *Connection) newReader(o Options, client *http.Client) reader {
	c := o.Config
	if c.Transport == config.TransportEventSub {
		return &eventsub.Conn{
			URL: c.EventSubURL, Helix: t.helix, UserID: t.userID, Channels: c.Channels, Vet: t.names.vet, Entered: t.Enter, Moderates: t.permissions.set, HTTP: client, Logger: o.Log,
			ChatTime: o.ChatTime, StaffChanged: o.StaffChanged, ModesMayDiffer: t.modes.noteMayDiffer,
		}
	}
	conn := &irc.Conn{
		Address: c.IRCAddress, Channels: c.Channels, Vet: t.names.vet, Entered: t.Enter, Moderates: t.permissions.set, Dial: o.Dial, Logger: o.Log, ChatTime: o.ChatTime,
		ModesChanged: t.modes.noteChange,
	}
	if c.IRCTLS {
		conn.TLS = &tls.Config{}
	}
	if c.Transport == config.TransportIRCWebSocket {
		conn.WebSocketURL = c.IRCWebSocketURL
	}
	if o.Tokens != nil {
		conn.Login, conn.Token, conn.Refused = t.login, t.chatToken, t.noteChatRefusal
	}
	return conn
}

// Enter records a channel that is now read, and decides whether it only observes. The reader calls
// it before the channel's first message.
func (t *Connection) Enter(login, id string) {
	t.entered(t.names.name(login), id)
	t.permissions.add(login, id)
	t.modes.enter(id)
	t.streams.recheck()
}

// httpClient returns an HTTP client that uses dial. It returns nil if dial is nil, so that each
// part uses its own client.
func httpClient(dial Dialer) *http.Client {
	if dial == nil {
		return nil
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial},
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// TokensOf returns the store of the bot's tokens for a configuration.
func TokensOf(c config.Config, log *slog.Logger) *token.Store {
	return &token.Store{
		AuthURL: c.Twitch.AuthURL, ClientID: c.Twitch.ClientID, ClientSecret: string(c.Twitch.ClientSecret), File: c.TokenFile(),
		Access: string(c.Twitch.Token), Refresh: string(c.Twitch.RefreshToken), Transport: cmp.Or(c.Twitch.Transport, config.TransportIRC), Logger: log,
	}
}

func (t *Connection) userID() string { return t.tokens.Status().Identity.UserID }

// clientID returns the ID of the application that the token was issued for. If that isn't known, it
// returns the ID in the configuration.
func (t *Connection) clientID() string {
	return cmp.Or(t.tokens.Status().Identity.ClientID, t.tokens.ClientID)
}

func (t *Connection) login() string { return t.tokens.Status().Identity.Login }

// Run implements chat.Source.
func (t *Connection) Run(ctx context.Context, sink chat.Sink) error {
	if t.tokens == nil {
		return t.reader.Run(ctx, sink)
	}
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return t.tokens.Run(ctx) })
	running.Go(func() error { return t.permissions.run(ctx) })
	running.Go(func() error { return t.streams.run(ctx) })
	running.Go(func() error { return t.modes.run(ctx) })
	running.Go(func() error { return t.names.run(ctx) })
	running.Go(func() error { return t.read(ctx, sink) })
	return running.Wait()
}

// Close waits for a token renewal in progress and prevents new ones. Call it last, because
// penalties need the token until the end.
func (t *Connection) Close() {
	if t.tokens != nil {
		t.tokens.Close()
		t.helix.Close()
	}
}

// LookUp returns the accounts of channels. Without a token it finds none.
func (t *Connection) LookUp(ctx context.Context, channels []string) ([]helix.Account, error) {
	if t.helix == nil || len(channels) == 0 || !t.hasToken() {
		return nil, nil
	}
	if t.clientID() == "" {
		if err := t.tokens.Check(ctx); err != nil {
			// Helix needs the application's ID, and Check couldn't find it out.
			return nil, err
		}
	}
	return t.helix.Users(ctx, channels...)
}

// hasToken reports whether there is a token that Twitch has not refused.
func (t *Connection) hasToken() bool {
	if t.tokens == nil {
		return false
	}
	s := t.tokens.Status()
	return s.State == token.Good || s.State == token.Unknown
}

// LogTotals logs how much was read.
func (t *Connection) LogTotals() {
	s := t.reader.Status()
	t.log.Info("read", "lines", s.Lines, "messages", s.Messages, "skipped", s.Skipped, "dropped", s.Dropped, "reconnects", s.Reconnects)
}

// AccountOf returns the account with a login, or false if there is none.
func AccountOf(accounts []helix.Account, login string) (helix.Account, bool) {
	at := slices.IndexFunc(accounts, func(a helix.Account) bool { return a.Login == login })
	if at < 0 {
		return helix.Account{}, false
	}
	return accounts[at], true
}
