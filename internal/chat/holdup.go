package chat

import "time"

// obstacle is a kind of thing that keeps penalties waiting.
type obstacle int

// The obstacles. When several stand in the way at once, the first of them counts.
const (
	nothing    obstacle = iota // the next one can begin
	refused                    // the platform said that it takes no requests for a while
	noRequests                 // our own count of its requests is used up
	failing                    // its last answer was an error, or there was none
	slow                       // its answers take long
	ownQueue                   // others wait in front
	obstacles                  // how many there are
)

// slowAnswer is how long something may be under way before the platform counts as slow.
const slowAnswer = time.Second

// requests are the requests that the platform takes, as it was asked a moment ago, and what is wrong with it.
type requests struct {
	left            int // now
	soon            int // within mergeWithin
	refused, failed string
}

// holdups is for how long each obstacle has kept penalties waiting so far. The zero value is ready.
type holdups struct {
	lasted  [obstacles]time.Duration
	reasons [obstacles]string // the latest ones, for the journal
	current obstacle
	since   time.Time
}

// note takes note of what stands in the way from now on.
func (h *holdups) note(o obstacle, reason string, now time.Time) {
	h.lasted[h.current] += max(0, now.Sub(h.since))
	h.current, h.since, h.reasons[o] = o, now, reason
}

// reason is what has kept a job waiting for the most time.
func (h *holdups) reason(j *job) string {
	longest := ownQueue
	for o := refused; o < obstacles; o++ {
		if h.lasted[o]-j.heldUp[o] > h.lasted[longest]-j.heldUp[longest] {
			longest = o
		}
	}
	if longest == ownQueue {
		return queueReason
	}
	return h.reasons[longest]
}

// Reasons for the journal.
const (
	budgetReason = "the request budget is used up"
	queueReason  = "too much waited in chatguard's own queue"
)

// obstacle is why nothing can begin, and the reason for the journal. The caller holds mu.
func (b *backlog) obstacle(r requests, now time.Time) (obstacle, string) {
	switch {
	case r.refused != "":
		return refused, r.refused
	case r.left <= 0:
		return noRequests, budgetReason
	case r.failed != "":
		return failing, r.failed
	}
	for s := range b.underWay {
		if now.Sub(s.began) >= slowAnswer {
			return slow, "the chat's server was slow"
		}
	}
	if r.left <= len(b.underWay) { // which take what is left
		return noRequests, budgetReason
	}
	return ownQueue, queueReason
}
