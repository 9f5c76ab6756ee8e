// Package lab answers questions about limits: what would these limits do with that traffic? It runs
// the same engine that moderates, one Guard for each lane, and keeps nothing between questions.
// Equal questions have equal answers.
//
// The package must not know where a question comes from, and reads neither a clock nor a store.
package lab

import (
	"context"
	"runtime"

	"github.com/chatguard/chatguard"
)

// The bounds of a question. Anyone who may see the dashboard may ask.
const (
	MaxLanes    = 8
	MaxLimits   = 8      // in a lane
	MaxMessages = 20_000 // also those that traffic makes
	// maxMemory is the maximum number of bytes for the users of a lane.
	maxMemory = 64 << 20
	// MaxAnswer is the maximum number of bytes of an answer's JSON, and maxPictures that of all
	// pictures in it.
	MaxAnswer   = 8 << 20
	maxPictures = 6 << 20
	// MaxWork is the maximum work for an answer: each decision counts 1, and each with a picture
	// pictureWork. The largest answer takes a few seconds.
	MaxWork     = 4_000_000
	pictureWork = 16
)

// Question is what Run answers: lanes of limits, and messages or traffic that each lane gets.
type Question struct {
	Lanes []Lane `json:"lanes"` // 1 to MaxLanes
	// Timezone is the IANA name of the zone of daily windows without their own; empty means UTC.
	Timezone string `json:"timezone,omitempty"`
	// Messages are judged in this order, at most MaxMessages. They must be empty if there is
	// Traffic.
	Messages messages `json:"messages,omitempty"`
	Traffic  *Traffic `json:"traffic,omitempty"` // makes the messages
	Move     *Move    `json:"move,omitempty"`    // changes the timezone while messages come
	// Accuracy asks how exact the sliding window of the first lane is.
	Accuracy bool `json:"accuracy,omitempty"`
	// Edge asks for the most that can pass in any stretch of this length. 0 asks for nothing.
	Edge Duration `json:"edge,omitempty"`
	// NoSteps leaves messages and steps out of the answer, if only figures are wanted.
	NoSteps bool `json:"no_steps,omitempty"`
}

// Lane is an enforcing policy that exempts nobody.
type Lane struct {
	Name string `json:"name,omitempty"` // empty means the text of its limits
	// Limits have the same JSON as in a policy, but may lack a name. A lane without limits allows
	// everything.
	Limits []chatguard.Limit `json:"limits"`
	// Roles are given to the author of every message, in addition to the message's own.
	Roles chatguard.Roles `json:"roles,omitempty"`
	// Grants are in the order of their times. Eager traffic ignores them.
	Grants []Grant `json:"grants,omitempty"`
}

// Message is one message of a question or an answer.
type Message struct {
	At     Moment          `json:"at"`
	UserID string          `json:"user_id"`
	Login  string          `json:"login,omitempty"` // for display only
	Roles  chatguard.Roles `json:"roles,omitempty"`
	Cost   int             `json:"cost,omitempty"` // 0 means 1
	// Text is what limits on repeated text compare, or Print if the text isn't at hand. They don't
	// count a message without either.
	Text  string              `json:"text,omitempty"`
	Print chatguard.TextPrint `json:"print,omitzero"`
	// Emotes means that the message consists of emotes only.
	Emotes bool `json:"emotes,omitempty"`
}

// Run answers a question. The error is an *Error if the question can't be answered, or that of ctx
// if it ends first. The Answer then has only its Work.
func Run(ctx context.Context, q Question) (*Answer, error) {
	answer := &Answer{Lanes: make([]LaneAnswer, len(q.Lanes))}
	if err := q.run(ctx, answer); err != nil {
		return &Answer{work: answer.work}, err
	}
	return answer, nil
}

func (q *Question) run(ctx context.Context, answer *Answer) error {
	lanes, err := q.compile()
	if err != nil {
		return err
	}
	for i, l := range lanes {
		answer.Lanes[i] = LaneAnswer{Name: l.name, BytesPerUser: l.bytesPerUser}
	}
	if q.Traffic != nil && q.Traffic.Kind == Eager {
		err = q.runPush(ctx, lanes, answer)
	} else {
		err = q.runMessages(ctx, lanes, answer)
	}
	if err == nil && q.Edge > 0 {
		err = q.runEdge(ctx, lanes, answer)
	}
	return err
}

// runMessages judges the messages in each lane.
func (q *Question) runMessages(ctx context.Context, lanes []*lane, answer *Answer) error {
	messages := []Message(q.Messages)
	if q.Traffic != nil {
		var err error
		if messages, err = q.Traffic.messages(); err != nil {
			return err
		}
		answer.Messages = messages
	}
	list, users, err := judgeable(messages)
	if err != nil {
		return err
	}
	answer.countWithoutText(lanes, messages)
	within := spanOf(q.Traffic, list)
	var pictures pages
	for i, l := range lanes {
		if err := l.checkMemory(users, len(list)); err != nil {
			return err
		}
		of := &answer.Lanes[i]
		if of.Steps, of.Grants, err = l.judgeAll(ctx, &answer.work, list, q.Move, &pictures, q.NoSteps); err != nil {
			return err
		}
		of.Figures = newFigures(list, of.Steps, within)
	}
	if q.Accuracy {
		answer.Accuracy, err = q.runAccuracy(ctx, &answer.work, lanes[0], list)
	}
	if q.NoSteps {
		answer.dropSteps()
	}
	return err
}

// judgeable returns the messages in the Guard's form, and the number of users. It refuses messages
// that can't be judged.
func judgeable(messages []Message) (list []chatguard.Message, users int, err error) {
	if len(messages) > MaxMessages {
		return nil, 0, errorf("there are %d messages: send %d or fewer", len(messages), MaxMessages)
	}
	list = make([]chatguard.Message, len(messages))
	seen := make(map[string]bool, 64)
	for i := range messages {
		m := &messages[i]
		list[i] = m.judgeable()
		if err := list[i].Validate(); err != nil {
			return nil, 0, errorf("message %d: %s", i+1, m.fix())
		}
		seen[m.UserID] = true
	}
	return list, len(seen), nil
}

// channelID is the channel of all messages.
const channelID = "lab"

// judgeable returns the message in the Guard's form.
func (m *Message) judgeable() chatguard.Message {
	judged := chatguard.Message{ChannelID: channelID, SentAt: m.At.Time(), Cost: m.Cost, Text: m.Text, User: chatguard.User{ID: m.UserID, Roles: m.Roles}}
	if !m.Print.IsZero() {
		judged.Print = &m.Print
	}
	if m.Emotes {
		judged.Kinds = []string{chatguard.KindEmotes}
	}
	return judged
}

// yieldEvery is how many messages are judged before other goroutines get a turn, so that live chat
// runs first.
const yieldEvery = 64

// work is how much work an answer has taken so far. A nil *work has no bound.
type work int64

// pause lets other goroutines run after every few messages, and returns an error if ctx has ended
// or the answer takes too much work. i is the number of messages so far, and each is the work for
// one of them.
func (w *work) pause(ctx context.Context, i, each int) error {
	if i%yieldEvery != 0 {
		return nil
	}
	if w != nil {
		if *w += work(yieldEvery * each); *w > MaxWork {
			return errorf("the question is too much work: send fewer messages, lanes or limits, or a shorter span")
		}
	}
	runtime.Gosched()
	return ctx.Err()
}

// fix returns what is wrong with a message that can't be judged, and the fix.
func (m *Message) fix() string {
	switch {
	case m.UserID == "":
		return "it has no user: set user_id"
	case m.Cost < 0:
		return "its cost is negative: use 1 or more"
	case len(m.UserID) > 256:
		return "its user_id is too long: use 256 bytes or fewer"
	}
	return "its time is out of range: set at to milliseconds since 1970, before 2116"
}
