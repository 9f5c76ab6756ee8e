package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web"
)

// identifyAgain is how long to wait before asking again whom the token belongs to.
const identifyAgain = 10 * time.Second

// twitchConnection is Twitch as a chat source: it finds out whom the token belongs to, then reads. Without a token it reads anonymously.
type twitchConnection struct {
	log     *slog.Logger
	helix   *twitch.Helix     // nil without a token
	acting  *twitch.Moderator // nil without a token
	mu      sync.Mutex
	irc     *twitch.IRC // its Login is known once the token's owner is
	trouble string      // what keeps us from knowing whom the token belongs to
	reading bool
}

func newTwitchConnection(c config.Twitch, log *slog.Logger) *twitchConnection {
	t := &twitchConnection{log: log, irc: &twitch.IRC{Address: c.IRCAddress, Channels: c.Channels, Logger: log}}
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
	return t.acting
}

// Run makes the connection a chat.Source.
func (t *twitchConnection) Run(ctx context.Context, deliver func([]chatguard.Message)) error {
	if t.helix != nil {
		defer t.helix.Close()
		if err := t.identify(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
	t.mu.Lock()
	t.reading = true
	t.mu.Unlock()
	return t.irc.Run(ctx, deliver)
}

// identify finds out whom the token belongs to, however long that takes. The error is for a token that is refused.
func (t *twitchConnection) identify(ctx context.Context) error {
	for {
		id, err := t.helix.Identify(ctx)
		if err == nil {
			t.irc.Login, t.acting.UserID = id.Login, id.UserID
			t.log.Info("moderating", "as", id.Login)
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, twitch.ErrToken) {
			return err
		}
		t.log.Warn("can't find out whom the token belongs to", "error", err, "again_in", identifyAgain)
		t.mu.Lock()
		t.trouble = err.Error()
		t.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(identifyAgain):
		}
	}
}

// channels are those whose IDs are known: Twitch tells them when it lets us in.
func (t *twitchConnection) channels() []web.Channel {
	list := []web.Channel{}
	for _, c := range t.irc.Status().Channels {
		if c.RoomID != "" {
			list = append(list, web.Channel{ID: c.RoomID, Login: c.Login})
		}
	}
	return list
}

// connections is the state of the connection as the dashboard shows it.
func (t *twitchConnection) connections() []web.Connection {
	t.mu.Lock()
	reading, trouble := t.reading, t.trouble
	t.mu.Unlock()
	if !reading {
		return []web.Connection{{Name: "Twitch", State: web.Connecting, Detail: trouble}}
	}
	s := t.irc.Status()
	c := web.Connection{Name: "Twitch", State: web.Disconnected, Since: s.Since, Detail: s.Detail}
	switch s.State {
	case twitch.Connected:
		c.State, c.Detail = web.Connected, notJoined(s, time.Now())
	case twitch.Connecting:
		c.State = web.Connecting
	}
	return []web.Connection{c}
}

// notJoined names the channels that Twitch hasn't let us into, once that is strange: it takes 20 at once, and 2 a second then.
func notJoined(s twitch.Status, now time.Time) string {
	if now.Sub(s.Since) < 10*time.Second+time.Duration(len(s.Channels))*500*time.Millisecond {
		return ""
	}
	var missing []string
	for _, c := range s.Channels {
		if !c.Joined {
			missing = append(missing, "#"+c.Login)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "Twitch doesn't let us into " + strings.Join(missing, ", ") + ": check the names"
}
