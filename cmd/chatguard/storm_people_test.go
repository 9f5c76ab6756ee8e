package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// stormUser is somebody who talks while a storm lasts.
type stormUser struct {
	login, channel, badges string
	kind                   stormKind
	next                   time.Duration // after the beginning: when they speak
	spoken                 int
}

// stormKind is how somebody behaves.
type stormKind int

const (
	chatter stormKind = iota // keeps within the limits
	spammer                  // doesn't
	staff                    // keeps order, and talks as much as a spammer
)

// enter lets the people of all channels in.
func (s *storm) enter() {
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

// gap is how long somebody is silent after a message.
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
