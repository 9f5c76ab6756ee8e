package faketwitch

import (
	"strings"
	"time"
)

// Twitch's limits on logins and joins for one account.
const (
	loginsPerPeriod = 20
	joinsPerPeriod  = 20
	joinPeriod      = 10 * time.Second
	maxJoined       = 100 // channels joined at once that the account doesn't moderate
)

// joinLimits holds the limits on joins. The Server's mu guards it.
type joinLimits struct {
	logins    map[string]*recentTimes // recent logins, by account
	asked     map[string]*recentTimes // recent joins, by account
	ignored   int                     // number of joins still to be ignored
	unlimited bool                    // maxJoined doesn't apply
}

// IgnoreJoins makes the server ignore the next n JOINs.
func (s *chatServer) IgnoreJoins(n int) { s.locked(func() { s.joining.ignored = n }) }

// LimitChannels limits an account to 100 channels in which it isn't a moderator, or removes the
// limit. The limit applies from the start.
func (s *chatServer) LimitChannels(on bool) { s.locked(func() { s.joining.unlimited = !on }) }

// mayJoin reports whether the client may join a channel, and counts the request.
func (c *client) mayJoin(ch *channel) bool {
	j := &c.srv.joining
	return !takeOne(&j.ignored) && (j.unlimited || !c.isFull(ch)) && c.take(&j.asked, joinsPerPeriod)
}

// mayLogIn reports whether the client's account may log in, and counts the login.
func (c *client) mayLogIn() bool { return c.take(&c.srv.joining.logins, loginsPerPeriod) }

// take reports whether the client's account may send another request of a kind, and if so counts
// it. most is the maximum per period.
func (c *client) take(of *map[string]*recentTimes, most int) bool {
	if *of == nil {
		*of = make(map[string]*recentTimes)
	}
	account := c.account()
	if (*of)[account] == nil {
		(*of)[account] = new(recentTimes)
	}
	return (*of)[account].take(c.srv.opts.Now(), most, joinPeriod)
}

// isFull reports whether the client has joined the maximum number of channels that it doesn't
// moderate and ch would be another one.
func (c *client) isFull(ch *channel) bool {
	guests := 0
	for login := range c.joined {
		if room := c.srv.channels[login]; room != nil && !c.moderates(room) { // nil after a Rename
			guests++
		}
	}
	return guests >= maxJoined && ch != nil && !c.moderates(ch)
}

// account returns the key by which Twitch counts joins. It is the login, or the address for an
// anonymous client.
func (c *client) account() string {
	if c.isAnonymous() {
		return c.conn.RemoteAddr().String()
	}
	return c.login
}

func (c *client) isAnonymous() bool { return strings.HasPrefix(c.login, anonymousPrefix) }

// moderates reports whether the client's account may moderate in a channel.
func (c *client) moderates(ch *channel) bool {
	return !c.isAnonymous() && c.srv.moderates(*c.srv.account(c.login), ch)
}

// userState returns the line with the client's state in a channel.
func (c *client) userState(ch *channel) string {
	badges, mod, kind := "", "0", ""
	switch {
	case ch.login == c.login:
		badges = "broadcaster/1"
	case c.moderates(ch):
		badges, mod, kind = "moderator/1", "1", "mod"
	}
	return "@badge-info=;badges=" + badges + ";color=;display-name=" + escape(c.login) + ";emote-sets=0;mod=" + mod + ";subscriber=0;user-type=" + kind +
		" :tmi.twitch.tv USERSTATE #" + ch.login
}
