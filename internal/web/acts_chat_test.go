package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// actsChat is a chat in which people act. It serves every channel but those of other chats.
type actsChat struct {
	mu       sync.Mutex
	silences map[string]journal.Silence // by user ID
	given    []string                   // the acts in order
	modes    journal.ChatModes
	refusal  error // of the next acts; nil if they succeed
	// changed is called after the timeout or ban of a user in a channel has changed.
	changed func(channelID, userID string)
}

// acts returns the acts of the chat.
func (c *actsChat) acts(now func() time.Time) control.Acts {
	c.silences = map[string]journal.Silence{}
	return control.Acts{
		Serves: func(channelID string) bool { return !strings.HasPrefix(channelID, "check:") },
		Silence: func(_, userID string) (journal.Silence, bool) {
			c.mu.Lock()
			defer c.mu.Unlock()
			s, ok := c.silences[userID]
			return s, ok
		},
		Recall: c.set,
		TimeOut: func(_ context.Context, t journal.Target, length time.Duration, reason string) error {
			return c.give(t, journal.Silence{Until: now().Add(length), By: t.Author}, fmt.Sprintf("timeout %s %s", length, reason))
		},
		Ban: func(_ context.Context, t journal.Target, reason string) error {
			return c.give(t, journal.Silence{Banned: true, By: t.Author}, "ban "+reason)
		},
		Lift: func(_ context.Context, t journal.Target) error {
			return c.give(t, journal.Silence{Until: now()}, "lift")
		},
		SetModes: func(_ context.Context, _ string, change journal.ChatModesChange) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.refusal == nil {
				c.modes = c.modes.Apply(change)
			}
			return c.refusal
		},
	}
}

// give gives a silence to a user. One that is over ends the former one.
func (c *actsChat) give(t journal.Target, s journal.Silence, what string) error {
	c.mu.Lock()
	if c.refusal != nil {
		defer c.mu.Unlock()
		return c.refusal
	}
	c.given = append(c.given, strings.TrimSpace(what)+" of "+t.UserID)
	c.mu.Unlock()
	c.set(t, s)
	return nil
}

// set makes the chat know a user's last silence, which may be over.
func (c *actsChat) set(t journal.Target, s journal.Silence) {
	c.mu.Lock()
	c.silences[t.UserID] = s
	c.mu.Unlock()
	c.changed(t.ChannelID, t.UserID)
}

// forget makes the chat forget a user's last silence, as a restart does.
func (c *actsChat) forget(userID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.silences, userID)
}

// refuse makes the chat refuse acts with an error; nil makes it accept them again.
func (c *actsChat) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = err
}

// silence gives a user a silence in somebody else's name.
func (c *actsChat) silence(userID string, s journal.Silence) {
	c.set(journal.Target{ChannelID: channelID, UserID: userID}, s)
}

// list returns the acts so far.
func (c *actsChat) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.given)
}
