package chat

import (
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// expire drops jobs that have been pending longer than Patience. By then everyone has read the
// message. The caller holds mu.
func (b *backlog) expire(now time.Time) {
	late := now.Add(-b.bot.options.Patience)
	isLate := func(j *job) bool { return j.since.Before(late) }
	reason := func(j *job) string {
		if !isLate(j) {
			return ""
		}
		return "too late: " + b.delays.reason(j)
	}
	for _, l := range b.channels {
		for front := l.order.Front(); front != nil && isLate(&front.Value.(*userQueue).jobs[0]); front = l.order.Front() {
			b.drop(l, front.Value.(*userQueue), reason)
		}
	}
}

// drop removes and reports each of a user's jobs for which reason returns a text. The caller holds
// mu.
func (b *backlog) drop(l *channelQueue, p *userQueue, reason func(*job) string) {
	if !slices.ContainsFunc(p.jobs, func(j job) bool { return reason(&j) != "" }) {
		return // as for most users if one message was removed
	}
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
	if p.task != nil {
		return
	}
	l.remove(p)
	if len(kept) > 0 {
		l.insert(p)
		return
	}
	delete(l.users, p.user)
	b.queue(l)
}

// remove removes a user from the order.
func (l *channelQueue) remove(p *userQueue) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		if e.Value == p {
			l.order.Remove(e)
			return
		}
	}
}

// noteRemoval records a removal of messages, and drops the pending jobs for those messages. If all
// messages of a user or a channel were removed, it keeps the jobs for later messages.
func (b *backlog) noteRemoval(r Removal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.At.IsZero() {
		r.At = b.bot.options.Now()
	}
	reason := b.seen.note(r)
	l := b.channels[r.ChannelID]
	if l == nil {
		return
	}
	for user, p := range l.users {
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

// pardon drops a user's pending penalties for the entries from first to last. If a task for some of
// these entries is in progress, pardon marks it to be undone when it finishes. pardon returns the
// entries of the dropped penalties, and those of the marked task.
func (b *backlog) pardon(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.channels[channelID]
	if l == nil || l.users[userID] == nil {
		return nil, nil
	}
	p := l.users[userID]
	pardoned := func(j *job) string {
		if j.verdict.EntryID < first || j.verdict.EntryID > last {
			return ""
		}
		return "pardoned"
	}
	if s := p.task; s != nil {
		for i := range s.jobs {
			if pardoned(&s.jobs[i]) != "" {
				underWay = append(underWay, s.jobs[i].verdict.EntryID)
			}
		}
		s.pardoned = s.pardoned || len(underWay) > 0
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

// isPardoned reports whether a task in progress is to be undone.
func (b *backlog) isPardoned(s *task) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return s.pardoned
}

// abandon drops all pending jobs.
func (b *backlog) abandon(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.channels {
		for _, p := range l.users {
			b.drop(l, p, func(*job) string { return reason })
		}
	}
}
