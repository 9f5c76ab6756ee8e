package chat

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// The first words of commands in chat.
const (
	QuotaCommand = "!quota"     // for everyone
	MainCommand  = "!chatguard" // for those who keep order in the channel
)

const (
	maxCommands   = 16               // of each kind that wait to be answered in a channel
	answerTimeout = 10 * time.Second // that answering one may take
)

// commands hands commands in chat to whoever can answer them: those of a channel one after the other, those of moderators first.
type commands struct {
	bot     *Bot
	answers sync.WaitGroup
	desks   map[string]*desk // by channel; the Source's goroutine only
}

// desk is where the commands of one channel wait.
type desk struct {
	keepers chan chatguard.Message // of those who keep order
	others  chan chatguard.Message
}

// isCommand reports whether a message is a command that its author may give. What moderators command counts even where the message is throttled.
func isCommand(m *chatguard.Message, allowed bool) bool {
	if !strings.HasPrefix(m.Text, "!") {
		return false
	}
	first, _, _ := strings.Cut(m.Text, " ")
	switch strings.ToLower(first) {
	case QuotaCommand:
		return allowed
	case MainCommand:
		return isKeeper(m)
	}
	return false
}

func isKeeper(m *chatguard.Message) bool { return m.User.Roles&keepers != 0 }

// take lets a command wait for its answer, which is given while acting lasts. It never blocks.
func (c *commands) take(acting context.Context, m *chatguard.Message) {
	d := c.desks[m.ChannelID]
	if d == nil {
		d = &desk{keepers: make(chan chatguard.Message, maxCommands), others: make(chan chatguard.Message, maxCommands)}
		c.desks[m.ChannelID] = d
		c.answers.Go(func() { c.serve(acting, d) })
	}
	queue := d.others
	if isKeeper(m) {
		queue = d.keepers
	}
	select {
	case queue <- *m:
	default:
		c.bot.complain("a command in chat isn't answered: too many wait", "channel", m.ChannelID, "user", m.User.ID)
	}
}

// serve answers a channel's commands until both queues are closed and empty.
func (c *commands) serve(acting context.Context, d *desk) {
	for {
		select {
		case m, ok := <-d.keepers:
			if ok {
				c.answer(acting, &m)
				continue
			}
			for m := range d.others { // both are closed
				c.answer(acting, &m)
			}
			return
		default:
		}
		select {
		case m, ok := <-d.keepers:
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
		c.bot.voice.say(saying{channelID: m.ChannelID, text: answer, replyTo: m.ID, toKeeper: isKeeper(m)})
	}
}

// close answers what waits, and returns when that is done. Nothing may be taken any more.
func (c *commands) close() {
	for _, d := range c.desks {
		close(d.keepers)
		close(d.others)
	}
	c.answers.Wait()
}
