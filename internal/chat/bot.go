package chat

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/journal"
)

// Options are the parts of a Bot. Guard and Source are required.
type Options struct {
	Guard  *chatguard.Guard
	Source Source

	// Moderator carries out penalties. Nil where chatguard may only read: then every penalty is skipped.
	Moderator Moderator

	// Report is told the outcome of every throttled message. It must not block, and must be safe for concurrent use. Nil means nobody is told.
	Report func(journal.Outcome)

	// Answer carries out a command in chat, and returns what to say; empty says nothing. Nil means that there are no commands.
	Answer func(context.Context, chatguard.Message) string

	// Moderates reports whether the bot moderates a channel, where it may speak more. Nil means nowhere.
	Moderates func(channelID string) bool

	Notices Notices // what throttled users are told; the zero value tells them nothing

	SlowMode  time.Duration     // the slow mode that a flood ends in as a last resort; 0 means none. It needs Settings
	SlowModes map[string]string // what Settings kept of SlowModeSetting, by channel ID: it is put back at the start
	Settings  Settings          // keeps what slow mode was; nil means that it isn't touched

	Workers   int              // penalties under way at once in each channel; 0 means 32
	QueueSize int              // penalties that wait in each channel; 0 means 4096
	Patience  time.Duration    // how long a penalty may wait before it is given up as too late; 0 means 15 s
	Grace     time.Duration    // how long waiting penalties may still be carried out when the Bot stops; 0 means 5 s
	Now       func() time.Time // the chat's time; nil means the Guard's clock
	Logger    *slog.Logger
}

// Bot moderates: it holds what a Source brings against a Guard, and has a Moderator act on what was throttled. A channel's penalties begin in
// the order of the messages, and those of one user never overlap; no channel waits for another.
type Bot struct {
	options    Options
	steady     func() time.Time // for pauses and budgets: a clock that doesn't follow the steps of the wall clock
	backlog    *backlog
	brakes     *brakes
	voice      *voice
	notices    *notices
	commands   *commands
	complaints complaints
	repeats    repeats             // of the messages received; the Source's goroutine only
	verdicts   []chatguard.Verdict // of the batch being judged; the Source's goroutine only
	counts     counts
}

// New returns a Bot.
func New(o Options) *Bot {
	if o.Workers == 0 {
		o.Workers = 32
	}
	if o.QueueSize == 0 {
		o.QueueSize = 4096
	}
	if o.Patience == 0 {
		o.Patience = 15 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = o.Guard.Now
	}
	if o.Report == nil {
		o.Report = func(journal.Outcome) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bot{options: o, steady: clock.Monotonic()}
	b.backlog, b.brakes, b.voice = newBacklog(b), newBrakes(b), newVoice(b)
	b.commands = &commands{bot: b, desks: map[string]*desk{}}
	b.notices = newNotices(o.Notices, b.steady)
	return b
}

// Run reads and moderates until the context ends, then carries out what was waiting, for Grace at most. It returns nil when the context
// ended, and the Source's error where trying again can't help. Call it once.
func (b *Bot) Run(ctx context.Context) error {
	acting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	reading, ended := context.WithCancel(ctx)
	defer ended()
	b.voice.ctx = acting
	var parts sync.WaitGroup
	parts.Go(func() { b.backlog.run(acting) })
	parts.Go(func() { b.brakes.run(reading, acting) })

	err := b.options.Source.Run(ctx, sink{b, ctx, acting})
	ended()
	b.backlog.close()
	grace := time.AfterFunc(b.options.Grace, stop)
	defer grace.Stop()
	b.commands.close()
	parts.Wait()
	b.voice.close()
	return err
}

// Forgive drops the penalties that wait for a user's throttled messages from the first entry to the last, and lifts a silence that is being given
// for them once it is there. It returns the entries of both.
func (b *Bot) Forgive(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID) {
	return b.backlog.forgive(channelID, userID, first, last)
}

// Slowed returns how slow the channels are in which the Bot has turned slow mode on, by ID. The caller may not change what it returns.
func (b *Bot) Slowed() map[string]time.Duration {
	if applied := b.brakes.applied.Load(); applied != nil {
		return *applied
	}
	return nil
}

// sink is the Bot as its Source sees it, while Run runs.
type sink struct {
	bot         *Bot
	ctx, acting context.Context
}

func (s sink) Messages(messages []chatguard.Message) { s.bot.receive(s.ctx, s.acting, messages) }

func (s sink) Removed(r Removal) {
	s.bot.backlog.removed(r)
	if moderator := s.bot.options.Moderator; moderator != nil {
		moderator.Removed(r)
	}
}

// receive judges messages that arrived together, and lets penalties and commands wait for their turn, which they have while acting lasts.
func (b *Bot) receive(ctx, acting context.Context, messages []chatguard.Message) {
	messages = b.own(messages)
	if len(b.verdicts) < len(messages) {
		b.verdicts = make([]chatguard.Verdict, len(messages))
	}
	if err := b.options.Guard.CheckAll(ctx, messages, b.verdicts); err != nil {
		b.options.Logger.Warn("a message can't be judged", "error", err)
	}
	for i := range messages {
		m, v := &messages[i], &b.verdicts[i]
		if v.UserID == "" {
			continue // it couldn't be judged
		}
		b.counts.judged(*v)
		if !v.Allowed {
			b.throttled(m, v)
		}
		if b.options.Answer != nil && isCommand(m, v.Allowed) {
			b.commands.take(acting, m)
		}
	}
}

// own returns the messages that were written in the channel they appeared in, each once: a mirrored one is judged where it was written. It
// reuses the slice.
func (b *Bot) own(messages []chatguard.Message) []chatguard.Message {
	kept := messages[:0]
	for _, m := range messages {
		if !m.Mirrored() && !b.repeats.again(&m) {
			kept = append(kept, m)
		}
	}
	return kept
}

// throttled has a message acted on.
func (b *Bot) throttled(m *chatguard.Message, v *chatguard.Verdict) {
	j := job{message: *m, verdict: *v, since: b.steady()}
	if refused := b.backlog.add(j); refused != "" {
		b.report(&j, v.Penalty.Action, journal.Skipped, refused)
	}
}

// left is how many requests can be sent now.
func (b *Bot) left() int {
	if b.options.Moderator == nil {
		return math.MaxInt
	}
	return b.options.Moderator.Left(0)
}

// requests asks the platform for the requests that it takes, and for what is wrong with it.
func (b *Bot) requests() (r requests) {
	if b.options.Moderator == nil {
		return requests{left: math.MaxInt, soon: math.MaxInt}
	}
	r.left, r.soon = b.left(), b.options.Moderator.Left(mergeWithin)
	r.refused, r.failed = b.options.Moderator.Trouble()
	return r
}

func (b *Bot) report(j *job, action chatguard.Action, result journal.Result, reason string) {
	b.counts.acted(action, result)
	if result != journal.Done {
		m := &j.message
		b.complainOf(string(result)+reason, "no penalty", "channel", m.ChannelID, "user", m.User.ID, "login", m.User.Login, "message", m.ID,
			"penalty", j.verdict.Penalty, "result", result, "reason", reason)
	}
	b.options.Report(journal.Outcome{Entry: j.verdict.EntryID, At: b.options.Now(), Action: action, Result: result, Reason: reason})
}
