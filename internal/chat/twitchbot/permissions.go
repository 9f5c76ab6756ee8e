package twitchbot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
)

// permissions record what the bot may do in each channel. Channels where the bot may not moderate
// only observe.
type permissions struct {
	log    *slog.Logger
	tokens *token.Store // nil if chatguard only reads
	helix  *helix.Client
	due    chan struct{} // holds a value if there may be something to do

	// hold makes a channel only observe, for a reason; an empty reason releases the channel. If
	// hold is nil, no channel is held.
	hold func(channelID, reason string) error

	// accountChanged is called if the token's account has changed. Nil means no callback.
	accountChanged func()

	mu       sync.Mutex
	channels map[string]*permission // by ID
	// account is the ID of the token's user; empty until it is known.
	account string
	asked   time.Time // when Twitch was last asked
}

// permission is what is known about one channel.
type permission struct {
	login     string
	moderates bool
	known     bool // Twitch has confirmed the value of moderates
	// refused means that Twitch has refused an action. run must then ask Twitch whether the bot is
	// still a moderator.
	refused   bool
	refusedAt time.Time // time of the last refusal
	askAgain  time.Time
	held      string // last reason passed to hold
}

const (
	// AskEvery is how often Twitch is asked while the bot lacks moderator rights in a channel.
	AskEvery = time.Minute
	// RecheckEvery is how often Twitch is asked while somebody waits for the answer.
	RecheckEvery = 3 * time.Second
	// RefusalTime is how long a refusal is remembered if Twitch can't be asked.
	RefusalTime = 5 * time.Minute
)

func newPermissions(log *slog.Logger, hold func(channelID, reason string) error) *permissions {
	return &permissions{log: log, hold: hold, channels: map[string]*permission{}, due: make(chan struct{}, 1)}
}

// recheck makes run check again at once. It never blocks.
func (p *permissions) recheck() { chat.WakeUp(p.due) }

// recheckSoon is like recheck, unless Twitch was asked less than RecheckEvery ago.
func (p *permissions) recheckSoon() {
	p.mu.Lock()
	recent := time.Since(p.asked) < RecheckEvery
	p.mu.Unlock()
	if !recent {
		p.recheck()
	}
}

// add records a channel that is now read, and decides whether it only observes.
func (p *permissions) add(login, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.channels[id] == nil {
		p.channels[id] = &permission{}
	}
	p.channels[id].login = login
	p.apply(id)
	p.recheck()
}

// set records whether the bot may moderate a channel.
func (p *permissions) set(id string, yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.channels[id]
	if c == nil {
		c = &permission{}
		p.channels[id] = c
	}
	c.moderates, c.known, c.refused, c.askAgain = yes, true, false, time.Now().Add(RefusalTime)
	p.apply(id)
}

// noteRefusal records that Twitch has refused an action in a channel. run asks Twitch before it
// holds the channel, because a refusal may be temporary. If Twitch confirms that the bot is a
// moderator, further refusals are ignored for a while.
func (p *permissions) noteRefusal(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.channels[id]
	if c == nil || c.refused || c.known && !c.moderates || time.Since(c.refusedAt) < AskEvery {
		return
	}
	c.known, c.refused, c.refusedAt = false, true, time.Now()
	p.recheck()
}

// record notes whether Twitch has refused an action in a channel, and returns err.
func (p *permissions) record(id string, err error) error {
	if errors.Is(err, twitch.ErrNotModerator) {
		p.noteRefusal(id)
	}
	return err
}

// moderates reports whether the bot is known to moderate a channel.
func (p *permissions) moderates(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.channels[id]
	return c != nil && c.known && c.moderates
}

// standing reports whether the bot moderates a channel. While Twitch hasn't answered that, known
// and moderates are false.
func (p *permissions) standing(id string) (known, moderates bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.channels[id]
	return c != nil && c.known, c != nil && c.known && c.moderates
}

// apply holds or releases a channel, as its permission requires. The caller holds mu.
func (p *permissions) apply(id string) {
	c := p.channels[id]
	reason := p.reason(c)
	if p.hold == nil || reason == c.held {
		return
	}
	if err := p.hold(id, reason); err != nil {
		p.log.Error("a channel can't be made to observe", "channel", id, "reason", reason, "error", err)
		return
	}
	c.held = reason
	if reason != "" {
		p.log.Warn("a channel only observes", "channel", id, "login", c.login, "reason", reason)
	} else {
		p.log.Info("a channel follows its policy", "channel", id, "login", c.login)
	}
}

// reason returns why a channel can only observe, or "" if it can enforce.
func (p *permissions) reason(c *permission) string {
	if p.tokens == nil {
		return "chatguard only reads"
	}
	s := p.tokens.Status()
	switch {
	case s.State == token.Missing || s.State == token.Revoked:
		return s.Detail
	case s.Identity.UserID == "":
		return "the owner of the token isn't known yet"
	case c.known && !c.moderates:
		return ModCommand(s.Identity.Login, c.login)
	}
	return ""
}

// ModCommand returns the command that makes the bot a moderator of a channel.
func ModCommand(bot, channel string) string {
	return fmt.Sprintf("type /mod %s in the chat of %s", bot, channel)
}

// observingChannels returns the channels that only observe because the bot isn't a moderator. The
// map's keys are channel IDs, and its values are texts for people.
func (p *permissions) observingChannels() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := map[string]string{}
	for id, c := range p.channels {
		if c.known && !c.moderates && c.held != "" {
			notes[id] = c.held
		}
	}
	return notes
}

// run updates all channels whenever the token changes. While there is a channel that the bot isn't
// known to moderate, it asks Twitch repeatedly.
func (p *permissions) run(ctx context.Context) error {
	again := time.NewTicker(AskEvery)
	defer again.Stop()
	for {
		s := p.tokens.Status()
		p.setAccount(s.Identity.UserID)
		if s.State == token.Good && p.isIncomplete() {
			p.ask(ctx)
		}
		p.applyAll()
		select {
		case <-p.due:
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// setAccount records the token's account. If the account has changed, it forgets what is known
// about the channels.
func (p *permissions) setAccount(account string) {
	p.mu.Lock()
	was := p.account
	if account != "" {
		p.account = account
	}
	other := was != "" && p.account != was
	if other {
		for _, c := range p.channels {
			*c = permission{login: c.login, held: c.held}
		}
	}
	p.mu.Unlock()
	if other && p.accountChanged != nil {
		p.accountChanged()
	}
}

// isIncomplete reports whether there is a channel that the bot isn't known to moderate.
func (p *permissions) isIncomplete() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.channels {
		if !c.known || !c.moderates {
			return true
		}
	}
	return false
}

// ask asks Twitch where the bot moderates. If Twitch doesn't answer, it treats channels with a
// refused action as not moderated.
func (p *permissions) ask(ctx context.Context) {
	p.mu.Lock()
	p.asked = time.Now()
	p.mu.Unlock()
	moderates, err := WhereModerator(ctx, p.helix, p.tokens.Status().Identity.UserID)
	if ctx.Err() != nil {
		return
	}
	if errors.Is(err, twitch.ErrScope) {
		p.forgetRefusals() // the token's status names the missing scope
	} else if err != nil {
		p.log.Warn("can't ask Twitch where the bot is a moderator", "error", err)
	}
	for id, refused := range p.refusals() {
		switch {
		case err == nil:
			p.set(id, moderates(id))
		case refused:
			p.set(id, false)
		}
	}
}

// WhereModerator asks Twitch where an account may moderate. The returned function moderates is true
// for the account's own channel, and for the channels where the account is a moderator.
func WhereModerator(ctx context.Context, client *helix.Client, account string) (moderates func(channelID string) bool, err error) {
	ids, err := client.ModeratedChannels(ctx, account)
	return func(id string) bool { return id == account || slices.Contains(ids, id) }, err
}

// forgetRefusals forgets old refusals. Otherwise they would last forever, because Twitch doesn't
// report when the bot becomes a moderator again.
func (p *permissions) forgetRefusals() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.channels {
		if !c.moderates && time.Now().After(c.askAgain) {
			c.known = false
		}
	}
}

// refusals returns all channels by ID, and whether an action was refused there.
func (p *permissions) refusals() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	refused := make(map[string]bool, len(p.channels))
	for id, c := range p.channels {
		refused[id] = c.refused
	}
	return refused
}

// ids returns the IDs of all channels.
func (p *permissions) ids() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.channels))
}

func (p *permissions) applyAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.channels {
		p.apply(id)
	}
}
