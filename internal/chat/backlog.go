package chat

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// backlog is the penalties that wait to be carried out. Those of a channel begin in the order of the messages, several at once, but never
// two about one user; the channels take turns. While a platform takes fewer requests than wait, a user's waiting penalties become one.
type backlog struct {
	bot  *Bot
	wake chan struct{} // holds a value when there may be something to do

	mu       sync.Mutex // guards what follows
	lanes    map[string]*lane
	turns    list.List          // of the lanes in which somebody waits and a place is free
	waiting  int                // penalties, in all lanes
	added    uint64             // ever
	underWay map[*step]struct{} // in all lanes
	holdups  holdups
	seen     removals
	closed   bool // nothing is added any more
}

// lane is the part of the backlog that concerns one channel.
type lane struct {
	channelID string
	piles     map[string]*pile // by user ID
	order     list.List        // of piles in which something waits and nothing is under way, by the order of their first messages
	waiting   int
	inFlight  int
	turn      *list.Element // in backlog.turns; nil where the lane has none
}

// pile is the penalties of one user that wait, in the order of the messages.
type pile struct {
	user string
	jobs []job
	step *step // about the user that is under way; nil while none is
}

// job is a throttled message to act on.
type job struct {
	message chatguard.Message
	verdict chatguard.Verdict
	since   time.Time                // when it began to wait
	number  uint64                   // in the order of the messages
	heldUp  [obstacles]time.Duration // the backlog's holdups when it began to wait
}

// budgetTick is how long to wait before asking again whether the platform takes another request.
const budgetTick = 50 * time.Millisecond

func newBacklog(b *Bot) *backlog {
	return &backlog{bot: b, wake: make(chan struct{}, 1), lanes: map[string]*lane{}, underWay: map[*step]struct{}{}}
}

// add lets a job wait for its turn. It reports why not, where the message is gone already, or too much waits.
func (b *backlog) add(j job) (refused string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if by := b.seen.of(&j.message); by != "" {
		return by
	}
	l := b.lanes[j.message.ChannelID]
	if l == nil {
		l = &lane{channelID: j.message.ChannelID, piles: map[string]*pile{}}
		b.lanes[j.message.ChannelID] = l
	}
	if l.waiting >= b.bot.options.QueueSize {
		return "queue full"
	}
	p := l.piles[j.message.User.ID]
	if p == nil {
		p = &pile{user: j.message.User.ID}
		l.piles[p.user] = p
	}
	b.added++
	b.holdups.note(b.holdups.current, b.holdups.reasons[b.holdups.current], j.since)
	j.number, j.heldUp = b.added, b.holdups.lasted
	p.jobs = append(p.jobs, j)
	b.count(l, 1)
	if len(p.jobs) == 1 && p.step == nil {
		l.order.PushBack(p)
	}
	b.queue(l)
	return ""
}

// count changes how many jobs wait. The caller holds mu.
func (b *backlog) count(l *lane, n int) {
	l.waiting += n
	b.waiting += n
}

// queue gives a lane a turn where it can use one, and wakes whoever hands turns out. The caller holds mu.
func (b *backlog) queue(l *lane) {
	if l.turn == nil && l.order.Len() > 0 && l.inFlight < b.bot.options.Workers {
		l.turn = b.turns.PushBack(l)
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run carries out what waits until the backlog is closed and empty, or acting ends.
func (b *backlog) run(acting context.Context) {
	var steps sync.WaitGroup
	defer steps.Wait()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		if acting.Err() != nil {
			b.abandon("chatguard stopped")
			return
		}
		s, done := b.next(b.bot.requests())
		if done {
			return
		}
		if s != nil {
			begun := make(chan struct{})
			steps.Go(func() {
				close(begun)
				s.carryOut(acting)
				b.end(s)
			})
			<-begun // steps begin in their order
			continue
		}
		var again <-chan time.Time
		if b.busy() {
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

// busy reports whether anything waits.
func (b *backlog) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting > 0
}

// next takes the next step to begin, given which requests the platform takes: nil if none can begin now. done is true if none ever will.
func (b *backlog) next(r requests) (s *step, done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.bot.steady()
	b.holdups.note(nothing, "", now)
	b.expire(now)
	if b.waiting == 0 {
		return nil, b.closed && len(b.underWay) == 0
	}
	free := r.left - len(b.underWay) // those under way may not have taken their part yet
	front := b.turns.Front()
	if free <= 0 || front == nil || len(b.underWay) >= maxInFlight {
		o, reason := b.obstacle(r, now)
		b.holdups.note(o, reason, now)
		if free <= 0 {
			b.brake()
		}
		return nil, false
	}
	l := front.Value.(*lane)
	b.turns.Remove(front)
	l.turn = nil
	p := l.order.Remove(l.order.Front()).(*pile)
	s = b.begin(l, p, b.waiting > r.soon-len(b.underWay), now)
	b.queue(l)
	return s, false
}

// mergeWithin is the time within which all that waits has to be possible, one request each. Otherwise penalties are merged.
const mergeWithin = 2 * time.Second

// maxInFlight is how many steps are under way at once, in all channels: as many as connections are worth keeping open.
const maxInFlight = 64

// begin takes the next step about a user, all of whose penalties become one if requests are scarce and the ladder allows it. The caller holds mu.
func (b *backlog) begin(l *lane, p *pile, scarce bool, now time.Time) *step {
	s := &step{bot: b.bot, lane: l, pile: p, jobs: p.jobs[:1], penalty: p.jobs[0].verdict.Penalty, began: now}
	if scarce && len(p.jobs) > 1 {
		if penalty, ok := b.bot.merge(p.jobs); ok {
			s.jobs, s.penalty, s.deed = p.jobs, penalty, mergedReason(penalty, len(p.jobs))
		}
	}
	p.jobs = p.jobs[len(s.jobs):]
	p.step = s
	b.count(l, -len(s.jobs))
	b.underWay[s] = struct{}{}
	l.inFlight++
	return s
}

// end takes note that a step is over, and lets the user's next one come when it is its turn.
func (b *backlog) end(s *step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, p := s.lane, s.pile
	delete(b.underWay, s)
	l.inFlight--
	p.step = nil
	if len(p.jobs) > 0 {
		l.line(p)
	} else {
		delete(l.piles, p.user)
	}
	b.queue(l)
}

// line puts a pile into the order.
func (l *lane) line(p *pile) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if e.Value.(*pile).jobs[0].number > p.jobs[0].number {
			l.order.InsertBefore(p, e)
			return
		}
	}
	l.order.PushBack(p)
}

// expire gives up on what has waited for so long that everyone has read it. The caller holds mu.
func (b *backlog) expire(now time.Time) {
	late := now.Add(-b.bot.options.Patience)
	isLate := func(j *job) bool { return j.since.Before(late) }
	reason := func(j *job) string {
		if !isLate(j) {
			return ""
		}
		return "too late: " + b.holdups.reason(j)
	}
	for _, l := range b.lanes {
		for front := l.order.Front(); front != nil && isLate(&front.Value.(*pile).jobs[0]); front = l.order.Front() {
			b.drop(l, front.Value.(*pile), reason)
		}
	}
}

// drop takes those of a user's jobs out that there is a reason for, and reports it. The caller holds mu.
func (b *backlog) drop(l *lane, p *pile, reason func(*job) string) {
	kept := p.jobs[:0:0]
	for i := range p.jobs {
		if why := reason(&p.jobs[i]); why != "" {
			b.count(l, -1)
			b.bot.report(&p.jobs[i], p.jobs[i].verdict.Penalty.Action, journal.Skipped, why)
		} else {
			kept = append(kept, p.jobs[i])
		}
	}
	p.jobs = kept
	if p.step != nil {
		return
	}
	l.leave(p)
	if len(kept) > 0 {
		l.line(p)
		return
	}
	delete(l.piles, p.user)
	if l.order.Len() == 0 && l.turn != nil {
		b.turns.Remove(l.turn)
		l.turn = nil
	}
}

// leave takes a pile out of the order.
func (l *lane) leave(p *pile) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if e.Value == p {
			l.order.Remove(e)
			return
		}
	}
}

// brake asks for slow mode where a flood is too much for the requests that there are. The caller holds mu.
func (b *backlog) brake() {
	for _, l := range b.lanes {
		if l.order.Len() >= floodUsers {
			b.bot.brakes.press(l.channelID)
		}
	}
}

// floodUsers is how many users have to wait in a channel, while no request can be sent, for slow mode to be the answer.
const floodUsers = 50

// removed takes note that somebody removed messages: there is nothing left to do about those that wait. What a user wrote after everything of
// theirs was removed is still there.
func (b *backlog) removed(r Removal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.At.IsZero() {
		r.At = b.bot.options.Now()
	}
	reason := b.seen.note(r)
	l := b.lanes[r.ChannelID]
	if l == nil {
		return
	}
	for user, p := range l.piles {
		if r.UserID == "" || r.UserID == user {
			b.drop(l, p, func(j *job) string {
				if r.MessageID == j.message.ID || r.MessageID == "" && !j.message.SentAt.After(r.At) {
					return reason
				}
				return ""
			})
		}
	}
}

// forgive drops what waits for a user's entries from the first to the last, and has undone, once it is done, what is under way for them. It
// returns the entries of both.
func (b *backlog) forgive(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lanes[channelID]
	if l == nil || l.piles[userID] == nil {
		return nil, nil
	}
	p := l.piles[userID]
	pardoned := func(j *job) string {
		if j.verdict.EntryID < first || j.verdict.EntryID > last {
			return ""
		}
		return "pardoned"
	}
	if s := p.step; s != nil {
		for i := range s.jobs {
			if pardoned(&s.jobs[i]) != "" {
				underWay = append(underWay, s.jobs[i].verdict.EntryID)
			}
		}
		s.forgiven = s.forgiven || len(underWay) > 0
	}
	for i := range p.jobs {
		if pardoned(&p.jobs[i]) != "" {
			dropped = append(dropped, p.jobs[i].verdict.EntryID)
		}
	}
	if len(dropped) > 0 {
		b.drop(l, p, pardoned)
	}
	return dropped, underWay
}

// isForgiven reports whether a step under way is to be undone.
func (b *backlog) isForgiven(s *step) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return s.forgiven
}

// close says that nothing more will be added.
func (b *backlog) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// abandon drops everything that waits.
func (b *backlog) abandon(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		for _, p := range l.piles {
			b.drop(l, p, func(*job) string { return reason })
		}
	}
}
