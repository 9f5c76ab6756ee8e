package chat

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/recent"
)

// backlog holds the pending penalties. The penalties of a channel start in message order. Several
// run at once, but never two for the same user. Channels take turns. If the platform accepts fewer
// requests than there are pending penalties, a user's pending penalties are merged into one.
type backlog struct {
	bot  *Bot
	wake chan struct{} // holds a value if there may be work

	mu       sync.Mutex // guards the fields below
	channels map[string]*channelQueue
	turns    list.List          // channels that can begin another task
	waiting  int                // pending penalties in all channels
	added    uint64             // penalties added since the start
	underWay map[*task]struct{} // tasks in progress in all channels
	idle     int                // tasks in progress that wait before they try again
	delays   delays
	seen     removals
	closed   bool // nothing more may be added
}

// channelQueue is the part of the backlog for one channel.
type channelQueue struct {
	channelID string
	users     map[string]*userQueue // by user ID
	// order contains the users who have pending penalties and no task in progress. It is sorted by
	// each user's first pending message.
	order    list.List
	waiting  int
	inFlight int
	idle     int           // tasks in progress that wait before they try again
	turn     *list.Element // element in backlog.turns; nil if not queued
	// heldUntil is the time until which the platform carries out no timeouts and bans in the
	// channel.
	heldUntil time.Time
}

// userQueue holds the pending penalties of one user, in the order of the messages.
type userQueue struct {
	user string
	jobs []job
	task *task // task in progress for the user, or nil
}

// job is a throttled message to act on.
type job struct {
	message      chatguard.Message
	verdict      chatguard.Verdict
	since        time.Time                  // when it was queued
	number       uint64                     // position in message order
	delaysBefore [delayCauses]time.Duration // the backlog's delays when it was queued
}

// budgetTick is how long to wait before asking again whether the platform accepts another request.
const budgetTick = 50 * time.Millisecond

func newBacklog(b *Bot) *backlog {
	return &backlog{bot: b, wake: make(chan struct{}, 1), channels: map[string]*channelQueue{}, underWay: map[*task]struct{}{}, seen: removals{recent.Map[removalKey, removal]{Size: maxRemovals}}}
}

// add queues a job. If it refuses the job, it returns the reason: the message is already gone, or
// the queue is full. Otherwise it returns "".
func (b *backlog) add(j job) (refused string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if by := b.seen.reasonFor(&j.message); by != "" {
		return by
	}
	l := b.channels[j.message.ChannelID]
	if l == nil {
		l = &channelQueue{channelID: j.message.ChannelID, users: map[string]*userQueue{}}
		b.channels[j.message.ChannelID] = l
	}
	if l.waiting >= b.bot.options.QueueSize {
		return fullReason
	}
	p := l.users[j.message.User.ID]
	if p == nil {
		p = &userQueue{user: j.message.User.ID}
		l.users[p.user] = p
	}
	b.added++
	b.delays.note(b.delays.current, b.delays.reasons[b.delays.current], j.since)
	j.number, j.delaysBefore = b.added, b.delays.lasted
	p.jobs = append(p.jobs, j)
	b.count(l, 1)
	if len(p.jobs) == 1 && p.task == nil {
		l.order.PushBack(p)
	}
	b.queue(l)
	return ""
}

// count changes the number of pending jobs by n. The caller holds mu.
func (b *backlog) count(l *channelQueue, n int) {
	l.waiting += n
	b.waiting += n
}

// run carries out pending penalties until the backlog is closed and empty, or acting ends.
func (b *backlog) run(acting context.Context) {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		if acting.Err() != nil {
			b.abandon("chatguard stopped")
			return
		}
		choosing := b.bot.choosing.Begin(time.Now())
		s, done := b.next(b.bot.requests())
		b.bot.choosing.End(choosing)
		if done {
			return
		}
		if s != nil {
			begun := make(chan struct{})
			tasks.Go(func() {
				close(begun)
				s.carryOut(acting)
				b.end(s)
			})
			<-begun // tasks must begin in their order
			continue
		}
		var again <-chan time.Time
		if b.isBusy() {
			tick.Reset(budgetTick)
			again = tick.C
		}
		select {
		case <-b.wake:
		case <-again:
		case <-acting.Done():
		}
	}
}

// isBusy reports whether any penalty is pending.
func (b *backlog) isBusy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting > 0
}

// len returns how many penalties are pending or in progress.
func (b *backlog) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting + len(b.underWay)
}

// next returns the next task to begin, or nil if none can begin now. r is what the platform
// accepts. done is true if no further task will follow.
func (b *backlog) next(r requests) (s *task, done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.bot.steady()
	b.delays.note(notDelayed, "", now)
	b.expire(now)
	if b.waiting == 0 {
		return nil, b.closed && len(b.underWay) == 0
	}
	free := r.left - len(b.underWay) // tasks in progress may still send requests
	front := b.turns.Front()
	if free <= 0 || front == nil || len(b.underWay)-b.idle >= maxInFlight {
		o, reason := b.delayCause(r, now)
		b.delays.note(o, reason, now)
		if free <= 0 {
			b.reportFloods()
		}
		return nil, false
	}
	l := front.Value.(*channelQueue)
	b.turns.Remove(front)
	l.turn = nil
	p := l.order.Remove(l.order.Front()).(*userQueue)
	s = b.begin(l, p, b.waiting > r.soon-len(b.underWay), now)
	b.queue(l)
	return s, false
}

// mergeWithin is the time within which the platform should accept one request per pending penalty.
// If it doesn't, penalties are merged.
const mergeWithin = 2 * time.Second

// maxInFlight is how many tasks are in progress at once, in all channels, besides idle ones. It is
// the number of connections worth keeping open.
const maxInFlight = 64

// begin removes a user's next job from the queue and returns the task for it. If requests are
// scarce, the platform carries out timeouts and merge allows it, begin removes all of the user's
// jobs and merges their penalties into one. The caller holds mu.
func (b *backlog) begin(l *channelQueue, p *userQueue, scarce bool, now time.Time) *task {
	s := &task{bot: b.bot, channel: l, queue: p, jobs: p.jobs[:1], penalty: p.jobs[0].verdict.Penalty, began: now}
	if scarce && len(p.jobs) > 1 && !now.Before(l.heldUntil) {
		if penalty, ok := b.bot.merge(p.jobs); ok {
			s.jobs, s.penalty, s.doneReason = p.jobs, penalty, mergedReason(penalty, len(p.jobs))
		}
	}
	p.jobs = p.jobs[len(s.jobs):]
	p.task = s
	b.count(l, -len(s.jobs))
	b.underWay[s] = struct{}{}
	l.inFlight++
	return s
}

// end records that a task is over. If the user has more pending penalties, end puts the user back
// into the order.
func (b *backlog) end(s *task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, p := s.channel, s.queue
	delete(b.underWay, s)
	l.inFlight--
	p.task = nil
	if len(p.jobs) > 0 {
		l.insert(p)
	} else {
		delete(l.users, p.user)
	}
	b.queue(l)
}

// insert adds a user to the order.
func (l *channelQueue) insert(p *userQueue) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if e.Value.(*userQueue).jobs[0].number > p.jobs[0].number {
			l.order.InsertBefore(p, e)
			return
		}
	}
	l.order.PushBack(p)
}

// close records that no more jobs will be added.
func (b *backlog) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	WakeUp(b.wake)
}
