package chat

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
)

// First words of the chat commands.
const (
	QuotaCommand = "!quota"     // for everyone
	MainCommand  = "!chatguard" // for moderators and the broadcaster
)

const (
	maxCommands   = 16               // pending per channel and kind
	answerTimeout = 10 * time.Second // limit for one answer
)

// commands queues chat commands for Options.Answer. A channel's commands are answered one at a
// time, those of moderators first.
type commands struct {
	bot     *Bot
	answers sync.WaitGroup

	mu     sync.Mutex
	queues map[string]*commandQueue // by channel
}

// commandQueue holds the pending commands of one channel.
type commandQueue struct {
	moderators chan chatguard.Message // from moderators and the broadcaster
	others     chan chatguard.Message
}

// isCommand reports whether a message is a command that its author may use. A moderator's command
// counts even if the message is throttled.
func isCommand(m *chatguard.Message, allowed bool) bool {
	if !strings.Contains(m.Text, "!") {
		return false // most messages
	}
	words := hostile.TypedWords(m.Text)
	switch strings.ToLower(words[0]) {
	case QuotaCommand:
		return allowed
	case MainCommand:
		return isModerator(m)
	}
	return false
}

func isModerator(m *chatguard.Message) bool { return m.User.Roles&moderators != 0 }

// enqueue queues a command. The command is answered unless acting ends first. enqueue never blocks.
func (c *commands) enqueue(acting context.Context, m *chatguard.Message) {
	d := c.queue(acting, m.ChannelID)
	queue := d.others
	if isModerator(m) {
		queue = d.moderators
	}
	select {
	case queue <- *m:
	default:
		c.bot.warn("a chat command isn't answered: too many are pending", "channel", m.ChannelID, "user", m.User.ID)
	}
}

// queue returns the queue of a channel. It begins to answer the commands of a new one.
func (c *commands) queue(acting context.Context, channelID string) *commandQueue {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.queues[channelID]
	if d == nil {
		d = &commandQueue{moderators: make(chan chatguard.Message, maxCommands), others: make(chan chatguard.Message, maxCommands)}
		c.queues[channelID] = d
		c.answers.Go(func() { c.serve(acting, d) })
	}
	return d
}

// serve answers a channel's commands until both queues are closed and empty.
func (c *commands) serve(acting context.Context, d *commandQueue) {
	for {
		select {
		case m, ok := <-d.moderators:
			if ok {
				c.answer(acting, &m)
				continue
			}
			for m := range d.others { // both queues are closed
				c.answer(acting, &m)
			}
			return
		default:
		}
		select {
		case m, ok := <-d.moderators:
			if ok {
				c.answer(acting, &m)
			}
		case m, ok := <-d.others:
			if ok {
				c.answer(acting, &m)
			}
		}
	}
}

func (c *commands) answer(acting context.Context, m *chatguard.Message) {
	ctx, cancel := context.WithTimeout(acting, answerTimeout)
	defer cancel()
	if answer := c.bot.options.Answer(ctx, *m); answer != "" {
		c.bot.announcer.say(announcement{channelID: m.ChannelID, text: answer, replyTo: m.ID, toModerator: isModerator(m)})
	}
}

// close waits until the pending commands have been answered. enqueue must not be called after
// close.
func (c *commands) close() {
	c.mu.Lock()
	for _, d := range c.queues {
		close(d.moderators)
		close(d.others)
	}
	c.mu.Unlock()
	c.answers.Wait()
}
