package faketwitch

import (
	"slices"
	"strings"
	"time"
)

// Twitch's bounds on joining, of one account.
const (
	joinsPerPeriod = 20
	joinPeriod     = 10 * time.Second
	maxJoined      = 100 // channels at once in which it is no moderator
)

// joining is how clients may join. The Server's mu guards it.
type joining struct {
	asked   map[string][]time.Time // the latest, by account
	ignored int                    // how many more are to be ignored
	limited bool                   // to maxJoined channels
}

// IgnoreJoins lets the next n channels that clients ask to be let into go unanswered.
func (s *Server) IgnoreJoins(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joining.ignored = n
}

// LimitChannels lets an account join no more than 100 channels in which it is no moderator, or any number again.
func (s *Server) LimitChannels(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joining.limited = on
}

// mayJoin reports whether the client's asking to join a channel is heeded, and takes it into account.
func (c *client) mayJoin(ch *channel) bool {
	j := &c.srv.joining
	if j.ignored > 0 {
		j.ignored--
		return false
	}
	if j.asked == nil {
		j.asked = make(map[string][]time.Time)
	}
	now, account := c.srv.opts.Now(), c.account()
	asked := slices.DeleteFunc(j.asked[account], func(at time.Time) bool { return now.Sub(at) >= joinPeriod })
	heeded := len(asked) < joinsPerPeriod && !(j.limited && c.isFull(ch))
	if heeded {
		asked = append(asked, now)
	}
	j.asked[account] = asked
	return heeded
}

// isFull reports whether the client is in so many channels that it may join no other but one it moderates.
func (c *client) isFull(ch *channel) bool {
	guests := 0
	for login := range c.joined {
		if !c.moderates(c.srv.channels[login]) {
			guests++
		}
	}
	return guests >= maxJoined && ch != nil && !c.moderates(ch)
}

// account is what Twitch counts by: the login, but those who are anonymous have nothing in common.
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

// userState tells the client how it stands in a channel.
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
