package chat

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/roles"
)

// First words of the chat commands.
const (
	QuotaCommand = "!quota"     // for everyone
	MainCommand  = "!chatguard" // for moderators and the broadcaster
)

const (
	maxCommands   = 16               // pending per channel and kind
	maxCommandAge = 30 * time.Second // an older question isn't answered any more
	answerTimeout = 10 * time.Second // limit for one answer
)

// commands queues chat commands for Options.Answer. A channel's commands are answered one at a
// time, those of moderators first.
type commands struct {
	bot     *Bot
	answers sync.WaitGroup

	mu sync.Mutex
	// closed and the fields below are guarded by mu, including the content of the queues.
	closed bool
	queues map[string]*commandQueue // by channel
}

// commandQueue holds the pending commands of one channel, oldest first.
type commandQueue struct {
	channelID  string
	wake       chan struct{}    // receives a value if a command was added or the queues are closed
	moderators []pendingCommand // from moderators and the broadcaster
	others     []pendingCommand
}

// pendingCommand is a command and when it was received.
type pendingCommand struct {
	message chatguard.Message
	at      time.Time
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

func isModerator(m *chatguard.Message) bool { return roles.Moderate(m.User.Roles) }

// enqueue queues a command. The command is answered unless acting ends first. enqueue never blocks.
// If too many of a moderator's commands are pending, enqueue drops the new one, because their order
// matters. If too many commands of other users are pending, it drops the oldest of these. It
// ignores a command of another user who already waits for an answer.
func (c *commands) enqueue(acting context.Context, m *chatguard.Message) {
	c.mu.Lock()
	d := c.queue(acting, m.ChannelID)
	dropped := d.add(pendingCommand{*m, c.bot.steady()})
	WakeUp(d.wake)
	c.mu.Unlock()
	c.warnDropped(dropped, "too many are pending")
}

// add adds a command to the queue, and returns those that it drops.
func (d *commandQueue) add(p pendingCommand) (dropped []pendingCommand) {
	switch {
	case isModerator(&p.message) && len(d.moderators) == maxCommands:
		return []pendingCommand{p}
	case isModerator(&p.message):
		d.moderators = append(d.moderators, p)
		return nil
	case slices.ContainsFunc(d.others, func(o pendingCommand) bool { return o.message.User.ID == p.message.User.ID }):
		return nil
	case len(d.others) == maxCommands:
		dropped, d.others = d.others[:1:1], d.others[1:]
	}
	d.others = append(d.others, p)
	return dropped
}

func (c *commands) warnDropped(dropped []pendingCommand, why string) {
	for _, p := range dropped {
		c.bot.sampler.warnKind("command: "+why, "a chat command isn't answered", "reason", why, "channel", p.message.ChannelID, "user", p.message.User.ID)
	}
}

// queue returns the queue of a channel. If there is none yet, it creates one and starts to serve
// it. The caller holds mu.
func (c *commands) queue(acting context.Context, channelID string) *commandQueue {
	d := c.queues[channelID]
	if d == nil {
		d = &commandQueue{channelID: channelID, wake: make(chan struct{}, 1)}
		c.queues[channelID] = d
		c.answers.Go(func() { c.serve(acting, d) })
	}
	return d
}

// serve answers a channel's commands until the queues are closed. A moderator's command is carried
// out at once. Any other command waits until the answer can be sent.
func (c *commands) serve(acting context.Context, d *commandQueue) {
	for {
		c.warnDropped(c.takeOld(d), "the bot may send no more messages for too long")
		p, wait, ok := c.next(d)
		if ok {
			c.answer(acting, p)
			continue
		}
		var free <-chan time.Time
		switch {
		case wait > 0:
			free = time.After(wait)
		case wait == never:
			return
		}
		select {
		case <-d.wake:
		case <-free:
		}
	}
}

// takeOld removes from a queue the questions that are too old to be answered, and returns them.
func (c *commands) takeOld(d *commandQueue) (old []pendingCommand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(d.others) && c.bot.steady().Sub(d.others[n].at) > maxCommandAge {
		n++
	}
	old, d.others = d.others[:n:n], d.others[n:]
	return old
}

// never is the wait that next returns when no further command will come.
const never = time.Duration(-1)

// next removes from a queue the next command that can be answered. If there is none, ok is false.
// wait is then the time until the chat accepts the next answer, 0 if no command is pending, or
// never if the queues are closed.
func (c *commands) next(d *commandQueue) (p pendingCommand, wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(d.moderators) > 0 {
		p, d.moderators = d.moderators[0], d.moderators[1:]
		return p, 0, true
	}
	if len(d.others) > 0 {
		if wait = c.bot.announcer.wait(d.channelID); wait == 0 {
			p, d.others = d.others[0], d.others[1:]
			return p, 0, true
		}
	}
	if c.closed { // those that would have to wait aren't answered
		return p, never, false
	}
	return p, wait, false
}

func (c *commands) answer(acting context.Context, p pendingCommand) {
	ctx, cancel := context.WithTimeout(acting, answerTimeout)
	defer cancel()
	m := &p.message
	answer := c.bot.options.Answer(ctx, *m)
	if answer != "" && !c.bot.announcer.say(announcement{channelID: m.ChannelID, text: answer, replyTo: m, toModerator: isModerator(m)}) {
		c.warnDropped([]pendingCommand{p}, "the answer is a repeat, or the bot may send no more messages now")
	}
}

// close waits until the pending commands have been answered, except those that would have to wait.
// enqueue must not be called after close.
func (c *commands) close() {
	c.mu.Lock()
	c.closed = true
	for _, d := range c.queues {
		WakeUp(d.wake)
	}
	c.mu.Unlock()
	c.answers.Wait()
}
