// Package faketwitch is a fake Twitch on loopback, for tests and for the demo. It provides chat
// over IRC and EventSub, the moderation part of Helix, and the identity server. It makes the same
// checks as Twitch, records every request with its time, and can simulate faults.
//
// The package must not depend on the bot that connects to it.
package faketwitch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server is a running fake Twitch. All methods are safe for concurrent use.
type Server struct {
	*state
	memory *memory // nil if it listens on the system's network
	http   *http.Server

	identityServer
	chatServer
	eventSub
	delivery
	helixServer
}

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
	all := &state{opts: opts, accounts: make(map[string]*account), channels: make(map[string]*channel), changed: make(chan struct{})}
	all.botID = all.account(opts.Login).id
	s := &Server{state: all, identityServer: newIdentityServer(all)}
	s.chatServer = chatServer{state: all, identity: &s.identityServer, clients: make(map[*client]bool)}
	s.eventSub = eventSub{state: all, sessions: make(map[string]*eventSession), sockets: make(map[*eventSocket]bool)}
	s.delivery = delivery{state: all, irc: &s.chatServer, events: &s.eventSub}
	s.helixServer = helixServer{
		state: all, delivery: &s.delivery, identity: &s.identityServer, points: newBudget(opts.HelixBudget), ignored: make(map[string]time.Time),
	}
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
	if s.listener, err = s.open(); err != nil {
		return err
	}
	if s.web, err = s.open(); err != nil {
		return errors.Join(err, s.listener.Close())
	}
	s.http = &http.Server{Handler: s.routes(), ConnState: s.trackConn, ReadHeaderTimeout: 10 * time.Second}
	s.wait.Go(s.acceptChat)
	s.wait.Go(func() { _ = s.http.Serve(s.web) }) // ends with Close; its error doesn't matter
	return nil
}

// routes returns a handler for the endpoints of this fake.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth2/validate", s.serveAuth(s.validateToken))
	mux.HandleFunc("POST /oauth2/device", s.serveAuth(s.beginDevice))
	mux.HandleFunc("POST /oauth2/token", s.serveAuth(s.giveToken))
	mux.HandleFunc("POST /oauth2/revoke", s.serveAuth(s.revokeToken))
	mux.HandleFunc("GET /console/apps/create", s.showApplication)
	mux.HandleFunc("GET /activate", s.showActivate)
	mux.HandleFunc("POST /activate", s.activate)
	mux.HandleFunc("GET /oauth2/authorize", s.showAuthorize)
	mux.HandleFunc("POST /oauth2/authorize", s.answerAuthorize)
	mux.HandleFunc("GET /popout/{channel}/chat", s.showChat)
	mux.HandleFunc("POST /popout/{channel}/chat", s.writeChat)
	mux.HandleFunc("GET /helix/users", s.serveHelix("", s.getUsers))
	mux.HandleFunc("DELETE /helix/moderation/chat", s.serveHelix(scopeDelete, s.requireModerator(s.deleteMessages)))
	mux.HandleFunc("POST /helix/moderation/warnings", s.serveHelix(scopeWarn, s.requireModerator(s.limitPerChannel(warningsIn, s.warnUser))))
	mux.HandleFunc("POST /helix/moderation/bans", s.serveHelix(scopeBan, s.requireModerator(s.limitPerChannel(sanctionsIn, s.banUser))))
	mux.HandleFunc("DELETE /helix/moderation/bans", s.serveHelix(scopeBan, s.requireModerator(s.limitPerChannel(sanctionsIn, s.unbanUser))))
	mux.HandleFunc("GET /helix/moderation/channels", s.serveHelix(scopeModerated, s.getModeratedChannels))
	mux.HandleFunc("GET /helix/streams", s.serveHelix("", s.getStreams))
	mux.HandleFunc("GET /helix/chat/settings", s.serveHelix("", s.getChatSettings))
	mux.HandleFunc("PATCH /helix/chat/settings", s.serveHelix(scopeSettings, s.requireModerator(s.changeChatSettings)))
	mux.HandleFunc("POST /helix/chat/messages", s.serveHelix(scopeSend, s.sendMessage))
	mux.HandleFunc("POST /helix/eventsub/subscriptions", s.serveHelix("", s.createSubscription))
	mux.HandleFunc("GET /helix/eventsub/subscriptions", s.serveHelix("", s.getSubscriptions))
	mux.HandleFunc("DELETE /helix/eventsub/subscriptions", s.serveHelix("", s.deleteSubscription))
	mux.HandleFunc("GET /ws", s.serveEventSub)
	mux.HandleFunc("GET /irc", s.serveIRCSocket)
	return mux
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
	s.delivery.end()
	s.mu.Unlock()
	err := errors.Join(s.listener.Close(), s.http.Close())
	s.wait.Wait()
	return err
}

// Revoke invalidates all access and refresh tokens, as if the bot's owner had disconnected the
// application, and ends all EventSub subscriptions. Connections stay open.
func (s *Server) Revoke() {
	s.mu.Lock()
	clear(s.access)
	clear(s.refresh)
	notices := s.revoke("authorization_revoked", func(*eventSubscription) bool { return true })
	s.mu.Unlock()
	deliver(notices)
}

// Token returns the bot's access token, without the prefix "oauth:".
func (s *Server) Token() string { return s.opts.Token }

// ClientID returns the ID of the application that the token was made for.
func (s *Server) ClientID() string { return s.opts.ClientID }

// BotLogin returns the login of the bot's account.
func (s *Server) BotLogin() string { return s.opts.Login }

// BotID returns the user ID of the bot's account.
func (s *Server) BotID() string { return s.botID }

// Dial connects to one of the server's addresses: in memory if Options.InMemory is set, otherwise
// over the system's network. It has the signature of http.Transport's DialContext.
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.memory == nil {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	return s.memory.dial(ctx, address)
}

// SiteURL returns the base URL of the pages.
func (s *Server) SiteURL() string { return "http://" + s.web.Addr().String() }
