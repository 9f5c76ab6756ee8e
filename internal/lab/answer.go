package lab

import (
	"encoding/json"
	"slices"
	"time"
)

// Answer is the answer to a Question.
type Answer struct {
	Messages []Message    `json:"messages,omitempty"` // those that traffic made
	Lanes    []LaneAnswer `json:"lanes"`              // in the question's order
	Accuracy *Accuracy    `json:"accuracy,omitempty"`
	// WithoutText is how many messages have no text, or none on record. It is 0 if no lane has a
	// limit on repeated text. Such limits don't count these messages.
	WithoutText int `json:"without_text,omitempty"`

	work work
}

// Work returns how much work the answer took. Run returns an error soon after the work exceeds
// MaxWork.
func (a *Answer) Work() int64 { return int64(a.work) }

// LaneAnswer is what one lane's limits did.
type LaneAnswer struct {
	Name string `json:"name"`
	// BytesPerUser is how much memory the engine needs on average for a user with a numeric ID. It
	// includes the user's row with the states of all limits, and its part of the table, but no
	// texts.
	BytesPerUser int64     `json:"bytes_per_user"`
	Steps        []Step    `json:"steps,omitempty"`  // one for each message
	Grants       []Granted `json:"grants,omitempty"` // one for each grant of the lane
	Figures      *Figures  `json:"figures,omitempty"`
	Push         *Pushed   `json:"push,omitempty"` // of eager traffic
	Edge         *int64    `json:"edge,omitempty"` // the most that can pass in any stretch of the length Question.Edge
}

// countWithoutText sets WithoutText.
func (a *Answer) countWithoutText(lanes []*lane, messages []Message) {
	if !slices.ContainsFunc(lanes, func(l *lane) bool { return l.textLimit() != nil }) {
		return
	}
	for i := range messages {
		if m := &messages[i]; m.Text == "" && m.Print.IsZero() {
			a.WithoutText++
		}
	}
}

// dropSteps removes the messages and the steps.
func (a *Answer) dropSteps() {
	a.Messages = nil
	for i := range a.Lanes {
		a.Lanes[i].Steps = nil
	}
}

// Step is the decision on one message, and the state of its author afterwards.
type Step struct {
	Allowed bool
	Limit   string // throttles the message; empty if all limits allow it
	// Low means that the message has low priority, because a cascade's second bucket pays for it,
	// or would have.
	Low bool
	// RetryAfter is how long after its time the message would pass. It is 0 if it passes, or if
	// Never is set.
	RetryAfter time.Duration
	Never      bool // waiting doesn't help
	// Delay is how long the message waits in a queue.
	Delay time.Duration
	// Remaining is how many messages of cost 1 would still pass. It is -1 if there are no limits.
	Remaining int
	// ResetAt is when the tightest limit's usage will have expired; zero if there are no limits.
	ResetAt time.Time
	// Picture is the state of the lane's limit for a drawing of it. Pictures is used instead if the
	// lane has several limits, and has them in the lane's order. The state of a limit on repeated
	// text is that of the message's text, or null if the limit doesn't count the message. It has
	// the same text_number for messages with the same text, as the limit compares them.
	Picture, Pictures json.RawMessage

	late time.Duration // how much later than its time the message counted
}
