package chat

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Lease says which of several nodes acts in a channel. Its methods are those of
// redisstore.Leadership.
type Lease interface {
	// Leading reports whether this node acts. It does so at least until the time returned. fence
	// grows whenever a node takes the lease; it is 0 if this node acts without having had it.
	Leading() (fence int64, until time.Time, ok bool)
	// Leader returns the name of the node that acts, or "" if it is unknown.
	Leader() string
	// Problem says since when and why the lease can't be taken or renewed; empty if it can.
	Problem() (since time.Time, problem string)
	// SetJudgedUntil notes for a successor that this node has judged all messages up to a time.
	SetJudgedUntil(time.Time)
	// JudgedUntil says how far the predecessor has judged: certainly until sure, and maybe until
	// maybe. They are zero if it recorded nothing.
	JudgedUntil() (sure, maybe time.Time)
	// Run takes and renews the lease until ctx ends, and then releases it.
	Run(ctx context.Context) error
}

// requestMargin is how long after the lease's end a request may still be answered. For the leader,
// the lease ends earlier than for the other nodes, by more than this margin.
const requestMargin = 4 * time.Second

// Standby makes several bots in the same channels act as one: in each channel, only the node with
// the lease judges messages and acts. The others keep the last messages, and continue when the
// lease becomes theirs. Messages around the change may be missed, but are judged twice only if
// nodes act without the lease. It is safe for concurrent use. Create one with NewStandby.
type Standby struct {
	lead func(channelID string) Lease
	log  *slog.Logger

	leasing context.Context // of all leases
	release context.CancelFunc
	leases  sync.WaitGroup

	mu       sync.RWMutex // never held while a message is judged
	channels map[string]*standbyChannel
}

// NewStandby returns a Standby. lead returns the lease of a channel. A nil log logs nothing.
func NewStandby(lead func(channelID string) Lease, log *slog.Logger) *Standby {
	s := &Standby{lead: lead, log: cmp.Or(log, slog.New(slog.DiscardHandler)), channels: map[string]*standbyChannel{}}
	s.leasing, s.release = context.WithCancel(context.Background())
	return s
}

// Close releases all leases, so that other nodes take over at once. Call it after the bot has
// stopped.
func (s *Standby) Close() {
	s.release()
	s.leases.Wait()
}

// Leads reports whether this node acts in a channel.
func (s *Standby) Leads(channelID string) bool {
	_, err := s.permit(channelID)
	return err == nil
}

// Acting says who acts in a channel, as far as this node knows.
type Acting struct {
	Self   bool   // this node acts
	Leader string // the node that acts, or that acted before the Problem; "" if there is none
	// Since is since when there is the Problem. Without a Problem and a Leader, it is since when no
	// node acts.
	Since   time.Time
	Problem string // why the nodes can't agree who acts; "" if they can
}

// Acting says who acts in a channel. ok is false until this node receives the channel's first
// message, because it takes no lease before that.
func (s *Standby) Acting(channelID string) (a Acting, ok bool) {
	c := s.channel(channelID)
	if c == nil {
		return Acting{}, false
	}
	_, _, a.Self = c.lease.Leading()
	a.Leader = c.lease.Leader()
	if a.Since, a.Problem = c.lease.Problem(); a.Leader == "" {
		c.mu.Lock()
		a.Since = c.vacant
		c.mu.Unlock()
		if a.Since.IsZero() {
			a.Since = time.Now() // run hasn't noticed it yet
		}
	}
	return a, true
}

// permit returns until when a request to the channel must be answered, or ErrStandby.
func (s *Standby) permit(channelID string) (time.Time, error) {
	c := s.channel(channelID)
	if c == nil {
		return time.Time{}, ErrStandby
	}
	if _, until, ok := c.lease.Leading(); ok {
		return until.Add(requestMargin), nil
	}
	return time.Time{}, ErrStandby
}

// channel returns a known channel, or nil.
func (s *Standby) channel(id string) *standbyChannel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.channels[id]
}

// add adds a channel, and begins to take its lease. It first records the time of the first message
// as judged, because taking the lease stores that time. Otherwise, if this node judged messages and
// ended before the first renewal, the next leader would judge them again.
func (s *Standby) add(id string, first time.Time) *standbyChannel {
	id = strings.Clone(id) // it may share the memory of a whole line
	c := &standbyChannel{id: id, lease: s.lead(id), log: s.log, received: make(chan struct{}, 1)}
	c.lease.SetJudgedUntil(first)
	s.mu.Lock()
	s.channels[id] = c
	s.mu.Unlock()
	s.leases.Go(func() {
		if err := c.lease.Run(s.leasing); err != nil {
			s.log.Warn("the lease of a channel can't be released: another node takes over later", "channel", id, "error", err)
		}
	})
	return c
}

// Source returns a Source that passes on the messages of inner in the channels where this node has
// the lease. Its Run can be called once.
func (s *Standby) Source(inner Source) Source { return standbySource{s, inner} }

type standbySource struct {
	standby *Standby
	inner   Source
}

// Run reads until ctx ends. It takes the lease of each channel with the first message. Messages
// that aren't judged when ctx ends are left to the next leader.
func (s standbySource) Run(ctx context.Context, sink Sink) error {
	passing, stop := context.WithCancel(ctx)
	out := &standbySink{Standby: s.standby, sink: sink, passing: passing}
	err := s.inner.Run(ctx, out)
	stop()
	out.workers.Wait()
	return err
}

// standbySink is the Sink between the inner Source and the bot. A goroutine for each channel passes
// on messages, so that no channel waits for another.
type standbySink struct {
	*Standby
	sink    Sink
	passing context.Context
	workers sync.WaitGroup
}

// Messages queues messages. It never waits for the bot.
func (s *standbySink) Messages(read time.Time, messages []Message) {
	now := time.Now()
	for i := range messages {
		id := messages[i].ChannelID
		c := s.channel(id)
		if c == nil {
			c = s.add(id, messages[i].SentAt)
			s.workers.Go(func() { c.run(s.passing, s.sink) })
		}
		c.add(&messages[i], read, now)
	}
}

// Removed passes on every removal.
func (s *standbySink) Removed(r Removal) { s.sink.Removed(r) }

// Lifted passes on the end of every timeout and ban.
func (s *standbySink) Lifted(l Lift) { s.sink.Lifted(l) }

// Moderator returns a Moderator that acts only in channels where this node has the lease. A nil
// inner is returned unchanged.
func (s *Standby) Moderator(inner Moderator) Moderator {
	if inner == nil {
		return nil
	}
	return standbyModerator{inner, s}
}

// standbyModerator gives each request a permit.
type standbyModerator struct {
	Moderator
	standby *Standby
}

func (m standbyModerator) in(ctx context.Context, channelID string) context.Context {
	return withPermit(ctx, func() (time.Time, error) { return m.standby.permit(channelID) })
}

func (m standbyModerator) Delete(ctx context.Context, message chatguard.Message) error {
	return m.Moderator.Delete(m.in(ctx, message.ChannelID), message)
}

func (m standbyModerator) Warn(ctx context.Context, message chatguard.Message, reason string) error {
	return m.Moderator.Warn(m.in(ctx, message.ChannelID), message, reason)
}

func (m standbyModerator) Timeout(ctx context.Context, message chatguard.Message, length time.Duration, reason string) error {
	return m.Moderator.Timeout(m.in(ctx, message.ChannelID), message, length, reason)
}

func (m standbyModerator) Ban(ctx context.Context, message chatguard.Message, reason string) error {
	return m.Moderator.Ban(m.in(ctx, message.ChannelID), message, reason)
}

func (m standbyModerator) Lift(ctx context.Context, channelID, userID string) error {
	return m.Moderator.Lift(m.in(ctx, channelID), channelID, userID)
}

func (m standbyModerator) SetSlowMode(ctx context.Context, channelID string, on bool, wait time.Duration) error {
	return m.Moderator.SetSlowMode(m.in(ctx, channelID), channelID, on, wait)
}

func (m standbyModerator) Say(ctx context.Context, channelID, text, replyTo string) error {
	return m.Moderator.Say(m.in(ctx, channelID), channelID, text, replyTo)
}
