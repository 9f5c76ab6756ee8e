package twitchbot

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
)

const (
	// NamesEvery is how often Twitch is asked for the present names of all channels. Twitch doesn't
	// report that a channel was renamed.
	NamesEvery = 10 * time.Minute
	// lookEvery is how often run checks whether to ask Twitch earlier.
	lookEvery = 5 * time.Second
)

// names follow channels that get another name on Twitch. A channel is read by its present name. For
// the rest of chatguard it keeps its configured name, so that its table in the configuration still
// applies. Channels are identified by their IDs.
type names struct {
	log    *slog.Logger
	tokens *token.Store  // nil if chatguard only reads
	helix  *helix.Client // nil without tokens
	reader reader
	// idOf returns the last known ID of the channel with a name, or "". accepts reports whether
	// that channel may have the given ID.
	idOf    func(login string) string
	accepts func(login, id string) bool

	mu         sync.Mutex
	configured []string          // names that the configuration has
	now        map[string]string // present names of renamed channels, by configured name

	asked      time.Time // when Twitch was last asked; used only by run, as is reconnects
	reconnects uint64    // the reader's Reconnects at that time
}

// set replaces the channels to read. If it returns an error, nothing has changed.
func (n *names) set(configured []string) error {
	logins, err := twitch.Logins(configured)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.apply(logins, maps.Clone(n.now))
}

// apply makes the reader read channels by their present names. The caller holds mu.
func (n *names) apply(configured []string, now map[string]string) error {
	// If the configuration also has the new name, each name means what Twitch says.
	isMoot := func(login, to string) bool {
		return !slices.Contains(configured, login) || slices.Contains(configured, to) && now[to] == ""
	}
	for before := -1; before != len(now); { // again, because removing one may make another one moot
		before = len(now)
		maps.DeleteFunc(now, isMoot)
	}
	logins := slices.Clone(configured)
	for i, login := range logins {
		logins[i] = cmp.Or(now[login], login)
	}
	if err := n.reader.SetChannels(logins); err != nil {
		return err
	}
	n.configured, n.now = configured, now
	return nil
}

// name returns the name that the configuration has for a channel with this present name.
func (n *names) name(login string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for configured, now := range n.now {
		if now == login {
			return configured
		}
	}
	return login
}

// vet returns why the channel that now has a name isn't the configured one, or "". Twitch lets
// other people take a name that has become free.
func (n *names) vet(login, id string) (problem string) {
	name := n.name(login)
	if n.accepts == nil || n.accepts(name, id) {
		return ""
	}
	return fmt.Sprintf("the name is another account's by now: ID %s instead of %s; correct twitch.channels, or add a table [channel.%s] if you mean that one", id, n.idOf(name), id)
}

// run asks Twitch for the names of the channels at the start, after each reconnect, while a channel
// can't be read, and every NamesEvery.
func (n *names) run(ctx context.Context) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if s, now := n.reader.Status(), time.Now(); n.isDue(s, now) {
			n.asked, n.reconnects = now, s.Reconnects
			n.ask(ctx)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// isDue reports whether to ask Twitch now.
func (n *names) isDue(s twitch.Status, now time.Time) bool {
	if n.idOf == nil || n.tokens.Status().State != token.Good || s.State != twitch.Connected {
		return false
	}
	since := now.Sub(n.asked)
	isShutOut := func(c twitch.Channel) bool { return c.ShutOut }
	return n.asked.IsZero() || s.Reconnects != n.reconnects || since >= NamesEvery || since >= AskEvery && slices.ContainsFunc(s.Channels, isShutOut)
}

// ask asks Twitch for the names of all channels whose IDs are known, and follows those that were
// renamed.
func (n *names) ask(ctx context.Context) {
	n.mu.Lock()
	configured := n.configured
	n.mu.Unlock()
	ids := map[string]string{} // by configured name
	for _, login := range configured {
		if id := n.idOf(login); id != "" {
			ids[login] = id
		}
	}
	ctx, stop := context.WithTimeout(ctx, AskEvery)
	defer stop()
	accounts, err := n.helix.UsersByID(ctx, slices.Sorted(maps.Values(ids))...)
	if err != nil {
		n.log.Debug("can't ask Twitch for the names of the channels", "error", err)
		return
	}
	logins := map[string]string{}
	for _, a := range accounts {
		logins[a.ID] = a.Login
	}
	n.follow(ids, logins)
}

// follow makes the reader use the present names of renamed channels. ids has the channels' IDs by
// configured name, and logins has their present names by ID. A channel that isn't in logins keeps
// the name by which it was read.
func (n *names) follow(ids, logins map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before, now := n.now, map[string]string{}
	maps.Copy(now, before)
	for name, id := range ids {
		switch login := logins[id]; {
		case login == name:
			delete(now, name)
		case twitch.IsLogin(login):
			now[name] = login
		}
	}
	if maps.Equal(now, before) {
		return
	}
	if err := n.apply(n.configured, now); err != nil {
		n.log.Error("renamed channels can't be followed", "error", err)
		return
	}
	for name, login := range n.now {
		if login != before[name] {
			n.log.Warn("a channel has another name on Twitch, and is read by that one: correct twitch.channels", "channel", ids[name], "login", name, "now", login)
		}
	}
}

// translate replaces the names of renamed channels by the configured ones.
func (n *names) translate(channels []twitch.Channel) {
	for i, c := range channels {
		if name := n.name(c.Login); name != c.Login {
			channels[i].Login, channels[i].Now = name, c.Login
		}
	}
}
