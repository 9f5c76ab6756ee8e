package chat

import (
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Notices configure the chat messages sent to throttled users.
type Notices struct {
	// Text is a template that may contain {name}, {wait} ("4 s") and {limit}. If it is empty, no
	// notices are sent.
	Text string

	// Cooldown is the minimum time between two notices to a user, at most a week; 0 means a minute.
	Cooldown time.Duration
}

// notices tells throttled users when they may write again, at most once per cooldown.
type notices struct {
	text    string
	telling sync.Mutex       // held while a notice is sent
	guard   *chatguard.Guard // one notice per cooldown, user and channel
}

func newNotices(n Notices, steady func() time.Time) *notices {
	if n.Cooldown <= 0 {
		n.Cooldown = time.Minute
	}
	guard, err := chatguard.New(chatguard.Policy{
		Limits: []chatguard.Limit{{Name: "notices", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: min(n.Cooldown, 7*24*time.Hour)}},
	}, &chatguard.Options{Now: steady})
	if err != nil {
		panic(err) // can't fail: the policy is valid for every cooldown
	}
	return &notices{text: n.Text, guard: guard}
}

// notify notifies the author of a deleted message if their cooldown is over. A warning or a timeout
// needs no notice, because the chat itself notifies the user.
func (b *Bot) notify(m *chatguard.Message, v *chatguard.Verdict) {
	if b.notices.text == "" || v.Never {
		return
	}
	b.notices.telling.Lock()
	defer b.notices.telling.Unlock()
	// The message has no time, so the Guard uses the notices' own clock.
	turn := chatguard.Message{ChannelID: m.ChannelID, User: chatguard.User{ID: m.User.ID}}
	if may, err := b.notices.guard.Peek(turn); err != nil || !may.Allowed {
		return
	}
	if !b.announcer.say(announcement{channelID: m.ChannelID, text: fill(b.notices.text, m, v.MaySpeakAt().Sub(b.options.Now()), v.Limit)}) {
		return
	}
	if _, err := b.notices.guard.Check(b.announcer.ctx, turn); err != nil {
		b.warn("a notice isn't counted", "error", err)
	}
}

// fill replaces the placeholders of a template.
func fill(text string, m *chatguard.Message, wait time.Duration, limit string) string {
	return strings.NewReplacer("{name}", m.User.Name(), "{wait}", chatguard.FormatWait(wait), "{limit}", limit).Replace(text)
}
