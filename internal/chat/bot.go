package chat

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/recent"
	"github.com/chatguard/chatguard/internal/watchdog"
)

// Options configure a Bot. Guard and Source are required.
type Options struct {
	Guard  *chatguard.Guard
	Source Source

	// Moderator carries out penalties. Nil means that chatguard may only read; every penalty is
	// then skipped.
	Moderator Moderator

	// Report receives the outcome of every throttled message. It must not block and must be safe
	// for concurrent use. Nil means that outcomes are discarded.
	Report func(journal.Outcome)

	// Commit waits until everything recorded so far is stored, until that is known to fail, or
	// until the context ends. The Bot calls it before each ban. Nil means that nothing is stored.
	Commit func(context.Context) (saved bool)

	// Answer carries out a chat command and returns the reply; an empty reply is not sent. Nil
	// means that there are no commands.
	Answer func(context.Context, chatguard.Message) string

	// Moderates reports whether the bot moderates a channel, which allows it to send more messages.
	// Nil means that it moderates nowhere.
	Moderates func(channelID string) bool

	// Notices returns the notices to throttled users of a channel. They may change at any time. Nil
	// means that none are sent.
	Notices func(channelID string) Notices

	// SlowMode is the slow mode set as a last resort in a flood; 0 means none. It requires
	// Settings.
	SlowMode time.Duration
	// SlowModes are the values of SlowModeSetting saved in Settings, by channel ID. They are
	// restored at the start.
	SlowModes map[string]string
	Settings  Settings // stores the former slow mode; nil disables it

	// Workers is how many penalties of a channel may be busy at once; 0 means 32. Penalties that
	// wait for a retry don't count, but at most 2*Workers are in progress in all.
	Workers   int
	QueueSize int           // pending penalties per channel; 0 means 4096
	Patience  time.Duration // how long a penalty may be pending; 0 means 15 s
	// Grace is how long pending penalties may still be carried out when the Bot stops; 0 means 5 s.
	Grace  time.Duration
	Now    func() time.Time // the chat's clock; nil means the Guard's
	Logger *slog.Logger
}

// Bot moderates a chat. It checks the messages from a Source with a Guard and has a Moderator act
// on throttled messages. A channel's penalties start in message order, and a user's penalties never
// overlap. No channel waits for another.
type Bot struct {
	options Options
	// steady is the clock for pauses and budgets. It ignores steps of the wall clock.
	steady    func() time.Time
	backlog   *backlog
	slowModes *slowModes
	announcer *announcer
	notices   *notices
	commands  *commands
	sampler   logSampler
	receiving sync.Mutex                   // of received
	received  recent.Map[string, struct{}] // the IDs of recent messages
	colors    colors
	batches   sync.Pool // of *batch
	counts    counts
	durations durations
	judging   watchdog.Work
	choosing  watchdog.Work // of the next penalty
}

// New returns a Bot.
func New(o Options) *Bot {
	o.Workers = cmp.Or(o.Workers, 32)
	o.QueueSize = cmp.Or(o.QueueSize, 4096)
	o.Patience = cmp.Or(o.Patience, 15*time.Second)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	if o.Now == nil {
		o.Now = o.Guard.Now
	}
	if o.Notices == nil {
		o.Notices = func(string) Notices { return Notices{} }
	}
	if o.Report == nil {
		o.Report = func(journal.Outcome) {}
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	b := &Bot{options: o, steady: clock.Monotonic(), received: recent.Map[string, struct{}]{Size: maxRepeats}, durations: newDurations()}
	b.colors.authors.Size = maxColors
	b.sampler.logger, b.sampler.now = o.Logger, b.steady
	b.judging.Name, b.choosing.Name = "judging messages", "choosing the next penalty"
	b.backlog, b.announcer = newBacklog(b), newAnnouncer(b)
	b.slowModes = &slowModes{bot: b, floods: make(chan string, 64), channels: map[string]*channelSlowMode{}, turns: make(chan struct{}, 1)}
	b.slowModes.load()
	b.commands = &commands{bot: b, queues: map[string]*commandQueue{}}
	b.notices = newNotices(b.steady)
	return b
}

// Run reads and moderates until the context ends, then carries out pending penalties for at most
// Grace. It returns nil if the context ended, or the Source's error if trying again can't help.
// Call it once.
func (b *Bot) Run(ctx context.Context) error {
	acting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	reading, ended := context.WithCancel(ctx)
	defer ended()
	b.announcer.ctx = acting
	var parts sync.WaitGroup
	parts.Go(func() { b.backlog.run(acting) })
	parts.Go(func() { b.slowModes.run(reading, acting) })

	err := b.options.Source.Run(ctx, sink{b, ctx, acting})
	ended()
	b.backlog.close()
	grace := time.AfterFunc(b.options.Grace, stop)
	defer grace.Stop()
	b.commands.close()
	parts.Wait()
	b.announcer.close()
	return err
}

// Forgive drops the pending penalties for a user's throttled messages from entry first to entry
// last. If a timeout or ban for these messages is in progress, the Bot lifts it when it is
// complete. Forgive returns the entries of the dropped penalties, and those of the penalty in
// progress.
func (b *Bot) Forgive(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID) {
	return b.backlog.pardon(channelID, userID, first, last)
}

// Stuck returns what the Bot has been doing for longer than limit, or "". Waiting for messages, for
// Twitch's answers and for its request limit doesn't count. limit must be longer than the timeout
// of a store that nodes share, because judging a message may wait for the store.
func (b *Bot) Stuck(now time.Time, limit time.Duration) string {
	return cmp.Or(b.judging.Stuck(now, limit), b.choosing.Stuck(now, limit))
}

// Slowed returns the channels in which the Bot has turned on slow mode, by ID, with their delays.
// The caller must not change the map.
func (b *Bot) Slowed() map[string]time.Duration {
	if applied := b.slowModes.applied.Load(); applied != nil {
		return *applied
	}
	return nil
}

// Counts returns the counts so far.
func (b *Bot) Counts() Counts { return b.counts.read() }

// Pending returns how many penalties are pending or in progress.
func (b *Bot) Pending() int { return b.backlog.len() }

// sink is the Sink that a running Bot passes to its Source.
type sink struct {
	bot         *Bot
	ctx, acting context.Context
}

func (s sink) Messages(read time.Time, messages []Message) {
	s.bot.receive(s.ctx, s.acting, read, messages)
}

func (s sink) Removed(r Removal) {
	s.bot.backlog.noteRemoval(r)
	if moderator := s.bot.options.Moderator; moderator != nil {
		moderator.Removed(r)
	}
}

func (s sink) Lifted(l Lift) {
	if moderator := s.bot.options.Moderator; moderator != nil {
		moderator.Lifted(l)
	}
}

// batch has room for messages that arrived together, and for their verdicts.
type batch struct {
	messages []chatguard.Message
	verdicts []chatguard.Verdict
}

// receive judges messages that arrived together, then queues penalties and commands. acting is the
// context for answering the commands, and read is when the messages were read.
func (b *Bot) receive(ctx, acting context.Context, read time.Time, arrived []Message) {
	defer b.judging.End(b.judging.Begin(time.Now()))
	pooled, ok := b.batches.Get().(*batch)
	if !ok {
		pooled = new(batch)
	}
	defer b.batches.Put(pooled)
	pooled.messages = b.ownMessages(pooled.messages[:0], arrived)
	messages := pooled.messages
	defer clear(messages) // release the lines
	if len(pooled.verdicts) < len(messages) {
		pooled.verdicts = make([]chatguard.Verdict, len(messages))
	}
	verdicts := pooled.verdicts
	if err := b.options.Guard.CheckAll(ctx, messages, verdicts); err != nil {
		b.options.Logger.Warn("a message can't be judged", "error", err)
	}
	b.durations.noteVerdicts(read, len(messages))
	for i := range messages {
		m, v := &messages[i], &verdicts[i]
		if v.UserID == "" {
			continue // could not be judged
		}
		b.counts.countVerdict(*v)
		if b.options.Moderator != nil {
			b.options.Moderator.Wrote(m.ChannelID, m.User.ID, m.SentAt)
		}
		if !v.Allowed {
			b.queuePenalty(m, v)
		}
		if b.options.Answer != nil && isCommand(m, v.Allowed) {
			b.commands.enqueue(acting, m)
		}
	}
}

// ownMessages appends to kept the messages that were written in the channel where they appeared,
// without repeats. A mirrored message is judged only in the channel where it was written.
func (b *Bot) ownMessages(kept []chatguard.Message, arrived []Message) []chatguard.Message {
	for i := range arrived {
		if m := &arrived[i]; !m.Mirrored() && !b.isRepeat(m.ID) {
			b.colors.note(author{m.ChannelID, m.User.ID}, m.Color)
			kept = append(kept, m.Message)
		}
	}
	return kept
}

// maxRepeats is the minimum number of message IDs that are remembered.
const maxRepeats = 1 << 15

// isRepeat reports whether a message with this ID was received recently, and records it. A chat may
// deliver messages twice, for example after a reconnect. An empty ID never counts as a repeat.
func (b *Bot) isRepeat(id string) bool {
	if id == "" {
		return false
	}
	b.receiving.Lock()
	defer b.receiving.Unlock()
	if _, ok := b.received.Get(id); ok {
		return true
	}
	// the ID may share the memory of a whole line
	b.received.Set(strings.Clone(id), struct{}{}, time.Time{})
	return false
}

// queuePenalty queues the penalty for a throttled message.
func (b *Bot) queuePenalty(m *chatguard.Message, v *chatguard.Verdict) {
	j := job{message: *m, verdict: *v, since: b.steady()}
	if refused := b.backlog.add(j); refused != "" {
		b.report(&j, v.Penalty.Action, journal.Skipped, refused)
	}
}

// requestsLeft returns how many requests can be sent now.
func (b *Bot) requestsLeft() int {
	if b.options.Moderator == nil {
		return math.MaxInt
	}
	return b.options.Moderator.Left(0)
}

// requests returns the number of requests that the platform accepts, and its current problems.
func (b *Bot) requests() (r requests) {
	if b.options.Moderator == nil {
		return requests{left: math.MaxInt, soon: math.MaxInt}
	}
	r.left, r.soon = b.requestsLeft(), b.options.Moderator.Left(mergeWithin)
	r.refused, r.failed = b.options.Moderator.Trouble()
	return r
}

func (b *Bot) report(j *job, action chatguard.Action, result journal.Result, reason string) {
	b.counts.countOutcome(action, result)
	if result != journal.Done {
		m := &j.message
		b.sampler.warnKind(string(result)+reason, "no penalty", "channel", m.ChannelID, "user", m.User.ID, "login", m.User.Login, "message", m.ID,
			"penalty", j.verdict.Penalty, "result", result, "reason", reason)
	}
	b.options.Report(journal.Outcome{Entry: j.verdict.EntryID, At: b.options.Now(), Action: action, Result: result, Reason: reason})
}
