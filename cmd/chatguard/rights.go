package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// rights are what the bot may do in which channel. A channel where it may not moderate only observes, until it may.
type rights struct {
	log    *slog.Logger
	tokens *twitch.Tokens // nil where nobody is acted on
	helix  *twitch.Helix
	news   chan struct{} // holds a value when there may be something to ask or to tell

	// hold makes a channel observe for a reason; an empty one lets it go. Set before anything runs; nil where that is of no interest.
	hold func(channelID, reason string) error

	mu       sync.Mutex
	channels map[string]*right // by ID
}

// right is what is known of one channel.
type right struct {
	login     string
	moderates bool
	known     bool // moderates is what Twitch says, not what is hoped
	askAgain  time.Time
	held      string // the reason that hold was told last
}

const (
	askEvery = time.Minute     // while the bot is no moderator somewhere
	hopeTime = 5 * time.Minute // after which a refusal is forgotten, where Twitch can't be asked
)

func newRights(log *slog.Logger) *rights {
	return &rights{log: log, channels: map[string]*right{}, news: make(chan struct{}, 1)}
}

// look makes run look again at once. It never blocks.
func (r *rights) look() {
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// enter takes note of a channel that is read now, and settles whether it may do more than observe.
func (r *rights) enter(login, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.channels[id] == nil {
		r.channels[id] = &right{}
	}
	r.channels[id].login = login
	r.settle(id)
	r.look()
}

// tell takes note of whether the bot may moderate in a channel.
func (r *rights) tell(id string, yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channels[id]
	if c == nil {
		c = &right{}
		r.channels[id] = c
	}
	c.moderates, c.known, c.askAgain = yes, true, time.Now().Add(hopeTime)
	r.settle(id)
}

// moderates reports whether the bot is known to moderate a channel.
func (r *rights) moderates(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channels[id]
	return c != nil && c.known && c.moderates
}

// settle holds a channel, or lets it go. The caller holds mu.
func (r *rights) settle(id string) {
	c := r.channels[id]
	reason := r.reason(c)
	if r.hold == nil || reason == c.held {
		return
	}
	if err := r.hold(id, reason); err != nil {
		r.log.Error("a channel can't be made to observe", "channel", id, "reason", reason, "error", err)
		return
	}
	c.held = reason
	if reason != "" {
		r.log.Warn("a channel only observes", "channel", id, "login", c.login, "reason", reason)
	} else {
		r.log.Info("a channel does what its policy says", "channel", id, "login", c.login)
	}
}

// reason is why a channel can only observe; empty where it can do more.
func (r *rights) reason(c *right) string {
	if r.tokens == nil {
		return "chatguard only reads"
	}
	s := r.tokens.Status()
	switch {
	case s.State == twitch.TokenMissing || s.State == twitch.TokenRevoked:
		return s.Detail
	case s.Identity.UserID == "":
		return "Twitch hasn't said yet whose the token is"
	case c.known && !c.moderates:
		return modMend(s.Identity.Login, c.login)
	}
	return ""
}

// modMend is what makes the bot a moderator of a channel.
func modMend(bot, channel string) string {
	return fmt.Sprintf("type /mod %s in the chat of %s", bot, channel)
}

// notes are what to tell people about channels that observe against their will, by ID.
func (r *rights) notes() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	notes := map[string]string{}
	for id, c := range r.channels {
		if c.known && !c.moderates && c.held != "" {
			notes[id] = c.held
		}
	}
	return notes
}

// run settles all channels whenever there is news of the token, and asks Twitch where the bot moderates until it does everywhere.
func (r *rights) run(ctx context.Context) error {
	again := time.NewTicker(askEvery)
	defer again.Stop()
	for {
		if r.tokens.Status().State == twitch.TokenGood && r.unsure() {
			r.ask(ctx)
		}
		r.settleAll()
		select {
		case <-r.news:
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// unsure reports whether there is a channel of which it isn't known that the bot moderates it.
func (r *rights) unsure() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.channels {
		if !c.known || !c.moderates {
			return true
		}
	}
	return false
}

// ask asks Twitch where the bot moderates.
func (r *rights) ask(ctx context.Context) {
	me := r.tokens.Status().Identity.UserID
	ids, err := r.helix.ModeratedChannels(ctx, me)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, twitch.ErrScope):
		r.hope() // the token's status names the scope
	case err != nil:
		r.log.Warn("can't ask Twitch where the bot is a moderator", "error", err)
	default:
		for _, id := range r.ids() {
			r.tell(id, id == me || slices.Contains(ids, id))
		}
	}
}

// hope forgets refusals that are old: nobody tells that the bot has become a moderator since.
func (r *rights) hope() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.channels {
		if !c.moderates && time.Now().After(c.askAgain) {
			c.known = false
		}
	}
}

func (r *rights) ids() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.channels))
}

func (r *rights) settleAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.channels {
		r.settle(id)
	}
}
