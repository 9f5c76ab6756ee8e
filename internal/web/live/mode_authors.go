package live

import (
	"sync"

	"github.com/chatguard/chatguard/internal/journal"
)

// modeAuthors are those who last switched the modes of channels' chats here. It is safe for
// concurrent use.
type modeAuthors struct {
	mu sync.Mutex
	of map[string]modesChange // by channel ID
}

// modesChange is who switched chat modes, and all modes after that.
type modesChange struct {
	author string
	modes  journal.ChatModes
}

// add records who has switched modes. channels have the modes that the chats say now.
func (m *modeAuthors) add(a journal.Audit, change journal.ChatModesChange, channels []Channel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range channels {
		if c.ID == a.ChannelID && c.Modes != nil {
			m.of[c.ID] = modesChange{a.Author, c.Modes.Apply(change)}
		}
	}
}

// author returns who has made a channel's modes what they are now. If they differ from what the
// last author made them, or aren't known, it forgets that author: somebody else may have changed
// them.
func (m *modeAuthors) author(channelID string, now *journal.ChatModes) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.of[channelID]
	if now == nil || last.modes != *now {
		delete(m.of, channelID)
		return ""
	}
	return last.author
}
