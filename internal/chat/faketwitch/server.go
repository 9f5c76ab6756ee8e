// Package faketwitch is a Twitch on loopback, for tests and for the demo: chat over IRC and over EventSub, the moderation part of Helix, and the
// identity server. It checks what Twitch checks, records everything it was asked and when, and can be told to misbehave.
//
// It knows nothing of the bot that connects to it.
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

// Options are what a Server may be given. The zero value is right for most tests.
type Options struct {
	Login     string           // the bot's login; "chatguard_bot" when empty
	Token     string           // the bot's access token; a fixed one when empty
	ClientID  string           // of the bot's application; a fixed one when empty
	Scopes    []string         // what the token allows; everything the bot needs when nil
	Channels  []string         // logins of channels to begin with
	TokenLife time.Duration    // of access tokens; 0 means 4 h, as at Twitch
	Now       func() time.Time // nil means time.Now
	InMemory  bool             // listen on no port of the system: only Dial reaches the server

	HelixBudget int // how many requests Helix takes at once, with another each 100 ms; 0 means Twitch's 800, less means any number
}

// Server is a running fake Twitch. All methods are safe for concurrent use.
type Server struct {
	opts  Options
	botID string

	memory *memory // nil where the server listens on the system's network
	irc    net.Listener
	http   *http.Server
	web    net.Listener
	wait   sync.WaitGroup // every goroutine of the server

	mu         sync.Mutex
	closed     bool                // all below are guarded by mu
	accounts   map[string]*account // by login
	channels   map[string]*channel // by login
	lastID     int                 // of an account
	chat       chatLog
	asked      record
	faults     faults
	points     budget // of Helix
	auth       identityServer
	events     eventSub
	delivering delivering
	joining    joining
	ignored    map[string]time.Time // until when nothing is taken that an account sends; by user ID
	clients    map[*client]bool
	changed    chan struct{} // closed, and made anew, whenever a client joins or leaves
}

// account is a user of Twitch.
type account struct{ id, login, displayName string }

// channel is a channel and who may do what in it.
type channel struct {
	account
	botModerates bool
	staff        map[string]bool   // user IDs of its broadcaster and moderators
	silenced     map[string]banned // by user ID
	warned       map[string]bool   // user IDs of those who have to acknowledge a warning
	slow         slowMode
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

// Start begins to listen: on loopback, at ports that the system chooses, or in memory. Close the Server when done with it.
func Start(opts Options) (*Server, error) {
	opts.Login = cmp.Or(opts.Login, "chatguard_bot")
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
		points:   newBudget(opts.HelixBudget),
		accounts: make(map[string]*account),
		channels: make(map[string]*channel),
		clients:  make(map[*client]bool),
		ignored:  make(map[string]time.Time),
		changed:  make(chan struct{}),
		events:   eventSub{sessions: make(map[string]*eventSession), sockets: make(map[*eventSocket]bool)},
	}
	s.botID = s.account(opts.Login).id
	s.openIdentity()
	for _, login := range opts.Channels {
		s.AddChannel(login)
	}
	if err := s.listen(); err != nil {
		return nil, fmt.Errorf("fake twitch: %w", err)
	}
	return s, nil
}

// listen opens the server's ports, and serves what arrives there.
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
	s.wait.Go(func() { _ = s.http.Serve(s.web) }) // ends with Close; until then there is nothing to say
	return nil
}

func (s *Server) open() (net.Listener, error) {
	if s.memory != nil {
		return s.memory.listen(), nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// trackConn counts the goroutines that net/http runs, so that Close can wait for them.
func (s *Server) trackConn(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.wait.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.wait.Done()
	}
}

// Close closes every connection and returns when every goroutine has ended. What was recorded can still be read.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for c := range s.clients {
		c.conn.Close()
	}
	s.events.cut()
	s.delivering.end()
	s.mu.Unlock()
	err := errors.Join(s.irc.Close(), s.http.Close())
	s.wait.Wait()
	return err
}

// IRCAddress is where chat listens, as host:port, without TLS.
func (s *Server) IRCAddress() string { return s.irc.Addr().String() }

// HelixURL is the base URL of Helix.
func (s *Server) HelixURL() string { return "http://" + s.web.Addr().String() + "/helix" }

// AuthURL is the base URL of the identity server.
func (s *Server) AuthURL() string { return "http://" + s.web.Addr().String() + "/oauth2" }

// Token is the bot's access token, without a prefix.
func (s *Server) Token() string { return s.opts.Token }

// ClientID is the ID of the application that the token was made for.
func (s *Server) ClientID() string { return s.opts.ClientID }

// BotLogin is the login of the bot's account.
func (s *Server) BotLogin() string { return s.opts.Login }

// BotID is the user ID of the bot's account.
func (s *Server) BotID() string { return s.botID }
