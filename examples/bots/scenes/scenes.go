// Package scenes has what the tests of all bots have in common: what users write on a platform, and
// which of it the bot must act on. It knows no platform.
package scenes

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/chatguardtest"
)

// Moderator is the number of the user who moderates the channel.
const Moderator = 1

// Message is a message of one user in the platform's only channel.
type Message struct {
	ID     int // different for each message
	User   int
	SentAt time.Time // by the platform's clock, in whole seconds
}

// Platform is a fake of a chat platform, and the bot that is tested on it.
type Platform struct {
	// Start starts the bot, with the store of its last start. It returns when messages can be
	// delivered. The bot ends with the func that it returns.
	Start func(*testing.T, *chatguard.Options) (stop func())
	// Deliver delivers messages to the bot in this order, in one batch if the platform has batches.
	Deliver func(*testing.T, []Message)
	// Cut breaks the bot's connection. It is nil if the platform connects to the bot, or if the
	// client waits long before it connects again.
	Cut func()
	// Acted has the ID of each message that the bot deleted, or answered.
	Acted chan int
}

type scene struct {
	Platform
	*testing.T
	now    time.Time
	lastID int
}

// Run runs all scenes.
func Run(t *testing.T, p Platform) {
	s := &scene{Platform: p, T: t, now: time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)}
	opts := &chatguard.Options{Now: chatguardtest.NewClock(s.now).Now}
	stop := p.Start(t, opts)

	const anna, bob, eve, carl = 2, 3, 4, 5
	s.deliver(s.write(anna, 4, 0)...)
	s.acted("three pass, and the fourth doesn't")

	s.deliver(append(s.write(Moderator, 10, 0), s.write(eve, 4, 0)...)...)
	s.acted("a moderator may write ten")

	// Eve's messages come last. When the bot acts on one of them, it has judged all others.
	s.deliver(append(s.write(bob, 8, 5*time.Second), s.write(eve, 1, 0)...)...)
	s.acted("a backlog of messages, sent 5 s apart, passes")

	if p.Cut != nil {
		p.Cut()
		s.deliver(append(s.write(carl, 8, 5*time.Second), s.write(eve, 1, 0)...)...)
		s.acted("a backlog passes, too, if the connection breaks before it arrives")
	}

	stop()
	stop = p.Start(t, opts)
	defer stop()
	s.deliver(s.write(anna, 1, 0)...)
	s.acted("the usage is kept after a restart")
}

// write returns messages of a user. The last of them was sent just now.
func (s *scene) write(user, count int, apart time.Duration) []Message {
	list := make([]Message, count)
	for i := range list {
		s.lastID++
		list[i] = Message{ID: s.lastID, User: user, SentAt: s.now.Add(-time.Duration(count-1-i) * apart)}
	}
	return list
}

func (s *scene) deliver(messages ...Message) { s.Deliver(s.T, messages) }

// acted waits until the bot acts on a message, which must be the last one.
func (s *scene) acted(name string) {
	s.Helper()
	if got := <-s.Acted; got != s.lastID {
		s.Fatalf("%s: the bot acted on message %d, want %d", name, got, s.lastID)
	}
}
