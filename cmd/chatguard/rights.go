package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

	// another is called where the token is another account's than before. Nil where that is of no interest.
	another func()

	mu       sync.Mutex
	channels map[string]*right // by ID
	account  string            // whose rights these are: the ID of the token's user; empty as long as that isn't known
}

// right is what is known of one channel.
type right struct {
	login     string
	moderates bool
	known     bool      // moderates is what Twitch says, not what is hoped
	doubted   bool      // Twitch has refused an action, and is to be asked whether the bot is a moderator still
	doubtedAt time.Time // the last time
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
	c.moderates, c.known, c.doubted, c.askAgain = yes, true, false, time.Now().Add(hopeTime)
	r.settle(id)
}

// doubt takes note that Twitch has refused an action in a channel. Twitch is asked before the channel is held: a refusal may be a mistake of the
// moment. Where it has just said that the bot is a moderator, that holds for a while.
func (r *rights) doubt(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channels[id]
	if c == nil || c.doubted || c.known && !c.moderates || time.Since(c.doubtedAt) < askEvery {
		return
	}
	c.known, c.doubted, c.doubtedAt = false, true, time.Now()
	r.look()
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
		s := r.tokens.Status()
		r.belongTo(s.Identity.UserID)
		if s.State == twitch.TokenGood && r.unsure() {
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

// belongTo forgets what is known of the channels where the token is another account's than before.
func (r *rights) belongTo(account string) {
	r.mu.Lock()
	was := r.account
	if account != "" {
		r.account = account
	}
	other := was != "" && r.account != was
	if other {
		for _, c := range r.channels {
			*c = right{login: c.login, held: c.held}
		}
	}
	r.mu.Unlock()
	if other && r.another != nil {
		r.another()
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

// ask asks Twitch where the bot moderates. Where it can't be asked, a refused action is believed.
func (r *rights) ask(ctx context.Context) {
	moderates, err := whereModerator(ctx, r.helix, r.tokens.Status().Identity.UserID)
	if ctx.Err() != nil {
		return
	}
	if errors.Is(err, twitch.ErrScope) {
		r.hope() // the token's status names the scope
	} else if err != nil {
		r.log.Warn("can't ask Twitch where the bot is a moderator", "error", err)
	}
	for id, doubted := range r.doubts() {
		switch {
		case err == nil:
			r.tell(id, moderates(id))
		case doubted:
			r.tell(id, false)
		}
	}
}

// whereModerator asks Twitch in which channels, by ID, an account may moderate: its own one, and where it is a moderator.
func whereModerator(ctx context.Context, helix *twitch.Helix, account string) (moderates func(channelID string) bool, err error) {
	ids, err := helix.ModeratedChannels(ctx, account)
	return func(id string) bool { return id == account || slices.Contains(ids, id) }, err
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

// doubts are all channels by ID, and whether an action was refused there.
func (r *rights) doubts() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	doubts := make(map[string]bool, len(r.channels))
	for id, c := range r.channels {
		doubts[id] = c.doubted
	}
	return doubts
}

func (r *rights) settleAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.channels {
		r.settle(id)
	}
}
