package chat

import (
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Notices are what throttled users are told in the chat.
type Notices struct {
	// Text may hold {name}, {wait} ("4 s") and {limit}. Empty tells nobody anything.
	Text string

	Cooldown time.Duration // how long a user isn't told again, a week at most; 0 means a minute
}

// notices tells throttled users when they may go on, each once in a while.
type notices struct {
	text    string
	telling sync.Mutex       // held while one is told
	guard   *chatguard.Guard // one notice in a cooldown, for each user in each channel
}

func newNotices(n Notices, steady func() time.Time) *notices {
	if n.Cooldown <= 0 {
		n.Cooldown = time.Minute
	}
	guard, err := chatguard.New(chatguard.Policy{
		Mode:   chatguard.Enforce,
		Limits: []chatguard.Limit{{Name: "notices", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: min(n.Cooldown, 7*24*time.Hour)}},
	}, &chatguard.Options{Now: steady})
	if err != nil {
		panic(err) // every cooldown makes a valid policy
	}
	return &notices{text: n.Text, guard: guard}
}

// tell tells the author of a message that was deleted, where it is their turn. Whom the chat itself tells, of a warning or a timeout, needs no notice.
func (b *Bot) tell(m *chatguard.Message, v *chatguard.Verdict) {
	if b.notices.text == "" || v.Never {
		return
	}
	b.notices.telling.Lock()
	defer b.notices.telling.Unlock()
	turn := chatguard.Message{ChannelID: m.ChannelID, User: chatguard.User{ID: m.User.ID}} // now, by the notices' own clock
	if may, err := b.notices.guard.Peek(turn); err != nil || !may.Allowed {
		return
	}
	if !b.voice.say(saying{channelID: m.ChannelID, text: fill(b.notices.text, m, v.MaySpeakAt().Sub(b.options.Now()), v.Limit)}) {
		return
	}
	if _, err := b.notices.guard.Check(b.voice.ctx, turn); err != nil {
		b.complain("a notice isn't counted", "error", err)
	}
}

// fill puts what a template asks for in its place.
func fill(text string, m *chatguard.Message, wait time.Duration, limit string) string {
	return strings.NewReplacer("{name}", m.User.Name(), "{wait}", chatguard.Wait(wait), "{limit}", limit).Replace(text)
}
