package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/config"
)

// lookUpTime is how long the start waits for Twitch to tell the IDs of channels.
const lookUpTime = 10 * time.Second

// logins are the names of channels by ID: Twitch's messages have IDs, and the configuration has names. It is safe for concurrent use.
type logins struct {
	mu   sync.Mutex
	byID map[string]string
}

// learn takes note of a channel and reports whether it is new.
func (l *logins) learn(login, id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID[id] == login {
		return false
	}
	if l.byID == nil {
		l.byID = map[string]string{}
	}
	l.byID[id] = login
	return true
}

// of returns the login of a channel, or nothing where it isn't known.
func (l *logins) of(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// isTwitchs reports whether Twitch has told of a channel, now or before an earlier start.
func (l *logins) isTwitchs(id string) bool {
	_, isRoom := roomName(id)
	return !isRoom && l.of(id) != ""
}

// ids are the IDs of all channels that are known.
func (l *logins) ids() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.byID))
}

// enter puts a channel's own policy in force where Twitch has told the channel's ID only now.
func (a *app) enter(login, id string) {
	if _, own := a.policies.Load().OwnPolicy(login, id); a.learn(login, id) && own {
		a.enterOwn(login, id)
	}
}

// enterOwn puts the policy in force that a channel has of its own.
func (a *app) enterOwn(login, id string) {
	if err := a.putInForce(id, (*a.changed.Load())[id]); err != nil {
		a.log.Error("a channel's own policy can't be put in force", "channel", id, "login", login, "error", err)
	}
}

// learn takes note of a channel, for the next start too, and reports whether it is new.
func (a *app) learn(login, id string) bool {
	if !a.logins.learn(login, id) {
		return false
	}
	a.store.NoteChannel(id, login)
	return true
}

// meet learns the IDs of the channels that have a policy of their own, so that it is in force before what their users had spent is restored: limits
// that only such a policy has would start fresh otherwise. Twitch tells them, and where it doesn't, the database does where it has met them before.
func (a *app) meet(ctx context.Context) error {
	stored, err := a.store.Channels(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for id, login := range stored {
		known[login] = true
		a.logins.learn(login, id)
	}
	var own []string
	for _, login := range a.policies.Load().Twitch.Channels {
		if _, ok := a.policies.Load().OwnPolicy(login); ok {
			own = append(own, login)
		}
	}
	ctx, stop := context.WithTimeout(ctx, lookUpTime)
	defer stop()
	found, err := a.twitch.lookUp(ctx, own)
	for _, account := range found {
		known[account.Login] = true
		a.learn(account.Login, account.ID)
	}
	if unknown := slices.DeleteFunc(own, func(login string) bool { return known[login] }); len(unknown) > 0 {
		a.log.Warn("channels with tables of their own aren't known yet: these hold once Twitch tells their IDs, and limits that only they have begin anew",
			"channels", unknown, "error", err)
	}
	return nil
}

// warnOfStrangers names the tables that belong to no channel that is moderated.
func (a *app) warnOfStrangers(c config.Config) {
	_, strangers := unlisted(c)
	for _, name := range strangers {
		a.log.Warn("a table for a channel that isn't in twitch.channels, and so isn't moderated, unless a server asks about it", "table", "[channel."+name+"]",
			"file", c.Path)
	}
}

// unlisted are the names of tables that are neither in twitch.channels nor in check.channels: those that may be the ID of a channel that is, and those that can't.
func unlisted(c config.Config) (ids, strangers []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		switch {
		case slices.Contains(c.Twitch.Channels, name), c.IsChecked(name):
		case strings.Trim(name, "0123456789") == "":
			ids = append(ids, name)
		default:
			strangers = append(strangers, name)
		}
	}
	return ids, strangers
}
