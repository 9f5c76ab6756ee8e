package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
)

// identifyAgain is how long to wait before asking again whom the token belongs to.
const identifyAgain = 10 * time.Second

// twitchConnection is Twitch as a chat source: it finds out whom the token belongs to, then reads. Without a token it reads anonymously.
type twitchConnection struct {
	log    *slog.Logger
	irc    *twitch.IRC       // its Login is known once the token's owner is
	helix  *twitch.Helix     // nil without a token
	acting *twitch.Moderator // nil without a token

	mu      sync.Mutex
	reading bool
	trouble string // what keeps us from reading, where it isn't the connection
	refused string // why Twitch doesn't let us moderate; empty while it does
}

// newTwitchConnection returns a connection that tells entered the ID of each channel before it delivers the first message from there.
func newTwitchConnection(c config.Twitch, log *slog.Logger, entered func(login, id string)) *twitchConnection {
	t := &twitchConnection{log: log, irc: &twitch.IRC{Address: c.IRCAddress, Channels: c.Channels, Entered: entered, Logger: log}}
	if c.IRCTLS {
		t.irc.TLS = &tls.Config{}
	}
	if c.Token != "" {
		t.irc.Token = func(context.Context) (string, error) { return string(c.Token), nil }
		t.helix = &twitch.Helix{BaseURL: c.HelixURL, AuthURL: c.AuthURL, ClientID: c.ClientID, Token: t.irc.Token, Logger: log}
		t.acting = &twitch.Moderator{Helix: t.helix}
	}
	return t
}

// moderator is who carries out penalties, or nil without a token.
func (t *twitchConnection) moderator() chat.Moderator {
	if t.acting == nil {
		return nil
	}
	return moderation{t}
}

// Run makes the connection a chat.Source. A token that is refused at the start is an error; one that is refused later leaves the dashboard
// open, which says so.
func (t *twitchConnection) Run(ctx context.Context, sink chat.Sink) error {
	if t.helix != nil {
		defer t.helix.Close()
		if err := t.identify(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
	t.note(func() { t.reading, t.trouble = true, "" })
	err := t.irc.Run(ctx, sink)
	if s := t.irc.Status(); errors.Is(err, twitch.ErrLogin) && s.Messages > 0 {
		t.log.Error("Twitch lets us in no more", "error", err)
		t.note(func() { t.reading, t.trouble = false, err.Error()+", then start chatguard again" })
		<-ctx.Done()
		return nil
	}
	return err
}

// identify finds out whom the token belongs to, however long that takes. The error is for a token that is refused.
func (t *twitchConnection) identify(ctx context.Context) error {
	for {
		id, err := t.helix.Identify(ctx)
		switch {
		case err == nil:
			t.irc.Login, t.acting.UserID = id.Login, id.UserID
			t.log.Info("moderating", "as", id.Login)
			t.warnOf(id)
			return nil
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, twitch.ErrToken):
			return err
		}
		t.log.Warn("can't find out whom the token belongs to", "error", err, "again_in", identifyAgain)
		t.note(func() { t.trouble = err.Error() })
		select {
		case <-ctx.Done():
		case <-time.After(identifyAgain):
		}
	}
}

// lookUp asks for the accounts of channels. Without a token there is nobody to ask, and none is found.
func (t *twitchConnection) lookUp(ctx context.Context, channels []string) ([]twitch.Account, error) {
	if t.helix == nil || len(channels) == 0 {
		return nil, nil
	}
	if _, err := t.helix.Identify(ctx); err != nil { // Helix wants to hear the application's ID, which this learns
		return nil, err
	}
	return t.helix.Users(ctx, channels...)
}

// neededScopes are what moderation asks of a token.
var neededScopes = []string{"moderator:manage:chat_messages", "moderator:manage:warnings", "moderator:manage:banned_users"}

// warnOf names what will come short of the token, where Twitch tells.
func (t *twitchConnection) warnOf(id twitch.Identity) {
	if id.ExpiresIn > 0 {
		t.log.Info("the token expires; start chatguard with a new one by then", "at", time.Now().Add(id.ExpiresIn).Format(time.RFC3339))
	}
	if id.Scopes == nil {
		return
	}
	for _, scope := range neededScopes {
		if !slices.Contains(id.Scopes, scope) {
			t.log.Warn("the token lacks a scope: penalties that need it will fail", "scope", scope)
		}
	}
}

func (t *twitchConnection) note(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
}

// sumUp logs what was read.
func (t *twitchConnection) sumUp() {
	s := t.irc.Status()
	t.log.Info("read", "lines", s.Lines, "messages", s.Messages, "skipped", s.Skipped, "dropped", s.Dropped, "reconnects", s.Reconnects)
}

// moderation is a Moderator that remembers whether Twitch lets us moderate at all.
type moderation struct{ *twitchConnection }

func (m moderation) Delete(ctx context.Context, msg chatguard.Message) error {
	return m.heed(m.acting.Delete(ctx, msg))
}

func (m moderation) Warn(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.heed(m.acting.Warn(ctx, msg, reason))
}

func (m moderation) Timeout(ctx context.Context, msg chatguard.Message, length time.Duration, reason string) error {
	return m.heed(m.acting.Timeout(ctx, msg, length, reason))
}

func (m moderation) Ban(ctx context.Context, msg chatguard.Message, reason string) error {
	return m.heed(m.acting.Ban(ctx, msg, reason))
}

func (m moderation) heed(err error) error {
	m.note(func() {
		switch {
		case err == nil:
			m.refused = ""
		case errors.Is(err, twitch.ErrToken), errors.Is(err, twitch.ErrNotModerator):
			m.refused = err.Error()
		}
	})
	return err
}
