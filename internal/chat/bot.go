package chat

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
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

	Workers   int           // penalties under way at once in each channel; 0 means 4
	QueueSize int           // penalties that wait for one worker; 0 means 256
	Grace     time.Duration // how long waiting penalties may still be carried out when the Bot stops; 0 means 5 s
	Now       func() time.Time
	Logger    *slog.Logger
}

// Bot moderates: it holds what a Source brings against a Guard, and has a Moderator act on what was throttled. A user's penalties are carried
// out one after another in the order of the messages; those of different users side by side, and no channel waits for another.
type Bot struct {
	options  Options
	seed     maphash.Seed
	queues   map[string][]chan job // of each channel in which somebody was throttled, one for each worker. The Source's goroutine only
	workers  sync.WaitGroup
	verdicts []chatguard.Verdict // of the batch being judged
	counts   counts
}

// job is a throttled message to act on.
type job struct {
	message chatguard.Message
	verdict chatguard.Verdict
}

// New returns a Bot.
func New(o Options) *Bot {
	if o.Workers == 0 {
		o.Workers = 4
	}
	if o.QueueSize == 0 {
		o.QueueSize = 256
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Report == nil {
		o.Report = func(journal.Outcome) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Bot{options: o, seed: maphash.MakeSeed(), queues: map[string][]chan job{}}
}

// Run reads and moderates until the context ends, then carries out what was waiting, for Grace at most. It returns nil when the context
// ended, and the Source's error where trying again can't help. Call it once.
func (b *Bot) Run(ctx context.Context) error {
	acting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	err := b.options.Source.Run(ctx, sink{b, ctx, acting})
	for _, queues := range b.queues {
		for _, queue := range queues {
			close(queue)
		}
	}
	grace := time.AfterFunc(b.options.Grace, stop)
	defer grace.Stop()
	b.workers.Wait()
	return err
}

// sink is the Bot as its Source sees it, while Run runs.
type sink struct {
	bot         *Bot
	ctx, acting context.Context
}

func (s sink) Messages(messages []chatguard.Message) { s.bot.receive(s.ctx, s.acting, messages) }

func (s sink) Removed(Removal) {}

// receive judges messages that arrived together and queues the penalties, which workers carry out while acting lasts.
func (b *Bot) receive(ctx, acting context.Context, messages []chatguard.Message) {
	messages = own(messages)
	if len(b.verdicts) < len(messages) {
		b.verdicts = make([]chatguard.Verdict, len(messages))
	}
	if err := b.options.Guard.CheckAll(ctx, messages, b.verdicts); err != nil {
		b.options.Logger.Warn("a message can't be judged", "error", err)
	}
	for i, m := range messages {
		v := b.verdicts[i]
		if v.UserID == "" {
			continue // it couldn't be judged
		}
		b.counts.judged(v)
		if !v.Allowed {
			b.enqueue(acting, job{m, v})
		}
	}
}

// own returns the messages that were written in the channel they appeared in: a mirrored one is judged where it was written. It reuses the
// slice.
func own(messages []chatguard.Message) []chatguard.Message {
	kept := messages[:0]
	for _, m := range messages {
		if !m.Mirrored() {
			kept = append(kept, m)
		}
	}
	return kept
}

func (b *Bot) enqueue(acting context.Context, j job) {
	queues := b.queues[j.message.ChannelID]
	if queues == nil {
		queues = b.startWorkers(acting)
		b.queues[j.message.ChannelID] = queues
	}
	select {
	case queues[maphash.String(b.seed, j.message.User.ID)%uint64(len(queues))] <- j:
	default:
		b.report(j, journal.Skipped, "queue full")
	}
}

// startWorkers starts the workers of a channel, which end when their queues are closed.
func (b *Bot) startWorkers(acting context.Context) (queues []chan job) {
	for range b.options.Workers {
		queue := make(chan job, b.options.QueueSize)
		queues = append(queues, queue)
		b.workers.Go(func() {
			for j := range queue {
				b.act(acting, j)
			}
		})
	}
	return queues
}

// act carries out a penalty and reports how that went.
func (b *Bot) act(ctx context.Context, j job) {
	err := b.penalise(ctx, j)
	var skip skipError
	switch {
	case err == nil:
		b.report(j, journal.Done, "")
	case errors.As(err, &skip):
		b.report(j, journal.Skipped, err.Error())
	case ctx.Err() != nil:
		b.report(j, journal.Skipped, "chatguard stopped")
	default:
		b.report(j, journal.Failed, err.Error())
	}
}

func (b *Bot) report(j job, result journal.Result, reason string) {
	action := j.verdict.Penalty.Action
	b.counts.acted(action, result)
	if result != journal.Done {
		m := &j.message
		b.options.Logger.Warn("no penalty", "channel", m.ChannelID, "user", m.User.ID, "login", m.User.Login, "message", m.ID, "penalty", j.verdict.Penalty, "result", result, "reason", reason)
	}
	b.options.Report(journal.Outcome{Entry: j.verdict.EntryID, At: b.options.Now(), Action: action, Result: result, Reason: reason})
}
