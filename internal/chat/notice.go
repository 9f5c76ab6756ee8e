package chat

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
)

// Notices configure the chat messages sent to throttled users.
type Notices struct {
	// Text is a template that may contain {name}, {wait} ("4 s") and {limit}. If it is empty, no
	// notices are sent. For a repeated text, the notice has words of its own: another message may
	// be allowed before the wait is over.
	Text string

	// Cooldown is the minimum time between two notices to a user, at most a week; 0 means a minute.
	Cooldown time.Duration

	// Language is the language of the wait, and of the reasons for penalties. Empty means English.
	Language string
}

// notices tells throttled users when they may write again, at most once per cooldown.
type notices struct {
	telling   sync.Mutex               // held while a notice is sent; guards the cooldowns
	guard     *chatguard.Guard         // one notice per cooldown, user and channel
	cooldowns map[string]time.Duration // of the channels whose cooldown isn't a minute
}

// defaultCooldown is the cooldown of a channel that sets none, and mostCooldown the maximum.
const (
	defaultCooldown = time.Minute
	mostCooldown    = 7 * 24 * time.Hour
)

func newNotices(steady func() time.Time) *notices {
	guard, err := chatguard.New(oncePer(defaultCooldown), &chatguard.Options{Now: steady})
	if err != nil {
		panic(err) // can't fail: the policy is valid
	}
	return &notices{guard: guard, cooldowns: map[string]time.Duration{}}
}

// oncePer returns a policy that allows one notice per cooldown.
func oncePer(cooldown time.Duration) chatguard.Policy {
	return chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("notices", 1, cooldown)}}
}

// setCooldown puts a channel's cooldown in force. A user who was notified before waits as if it had
// been in force then.
func (n *notices) setCooldown(channelID string, cooldown time.Duration) error {
	cooldown = min(cooldown, mostCooldown)
	if cooldown <= 0 {
		cooldown = defaultCooldown
	}
	if cmp.Or(n.cooldowns[channelID], defaultCooldown) == cooldown {
		return nil
	}
	n.cooldowns[channelID] = cooldown
	return n.guard.SetChannelPolicy(channelID, oncePer(cooldown))
}

// notify notifies the author of a deleted message if their cooldown is over. A warning or a timeout
// needs no notice, because the chat itself notifies the user.
func (b *Bot) notify(m *chatguard.Message, v *chatguard.Verdict) {
	settings := b.options.Notices(m.ChannelID)
	if settings.Text == "" || v.Never {
		return
	}
	b.notices.telling.Lock()
	defer b.notices.telling.Unlock()
	if err := b.notices.setCooldown(m.ChannelID, settings.Cooldown); err != nil {
		b.sampler.warn("the cooldown of notices can't be changed", "error", err)
	}
	// The message has no time, so the Guard uses the notices' own clock.
	turn := chatguard.Message{ChannelID: m.ChannelID, User: chatguard.User{ID: m.User.ID}}
	if may, err := b.notices.guard.Peek(b.announcer.ctx, turn); err != nil || !may.Allowed {
		return
	}
	if !b.announcer.say(announcement{channelID: m.ChannelID, text: b.fill(settings, m, v)}) {
		return
	}
	if _, err := b.notices.guard.Check(b.announcer.ctx, turn); err != nil {
		b.sampler.warn("a notice isn't counted", "error", err)
	}
}

// fill returns a notice: a template with its placeholders replaced.
func (b *Bot) fill(settings Notices, m *chatguard.Message, v *chatguard.Verdict) string {
	texts := language.Chat(settings.Language)
	wait := texts.Wait(journal.MaySpeakAt(*v).Sub(b.options.Now()))
	limit := inner.Of(b.options.Guard).Limit(m.ChannelID, v.Limit)
	if inner.IsText(limit.Per) {
		return texts.Text("notice-same", language.Values{"name": m.User.Name(), "wait": wait})
	}
	return strings.NewReplacer("{name}", m.User.Name(), "{wait}", wait, "{limit}", texts.LimitTitle(v.Limit, limit.Title)).Replace(settings.Text)
}
