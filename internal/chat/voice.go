package chat

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/chatguard/chatguard"
)

// What a chat takes of one account. Twitch ignores for half an hour whoever says more than 20 messages in 30 s (100 where it moderates), shows
// about one a second, and drops what was said in the last 30 s already.
const (
	sayEvery    = time.Second
	sayQueue    = 4                // that wait for their turn in a channel
	saySpan     = 35 * time.Second // longer than 30 s by as much as a message may wait for its turn
	sayPlain    = 20               // in that time
	sayAsKeeper = 100              // where the bot moderates
	repeatAfter = 30 * time.Second
	maxText     = 500 // characters
)

// Of the places in the queue, and of what an account may say, these are kept free for answers to those who keep order.
const forKeepers = 4

// sayWithin is how long after its turn something may still be said: what comes later is of no use to anybody.
const sayWithin = 5 * time.Second

// saying is something to be said.
type saying struct {
	channelID string
	text      string
	replyTo   string // the message that it answers; may be empty
	toKeeper  bool   // it answers somebody who keeps order
}

// voice is the Bot speaking, as fast as its own leaky bucket lets it. What doesn't fit is left unsaid: nobody waits for it.
type voice struct {
	bot    *Bot
	guard  *chatguard.Guard
	saying sync.WaitGroup
	ctx    context.Context // ends when nothing is to be said any more

	mu     sync.Mutex
	closed bool                            // all below are guarded by mu
	said   map[string]map[string]time.Time // by channel and text: when
	floors map[string]*floor               // by channel
}

// floor is a channel's: who has it speaks. One that the chat takes long for doesn't make the next come too soon.
type floor struct {
	taken chan struct{} // holds a value while something is being said
	last  time.Time     // when something was said last; only who has the floor touches it
}

func newVoice(b *Bot) *voice {
	guard, err := chatguard.New(chatguard.Policy{
		Mode: chatguard.Enforce,
		Limits: []chatguard.Limit{
			{Name: "pace", Algorithm: chatguard.LeakyBucket, Every: sayEvery, Queue: sayQueue},
			{
				Name: "account", Algorithm: chatguard.SlidingLog, Per: chatguard.PerUserEverywhere, Messages: sayPlain, Every: saySpan,
				Roles: map[chatguard.Role]chatguard.Override{chatguard.Moderator: {Messages: sayAsKeeper}},
			},
		},
	}, &chatguard.Options{Now: b.steady})
	if err != nil {
		panic(err) // the policy is as constant as this text
	}
	return &voice{bot: b, guard: guard, said: map[string]map[string]time.Time{}, floors: map[string]*floor{}}
}

// say lets something be said when its turn comes. It never blocks, and reports whether there is room for it.
func (v *voice) say(s saying) bool {
	s.text = speakable(s.text)
	if s.text == "" || v.bot.options.Moderator == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.toKeeper && v.repeats(s.channelID, s.text) {
		s.text = speakable(s.text + " (again)")
	}
	if v.closed || v.repeats(s.channelID, s.text) {
		return false
	}
	turn := chatguard.Message{ChannelID: s.channelID, User: chatguard.User{ID: "bot", Roles: v.roles(s.channelID)}, Cost: 1} // now, by the voice's own clock
	if !s.toKeeper {
		turn.Cost += forKeepers
		if room, err := v.guard.Peek(turn); err != nil || !room.Allowed {
			return false
		}
		turn.Cost = 1
	}
	verdict, err := v.guard.Check(v.ctx, turn)
	if err != nil || !verdict.Allowed {
		return false
	}
	v.said[s.channelID][s.text] = v.bot.steady()
	v.saying.Go(func() { v.speak(s, verdict.Delay) })
	return true
}

// speak says something after its delay, unless no request can be sent then.
func (v *voice) speak(s saying, delay time.Duration) {
	turn := time.NewTimer(delay)
	defer turn.Stop()
	select {
	case <-turn.C:
	case <-v.ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(v.ctx, sayWithin)
	defer cancel()
	err := v.takeFloor(ctx, s)
	if err != nil && v.ctx.Err() == nil {
		v.bot.complain("a message to the chat wasn't said", "channel", s.channelID, "error", err)
	}
}

// takeFloor says something once what was said before in the channel is said, and a second old.
func (v *voice) takeFloor(ctx context.Context, s saying) error {
	v.mu.Lock()
	f := v.floors[s.channelID]
	if f == nil {
		f = &floor{taken: make(chan struct{}, 1)}
		v.floors[s.channelID] = f
	}
	v.mu.Unlock()
	select {
	case f.taken <- struct{}{}:
		defer func() { <-f.taken }()
	case <-ctx.Done():
		return ctx.Err()
	}
	pause := time.NewTimer(sayEvery - v.bot.steady().Sub(f.last))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !s.toKeeper && v.bot.left() == 0 { // for those who keep order there is a reserve
		return errNoRoom
	}
	defer func() { f.last = v.bot.steady() }() // by then the chat has heard it
	return v.bot.options.Moderator.Say(ctx, s.channelID, s.text, s.replyTo)
}

var errNoRoom = errors.New("the request budget is used up")

func (v *voice) roles(channelID string) chatguard.Roles {
	if v.bot.options.Moderates != nil && v.bot.options.Moderates(channelID) {
		return chatguard.RolesOf(chatguard.Moderator)
	}
	return 0
}

// repeats reports whether the chat would drop the text, because it was said there a moment ago. The caller holds mu.
func (v *voice) repeats(channelID, text string) bool {
	now := v.bot.steady()
	if v.said[channelID] == nil {
		v.said[channelID] = map[string]time.Time{}
	}
	for earlier, at := range v.said[channelID] {
		if now.Sub(at) > repeatAfter+sayQueue*sayEvery {
			delete(v.said[channelID], earlier)
		}
	}
	_, again := v.said[channelID][text]
	return again
}

// close ends what is being said.
func (v *voice) close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.saying.Wait()
}

// speakable makes a text one line that a chat takes for words: no control characters, no command, at most 500 characters.
func speakable(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	text = strings.TrimSpace(strings.TrimLeft(text, " /."))
	n := 0
	for i := range text {
		if n == maxText {
			return text[:i]
		}
		n++
	}
	return text
}
