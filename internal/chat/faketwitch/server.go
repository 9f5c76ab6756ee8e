// Package faketwitch is a fake Twitch on loopback, for tests and for the demo. It provides chat
// over IRC and EventSub, the moderation part of Helix, and the identity server. It makes the same
// checks as Twitch, records every request with its time, and can simulate faults.
//
// The package must not depend on the bot that connects to it.
package faketwitch

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

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
	// SanctionLimit is the number of timeouts, bans and unbans that Helix accepts per channel
	// within 30 s, and of warnings. 0 means 100, as measured at Twitch; a negative value means no
	// limit.
	SanctionLimit int
	// SubscriptionCost is what each EventSub subscription counts against the account's limit of 10.
	// 0 is right for subscriptions that the bot's account has authorized.
	SubscriptionCost int
}

// Server is a running fake Twitch. All methods are safe for concurrent use.
type Server struct {
	opts  Options
	botID string

	memory *memory // nil if it listens on the system's network
	http   *http.Server
	web    net.Listener
	wait   sync.WaitGroup // counts the server's goroutines

	chatServer
	eventSub
	helixServer
	identityServer

	mu sync.Mutex
	// closed and the fields below are guarded by mu.
	closed     bool
	accounts   map[string]*account // by login
	channels   map[string]*channel // by login
	lastID     int                 // last account number
	chat       chatLog
	asked      record
	faults     faults
	delivering deliveryState
	// ignored is the time until which an account's messages are ignored, by user ID.
	ignored map[string]time.Time
	// changed is closed and replaced whenever a client joins or leaves.
	changed chan struct{}
}

// account is a Twitch user.
type account struct{ id, login, displayName string }

// channel is a channel with the permissions in it.
type channel struct {
	account
	botModerates bool
	staff        map[string]bool        // user IDs of its broadcaster and moderators
	silenced     map[string]restriction // by user ID
	warned       map[string]bool        // user IDs with an unacknowledged warning
	slow         slowMode
	sanctions    recentTimes // timeouts, bans and unbans
	warnings     recentTimes
	liveSince    time.Time // zero if it isn't live
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

// Start starts listening on loopback, at ports chosen by the system, or in memory. Close the Server
// when done.
func Start(opts Options) (*Server, error) {
	opts.Login = cmp.Or(opts.Login, "chatguard_bot")
	opts.SanctionLimit = cmp.Or(opts.SanctionLimit, sanctionsPerPeriod)
	opts.TokenLife = cmp.Or(opts.TokenLife, accessLife)
	opts.Token = cmp.Or(opts.Token, "fake0access0token0of0the0bot")
	opts.ClientID = cmp.Or(opts.ClientID, "fake0client0id")
	if opts.Scopes == nil {
		opts.Scopes = append([]string{scopeRead, scopeDelete, scopeBan, scopeWarn, scopeSettings, scopeSend, scopeModerated}, readScopes...)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Server{
		opts:     opts,
		accounts: make(map[string]*account),
		channels: make(map[string]*channel),
		ignored:  make(map[string]time.Time),
		changed:  make(chan struct{}),
	}
	s.botID = s.account(opts.Login).id
	s.chatServer = chatServer{Server: s, clients: make(map[*client]bool)}
	s.eventSub = eventSub{Server: s, sessions: make(map[string]*eventSession), sockets: make(map[*eventSocket]bool)}
	s.helixServer = helixServer{Server: s, points: newBudget(opts.HelixBudget)}
	s.identityServer = newIdentityServer(s)
	s.addPair(opts.Token, firstRefreshToken, s.account(opts.Login), opts.Scopes)
	for _, login := range opts.Channels {
		s.AddChannel(login)
	}
	if err := s.listen(); err != nil {
		return nil, fmt.Errorf("fake twitch: %w", err)
	}
	return s, nil
}

// listen opens the server's ports and serves connections.
func (s *Server) listen() (err error) {
	if s.opts.InMemory {
		s.memory = &memory{}
	}
	if s.irc, err = s.open(); err != nil {
		return err
	}
	if s.web, err = s.open(); err != nil {
		return errors.Join(err, s.irc.Close())
	}
	s.http = &http.Server{Handler: s.routes(), ConnState: s.trackConn, ReadHeaderTimeout: 10 * time.Second}
	s.wait.Go(s.acceptChat)
	s.wait.Go(func() { _ = s.http.Serve(s.web) }) // ends with Close; its error doesn't matter
	return nil
}

func (s *Server) open() (net.Listener, error) {
	if s.memory != nil {
		return s.memory.listen(), nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// trackConn counts net/http's goroutines, so that Close can wait for them.
func (s *Server) trackConn(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.wait.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.wait.Done()
	}
}

// Close closes every connection and returns when every goroutine has ended. The records can still
// be read.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for c := range s.clients {
		c.conn.Close()
	}
	s.eventSub.cut()
	s.delivering.end()
	s.mu.Unlock()
	err := errors.Join(s.irc.Close(), s.http.Close())
	s.wait.Wait()
	return err
}

// notifyChanged notifies callers that wait for clients to join or leave. The caller holds mu.
func (s *Server) notifyChanged() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// IRCAddress returns the address of the chat as host:port, without TLS.
func (s *chatServer) IRCAddress() string { return s.irc.Addr().String() }

// HelixURL returns the base URL of Helix.
func (s *helixServer) HelixURL() string { return "http://" + s.web.Addr().String() + "/helix" }

// AuthURL returns the base URL of the identity server.
func (s *identityServer) AuthURL() string { return "http://" + s.web.Addr().String() + "/oauth2" }

// Token returns the bot's access token, without a prefix.
func (s *Server) Token() string { return s.opts.Token }

// ClientID returns the ID of the application that the token was made for.
func (s *Server) ClientID() string { return s.opts.ClientID }

// BotLogin returns the login of the bot's account.
func (s *Server) BotLogin() string { return s.opts.Login }

// BotID returns the user ID of the bot's account.
func (s *Server) BotID() string { return s.botID }
