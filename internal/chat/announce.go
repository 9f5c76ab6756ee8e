package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
)

// A chat's limits for one account. Twitch ignores an account for half an hour if it sends more than
// 20 messages in 30 s, or more than 100 in channels where it moderates. Twitch shows about one
// message per second, and drops repeats of messages from the last 30 s.
const (
	sayEvery       = time.Second
	sayQueue       = 4                // pending messages per channel
	saySpan        = 35 * time.Second // 30 s plus the time a message may be pending
	sayPlain       = 20               // messages per saySpan
	sayAsModerator = 100              // messages per saySpan where the bot moderates
	repeatAfter    = 30 * time.Second
	maxText        = 500 // characters
)

// reservedForModerators is how many places in the queue and in the account's limit are reserved for
// answers to moderators and the broadcaster.
const reservedForModerators = 4

// sayWithin is how late a message may still be sent. After that, it would be useless.
const sayWithin = 5 * time.Second

// announcement is a message to be sent.
type announcement struct {
	channelID   string
	text        string
	replyTo     *chatguard.Message // that it answers; may be nil
	toModerator bool               // answers a moderator or the broadcaster
}

// announcer sends the Bot's messages at the rate of its own leaky bucket. It drops messages that
// don't fit, so that callers never wait.
type announcer struct {
	bot     *Bot
	guard   *chatguard.Guard
	sending sync.WaitGroup
	ctx     context.Context // ends when nothing more may be sent

	mu sync.Mutex
	// closed and the fields below are guarded by mu.
	closed   bool
	lastSaid map[string]map[string]time.Time // times by channel and text
	turns    map[string]*channelTurn         // by channel
}

// channelTurn lets the announcer send one announcement at a time to a channel. The next one is sent
// a second after the chat answered the previous one, even if that answer was late.
type channelTurn struct {
	taken chan struct{} // holds a value while a message is sent
	// last is when the chat answered the last announcement. Only the holder of taken accesses it.
	last time.Time
}

func newAnnouncer(b *Bot) *announcer {
	guard, err := chatguard.New(chatguard.Policy{
		Limits: []chatguard.Limit{
			{Name: "pace", Algorithm: chatguard.LeakyBucket, Every: sayEvery, Queue: sayQueue},
			{
				Name: "account", Algorithm: chatguard.SlidingLog, Per: chatguard.PerUserEverywhere, Messages: sayPlain, Every: saySpan,
				Roles: map[chatguard.Role]chatguard.Override{chatguard.RoleModerator: {Messages: sayAsModerator}},
			},
		},
	}, &chatguard.Options{Now: b.steady})
	if err != nil {
		panic(err) // the policy is constant
	}
	return &announcer{bot: b, guard: guard, lastSaid: map[string]map[string]time.Time{}, turns: map[string]*channelTurn{}}
}

// say queues a message and reports whether it did. It never blocks.
func (a *announcer) say(s announcement) bool {
	s.text = plainLine(s.text)
	if s.text == "" || a.bot.options.Moderator == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.toModerator {
		s.text = a.unsaid(s.channelID, s.text)
	}
	if a.closed || a.wasSaid(s.channelID, s.text) {
		return false
	}
	if !s.toModerator && a.wait(s.channelID) > 0 {
		return false
	}
	verdict, err := a.guard.Check(a.ctx, a.turn(s.channelID))
	if err != nil || !verdict.Allowed {
		return false
	}
	a.lastSaid[s.channelID][s.text] = a.bot.steady()
	a.sending.Go(func() { a.sendLater(s, verdict.Delay) })
	return true
}

// turn returns the message that the Guard judges before the bot writes to a channel. It has no
// time, so the Guard uses the announcer's own clock.
func (a *announcer) turn(channelID string) chatguard.Message {
	return chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: "bot", Roles: a.roles(channelID)}, Cost: 1}
}

// wait returns the time until a message to anybody but a moderator can be sent to a channel.
func (a *announcer) wait(channelID string) time.Duration {
	turn := a.turn(channelID)
	turn.Cost += reservedForModerators
	room, err := a.guard.Peek(a.ctx, turn)
	if err != nil || room.Allowed {
		return 0
	}
	return room.RetryAfter
}

// sendLater sends an announcement after its delay. If it can't be sent then, sendLater logs a
// warning.
func (a *announcer) sendLater(s announcement, delay time.Duration) {
	turn := time.NewTimer(delay)
	defer turn.Stop()
	select {
	case <-turn.C:
	case <-a.ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, sayWithin)
	defer cancel()
	err := a.send(ctx, s)
	if err != nil && a.ctx.Err() == nil {
		a.bot.sampler.warn("a message to the chat wasn't sent", "channel", s.channelID, "error", err)
	}
}

// send sends an announcement, at the earliest a second after the previous one in the channel.
func (a *announcer) send(ctx context.Context, s announcement) error {
	a.mu.Lock()
	f := a.turns[s.channelID]
	if f == nil {
		f = &channelTurn{taken: make(chan struct{}, 1)}
		a.turns[s.channelID] = f
	}
	a.mu.Unlock()
	select {
	case f.taken <- struct{}{}:
		defer func() { <-f.taken }()
	case <-ctx.Done():
		return ctx.Err()
	}
	pause := time.NewTimer(sayEvery - a.bot.steady().Sub(f.last))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !s.toModerator && a.bot.requestsLeft() == 0 { // messages to moderators have a reserve
		return errNoRoom
	}
	defer func() { f.last = a.bot.steady() }() // the chat has received the message by then
	if s.replyTo == nil {
		return a.bot.options.Moderator.Say(ctx, s.channelID, s.text, "")
	}
	err := a.bot.options.Moderator.Say(ctx, s.channelID, s.text, s.replyTo.ID)
	if errors.Is(err, ErrNoParent) {
		// The chat has refused the message, so nobody sees it twice.
		err = a.bot.options.Moderator.Say(ctx, s.channelID, addressed(s.text, s.replyTo.User.Name()), "")
	}
	return err
}

// addressed returns a text that begins with the name of the user to whom it is addressed.
func addressed(text, name string) string {
	if mention := "@" + name; !strings.HasPrefix(text, mention) {
		return plainLine(mention + " " + text)
	}
	return text
}

var errNoRoom = errors.New("the request budget is used up")

func (a *announcer) roles(channelID string) chatguard.Roles {
	if a.bot.options.Moderates != nil && a.bot.options.Moderates(channelID) {
		return chatguard.Roles{chatguard.RoleModerator}
	}
	return nil
}

// unsaid returns the text, with a suffix if the chat would drop the text as a repeat. The caller
// holds mu.
func (a *announcer) unsaid(channelID, text string) string {
	other := text
	for n := 1; a.wasSaid(channelID, other); n++ {
		suffix := " (again)"
		if n > 1 {
			suffix = fmt.Sprintf(" (again, %d)", n)
		}
		other = hostile.Truncate(text, maxText-len(suffix)) + suffix
	}
	return other
}

// wasSaid reports whether the chat would drop the text because it was recently sent to the channel.
// The caller holds mu.
func (a *announcer) wasSaid(channelID, text string) bool {
	now := a.bot.steady()
	if a.lastSaid[channelID] == nil {
		a.lastSaid[channelID] = map[string]time.Time{}
	}
	for earlier, at := range a.lastSaid[channelID] {
		if now.Sub(at) > repeatAfter+sayQueue*sayEvery {
			delete(a.lastSaid[channelID], earlier)
		}
	}
	_, again := a.lastSaid[channelID][text]
	return again
}

// close rejects new messages and waits for the pending ones.
func (a *announcer) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.sending.Wait()
}

// plainLine returns the text as one line that a chat shows as plain text. The line has no control
// characters and at most 500 characters, and is not a command.
func plainLine(text string) string {
	text = strings.TrimLeftFunc(text, func(c rune) bool { return c == '/' || c == '.' || hostile.IsBlank(c) })
	return hostile.OneLine(text, maxText)
}
