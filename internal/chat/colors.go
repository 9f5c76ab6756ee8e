package chat

import (
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/recent"
)

// maxColors is the minimum number of authors whose colors are remembered.
const maxColors = 1 << 15

// colors are the colors of the names of users who wrote recently.
type colors struct {
	mu      sync.RWMutex
	authors recent.Map[author, string]
}

// author is a user in a channel. In other channels of the Guard, which may belong to another
// platform, the same ID may be somebody else's.
type author struct{ channelID, userID string }

// note records the color of an author's name. An author without a color, who also had none before,
// takes no memory.
func (c *colors) note(a author, color string) {
	known := c.of(a)
	if color == "" && known == "" {
		return
	}
	if color != known {
		known = strings.Clone(color) // like the IDs, it may share the memory of a whole line
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.authors.Set(author{strings.Clone(a.channelID), strings.Clone(a.userID)}, known, time.Time{})
}

func (c *colors) of(a author) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	color, _ := c.authors.Get(a)
	return color
}

// ColorOf returns the color of a user's name in a channel, such as "#1e90ff". It is empty if the
// user has none, or hasn't written recently. An observer of the Guard may ask for the color of a
// message that it gets through the Bot.
func (b *Bot) ColorOf(channelID, userID string) string { return b.colors.of(author{channelID, userID}) }
