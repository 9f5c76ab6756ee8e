package chat

import (
	"context"
	"strings"

	"github.com/chatguard/chatguard"
)

// The first words of commands in chat.
const (
	QuotaCommand = "!quota"     // for everyone
	MainCommand  = "!chatguard" // for those who keep order in the channel
)

// maxCommands is how many commands wait to be answered.
const maxCommands = 32

// commands hands commands in chat to whoever can answer them, one after the other.
type commands struct {
	bot   *Bot
	queue chan chatguard.Message
}

// isCommand reports whether a message is a command that its author may give.
func isCommand(m *chatguard.Message) bool {
	if !strings.HasPrefix(m.Text, "!") {
		return false
	}
	first, _, _ := strings.Cut(m.Text, " ")
	switch strings.ToLower(first) {
	case QuotaCommand:
		return true
	case MainCommand:
		return m.User.Roles&keepers != 0
	}
	return false
}

// take lets a command wait for its answer. It never blocks.
func (c *commands) take(m *chatguard.Message) {
	select {
	case c.queue <- *m:
	default:
		c.bot.complain("a command in chat isn't answered: too many wait", "channel", m.ChannelID, "user", m.User.ID)
	}
}

// run answers until the queue is closed.
func (c *commands) run(acting context.Context) {
	for m := range c.queue {
		if answer := c.bot.options.Answer(acting, m); answer != "" {
			c.bot.voice.say(m.ChannelID, answer, m.ID)
		}
	}
}
