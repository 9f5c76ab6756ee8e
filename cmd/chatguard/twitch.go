package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
)

// reader is one of the transports that Twitch's chat is read by.
type reader interface {
	chat.Source
	SetChannels(logins []string) error
	Status() twitch.Status
}

// dialer opens connections to Twitch.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// twitchConnection is Twitch as a chat source: it sees to the bot's token, finds out where the bot may moderate, and reads. While there is no
// token it reads anonymously where the transport can.
type twitchConnection struct {
	log    *slog.Logger
	reader reader
	tokens *twitch.Tokens    // nil where nobody is to be acted on, and without Twitch
	helix  *twitch.Helix     // nil without tokens
	acting *twitch.Moderator // nil without tokens
	rights *rights
	chat   chatLogin

	mu     sync.Mutex
	hangUp context.CancelFunc // ends reading, which begins anew then; nil before the first time. Guarded by mu
}

// newTwitchConnection returns a connection that tells entered the ID of each channel before it hands over the first message from there, and chatTime the
// stamps of messages. Without tokens it reads anonymously. A nil dial means the network's.
func newTwitchConnection(
	c config.Twitch, tokens *twitch.Tokens, log *slog.Logger, chatTime *clock.Chat, dial dialer, entered func(login, id string),
) *twitchConnection {
	t := &twitchConnection{log: log, tokens: tokens, rights: newRights(log)}
	client := httpClient(dial)
	if tokens != nil {
		tokens.HTTP = client
		tokens.Changed = func(twitch.TokenStatus) { t.rights.look() }
		t.helix = &twitch.Helix{
			BaseURL: c.HelixURL, AuthURL: c.AuthURL, ClientID: t.clientID, Token: tokens.Token, Refused: tokens.Refused, HTTP: client, Logger: log,
		}
		t.acting = &twitch.Moderator{Helix: t.helix, UserID: t.userID, Login: t.login, Now: chatTime.Now}
		t.rights.tokens, t.rights.helix, t.rights.another = tokens, t.helix, t.readAnew
	}
	entering := func(login, id string) {
		entered(login, id)
		t.rights.enter(login, id)
	}
	if c.Transport == config.TransportEventSub {
		t.reader = &twitch.EventSub{
			URL: c.EventSubURL, Helix: t.helix, UserID: t.userID, Channels: c.Channels, Entered: entering, Moderates: t.rights.tell, HTTP: client, Logger: log,
			Clock: chatTime,
		}
		return t
	}
	irc := &twitch.IRC{Address: c.IRCAddress, Channels: c.Channels, Entered: entering, Moderates: t.rights.tell, Dial: dial, Logger: log, Clock: chatTime}
	if c.IRCTLS {
		irc.TLS = &tls.Config{}
	}
	if c.Transport == config.TransportIRCWebSocket {
		irc.WebSocketURL = c.IRCWebSocketURL
	}
	if tokens != nil {
		irc.Login, irc.Token, irc.Refused = t.login, t.chatToken, t.chatRefused
	}
	t.reader = irc
	return t
}

// httpClient is what HTTP is spoken with; nil, which lets each part have one of its own, unless connections are opened in another way.
func httpClient(dial dialer) *http.Client {
	if dial == nil {
		return nil
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial},
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// tokensOf are the bot's tokens as the configuration has them.
func tokensOf(c config.Config, log *slog.Logger) *twitch.Tokens {
	return &twitch.Tokens{
		AuthURL: c.Twitch.AuthURL, ClientID: c.Twitch.ClientID, File: c.TokenFile(), Access: string(c.Twitch.Token),
		Refresh: string(c.Twitch.RefreshToken), Transport: cmp.Or(c.Twitch.Transport, config.TransportIRC), Logger: log,
	}
}

func (t *twitchConnection) userID() string { return t.tokens.Status().Identity.UserID }

// clientID is the application's that the token was made for, as far as is known, or else the one of the configuration.
func (t *twitchConnection) clientID() string {
	return cmp.Or(t.tokens.Status().Identity.ClientID, t.tokens.ClientID)
}

func (t *twitchConnection) login() string { return t.tokens.Status().Identity.Login }

// lift ends timeouts and bans; nil where nobody is acted on.
func (t *twitchConnection) lift() func(ctx context.Context, channelID, userID string) error {
	if t.acting == nil {
		return nil
	}
	return t.acting.Lift
}

// moderator is who carries out penalties, or nil where nobody is acted on.
func (t *twitchConnection) moderator() chat.Moderator {
	if t.acting == nil {
		return nil
	}
	return moderation{t.acting, t.rights}
}

// Run makes the connection a chat.Source.
func (t *twitchConnection) Run(ctx context.Context, sink chat.Sink) error {
	if t.tokens == nil {
		return t.reader.Run(ctx, sink)
	}
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return t.tokens.Run(ctx) })
	running.Go(func() error { return t.rights.run(ctx) })
	running.Go(func() error { return t.read(ctx, sink) })
	return running.Wait()
}

// close waits for a renewal of the token that is under way, and lets none begin: who acts needs them until the end.
func (t *twitchConnection) close() {
	if t.tokens != nil {
		t.tokens.Close()
		t.helix.Close()
	}
}

// How long a refused reader waits before it tries again.
const (
	readAgainMin = 5 * time.Second
	readAgainMax = 5 * time.Minute
)

// read reads until the context ends, or an error shows that trying again can't help. What Twitch says about the token is no such error: it may be
// wrong for a while, and somebody may log in anew.
func (t *twitchConnection) read(ctx context.Context, sink chat.Sink) error {
	for wait := readAgainMin; t.settle(ctx); wait = min(2*wait, readAgainMax) {
		began := time.Now()
		err := t.readOnce(ctx, sink)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil || time.Since(began) > readAgainMax: // it is another account's turn, or this is the first refusal in a row
			wait = readAgainMin
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, twitch.ErrToken) && !errors.Is(err, twitch.ErrLogin) {
			return err
		}
		t.log.Error("Twitch's chat can't be read, and is tried again", "wait", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return nil
}

// readOnce reads until the context ends, or readAnew is called.
func (t *twitchConnection) readOnce(ctx context.Context, sink chat.Sink) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	t.mu.Lock()
	t.hangUp = hangUp
	t.mu.Unlock()
	return t.reader.Run(ctx, sink)
}

// readAnew makes reading begin anew, as the account that the token is of now.
func (t *twitchConnection) readAnew() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hangUp != nil {
		t.hangUp()
	}
}

// settleTime is how long reading waits to know whose the token is, before it begins anonymously.
const settleTime = 10 * time.Second

// settle waits until it is known whether there is a token, and for as long as there is none where the transport needs one. It returns false when
// the context ended.
func (t *twitchConnection) settle(ctx context.Context) bool {
	_, needed := t.reader.(*twitch.EventSub)
	waiting := ctx
	if !needed {
		var stop context.CancelFunc
		waiting, stop = context.WithTimeout(ctx, settleTime)
		defer stop()
		_ = t.tokens.Check(waiting) // the status tells what came of it
		if s := t.tokens.Status(); s.State == twitch.TokenMissing || s.State == twitch.TokenRevoked {
			return true
		}
	}
	if _, err := t.tokens.Wait(waiting); err != nil && needed {
		return false
	}
	return ctx.Err() == nil
}

// lookUp asks for the accounts of channels. Without a token there is nobody to ask, and none is found.
func (t *twitchConnection) lookUp(ctx context.Context, channels []string) ([]twitch.Account, error) {
	if t.helix == nil || len(channels) == 0 || !t.hasToken() {
		return nil, nil
	}
	if t.clientID() == "" {
		if err := t.tokens.Check(ctx); err != nil { // Helix wants to hear the application's ID, which this learns
			return nil, err
		}
	}
	return t.helix.Users(ctx, channels...)
}

// hasToken reports whether there is a token that Twitch has not refused.
func (t *twitchConnection) hasToken() bool {
	if t.tokens == nil {
		return false
	}
	s := t.tokens.Status()
	return s.State == twitch.TokenGood || s.State == twitch.TokenUnknown
}

// sumUp logs what was read.
func (t *twitchConnection) sumUp() {
	s := t.reader.Status()
	t.log.Info("read", "lines", s.Lines, "messages", s.Messages, "skipped", s.Skipped, "dropped", s.Dropped, "reconnects", s.Reconnects)
}

// moderation is a Moderator that takes note of where Twitch doesn't let us moderate.
type moderation struct {
	*twitch.Moderator
	rights *rights
}

func (m moderation) Delete(ctx context.Context, msg chatguard.Message) error {
	return m.heed(msg.ChannelID, m.Moderator.Delete(ctx, msg))
}

func (m moderation) Warn(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.heed(msg.ChannelID, m.Moderator.Warn(ctx, msg, reason))
}

func (m moderation) Timeout(ctx context.Context, msg chatguard.Message, length time.Duration, reason string) error {
	return m.heed(msg.ChannelID, m.Moderator.Timeout(ctx, msg, length, reason))
}

func (m moderation) Ban(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.heed(msg.ChannelID, m.Moderator.Ban(ctx, msg, reason))
}

func (m moderation) heed(channelID string, err error) error {
	if errors.Is(err, twitch.ErrNotModerator) {
		m.rights.doubt(channelID)
	}
	return err
}
