package app_test

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// stormUser is a user who writes during a storm.
type stormUser struct {
	login, channel, badges string
	kind                   stormKind
	next                   time.Duration // time of their next message, from the beginning
	spoken                 int
}

// stormKind is a user's behavior.
type stormKind int

const (
	chatter stormKind = iota // stays within the limits
	spammer                  // exceeds the limits
	staff                    // moderates, and writes as much as a spammer
)

// createUsers creates the users of all channels.
func (s *storm) createUsers() {
	add := func(channel, login, badges string, kind stormKind) {
		first := time.Duration(s.rng.Int64N(int64(3 * time.Second)))
		s.people = append(s.people, &stormUser{login: login, channel: channel, badges: badges, kind: kind, next: first})
	}
	for _, channel := range stormChannels {
		add(channel, channel, "broadcaster/1", staff)
		add(channel, "berta", "moderator/1", staff)
		add(channel, "clara", "lead_moderator/1", staff)
		for n := range 4 {
			add(channel, fmt.Sprintf("chatter%d", n), "", chatter)
		}
		for n := range s.spammers {
			add(channel, fmt.Sprintf("spammer%d", n), "", spammer)
		}
	}
}

// gap returns how long a user is silent after a message.
func (u *stormUser) gap(rng *rand.Rand) time.Duration {
	least, most := 900*time.Millisecond, 2*time.Second
	switch u.kind {
	case chatter:
		least, most = 5*time.Second, 12*time.Second
	case spammer:
		least, most = 300*time.Millisecond, time.Second
	}
	return least + time.Duration(rng.Int64N(int64(most-least)))
}
