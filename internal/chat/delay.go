package chat

import "time"

// delayCause is a cause that delays penalties.
type delayCause int

// The causes of a delay. If several apply at once, backlog.delayCause returns only one.
const (
	notDelayed      delayCause = iota // the next penalty can start
	platformRefuses                   // the platform refuses all requests for a while
	budgetEmpty                       // our count of the request budget is empty
	platformFails                     // the platform's last answer was missing or an error
	platformSlow                      // the platform's answers are slow
	ownQueue                          // other penalties are ahead in the queue
	delayCauses                       // number of causes
)

// slowAnswer is how long a task may be in progress before the platform counts as slow.
const slowAnswer = time.Second

// requests is a snapshot of how many requests the platform accepts and which problems it has now.
type requests struct {
	left            int // accepted now
	soon            int // accepted within mergeWithin
	refused, failed string
}

// delays is how long each cause has delayed penalties so far. The zero value is ready to use.
type delays struct {
	lasted  [delayCauses]time.Duration
	reasons [delayCauses]string // latest reasons, for the journal
	current delayCause
	since   time.Time
}

// note sets the cause that applies from now on.
func (h *delays) note(o delayCause, reason string, now time.Time) {
	h.lasted[h.current] += max(0, now.Sub(h.since))
	h.current, h.since, h.reasons[o] = o, now, reason
}

// reason returns the text for the cause that has delayed a job the longest.
func (h *delays) reason(j *job) string {
	longest := ownQueue
	for o := platformRefuses; o < delayCauses; o++ {
		if h.lasted[o]-j.delaysBefore[o] > h.lasted[longest]-j.delaysBefore[longest] {
			longest = o
		}
	}
	if longest == ownQueue {
		return queueReason
	}
	return h.reasons[longest]
}

// Reasons for the journal. The pages translate them.
const (
	budgetReason = "the request budget is used up"
	queueReason  = "chatguard's own queue was too long"
	fullReason   = "queue full"
	slowReason   = "the chat's server was slow"
)

// delayCause returns why nothing can begin, and the reason for the journal. The caller holds mu.
func (b *backlog) delayCause(r requests, now time.Time) (delayCause, string) {
	switch {
	case r.refused != "":
		return platformRefuses, r.refused
	case r.left <= 0:
		return budgetEmpty, budgetReason
	case r.failed != "":
		return platformFails, r.failed
	}
	isSlow := false
	for s := range b.underWay {
		if s.waitsFor != "" {
			return platformFails, s.waitsFor
		}
		isSlow = isSlow || now.Sub(s.began) >= slowAnswer
	}
	switch {
	case isSlow:
		return platformSlow, slowReason
	case r.left <= len(b.underWay): // tasks in progress take the rest
		return budgetEmpty, budgetReason
	}
	return ownQueue, queueReason
}
