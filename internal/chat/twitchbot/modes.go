package twitchbot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/journal"
)

const (
	modesTimeout = 5 * time.Second  // how long Twitch may take to say chat modes
	modesRetry   = 10 * time.Second // delay before Twitch is asked again after a failure
)

// Modes holds the chat modes of channels as Twitch has last said them. IRC sends them with each
// change. EventSub says with a moderator's action that they have changed, and Helix is then asked,
// because a separate subscription would leave room for fewer channels.
type Modes struct {
	log         *slog.Logger
	helix       *helix.Client    // nil if chatguard only reads
	acting      *helix.Moderator // nil without helix, as is permissions
	permissions *permissions
	changed     func(channelID string) // called after each change
	due         chan struct{}          // holds a value if a channel's modes are to be read

	mu       sync.Mutex
	channels map[string]*channelModes // by ID
}

// channelModes are the modes of one channel.
type channelModes struct {
	known *journal.ChatModes // nil if they aren't known
	// news counts what Twitch has said. An answer to a request from before the last news may be
	// older.
	news   int
	unread bool // to be read from Helix
}

func newModes(log *slog.Logger, changed func(channelID string)) *Modes {
	if changed == nil {
		changed = func(string) {}
	}
	return &Modes{log: log, changed: changed, due: make(chan struct{}, 1), channels: map[string]*channelModes{}}
}

// update changes what is known of a channel, and announces a change of its modes.
func (m *Modes) update(id string, update func(*channelModes)) {
	m.mu.Lock()
	c := m.channels[id]
	if c == nil {
		c = &channelModes{}
		m.channels[id] = c
	}
	before := c.known
	update(c)
	now := c.known
	m.mu.Unlock()
	if (before == nil) != (now == nil) || now != nil && *before != *now {
		m.changed(id)
	}
}

// enter forgets the modes of a channel that has just been joined.
func (m *Modes) enter(id string) {
	m.update(id, func(c *channelModes) { *c = channelModes{news: c.news + 1} })
}

// noteChange records modes that Twitch has said. While nothing is known, it ignores a part of them.
func (m *Modes) noteChange(id string, change journal.ChatModesChange) {
	m.update(id, func(c *channelModes) {
		c.news++
		known := journal.ChatModes{}
		if c.known != nil {
			known = *c.known
		} else if !change.IsComplete() {
			return
		}
		c.known = new(known.Apply(change))
	})
}

// noteMayDiffer makes run read a channel's modes. If told is false, nobody would say when they
// change, so they are unknown.
func (m *Modes) noteMayDiffer(id string, told bool) {
	m.update(id, func(c *channelModes) {
		c.news++
		if c.unread = told; !told {
			c.known = nil
		}
	})
	chat.WakeUp(m.due)
}

// newsOf returns how often Twitch has said something about a channel's modes.
func (m *Modes) newsOf(id string) (news int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.channels[id]; c != nil {
		news = c.news
	}
	return news
}

// noteAnswer records the modes in Helix's answer, unless Twitch has said something since the
// request.
func (m *Modes) noteAnswer(id string, news int, answer journal.ChatModes) {
	m.update(id, func(c *channelModes) {
		if c.news == news && (c.known != nil || c.unread) {
			c.known, c.unread = &answer, false
		}
	})
}

// run reads modes from Helix until ctx ends.
func (m *Modes) run(ctx context.Context) error {
	for {
		var again <-chan time.Time
		if !m.read(ctx) {
			again = time.After(modesRetry)
		}
		select {
		case <-m.due:
		case <-again:
		case <-ctx.Done():
			return nil
		}
	}
}

// read reads the modes of all channels that are to be read. It returns false if any can't be read.
// These are then unknown, because what was known has probably changed.
func (m *Modes) read(ctx context.Context) (done bool) {
	m.mu.Lock()
	unread := map[string]int{} // news by ID
	for id, c := range m.channels {
		if c.unread {
			unread[id] = c.news
		}
	}
	m.mu.Unlock()
	done = true
	for id, news := range unread {
		asking, cancel := context.WithTimeout(ctx, modesTimeout)
		answer, err := m.helix.ChatSettings(asking, helix.Room{BroadcasterID: id})
		cancel()
		if err != nil {
			m.log.Debug("can't ask Twitch for the modes of a chat", "channel", id, "error", err)
			m.update(id, func(c *channelModes) { c.known = nil })
			done = false
			continue
		}
		m.noteAnswer(id, news, answer)
	}
	return done
}

// Of returns the modes of a channel's chat as Twitch has last said them. ok is false if they aren't
// known. While the channel isn't read, they may have changed.
func (m *Modes) Of(channelID string) (known journal.ChatModes, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.channels[channelID]; c != nil && c.known != nil {
		return *c.known, true
	}
	return known, false
}

// Set changes modes of a channel's chat.
func (m *Modes) Set(ctx context.Context, channelID string, change journal.ChatModesChange) error {
	news := m.newsOf(channelID)
	answer, err := m.acting.SetChatModes(ctx, channelID, change)
	if answer != nil {
		m.noteAnswer(channelID, news, *answer)
	}
	return m.permissions.record(channelID, err)
}

// Modes returns the chat modes of the channels. Call Set only if Acts returns true.
func (t *Connection) Modes() *Modes { return t.modes }
