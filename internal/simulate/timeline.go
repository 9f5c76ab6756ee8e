package simulate

import (
	"math"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

// Timeline is a channel's recorded messages in a compact form: 20 bytes per message, 38 more for
// the print of a text, and about 150 per user. Create one with NewTimeline and Add messages to it.
// After that, any number of goroutines may judge it at once.
type Timeline struct {
	most    int
	blocks  []*block
	skip    int // dropped messages in the first block
	count   int
	users   []user
	numbers map[string]uint32 // indexes in users, by ID
	roles   roles.Numbers[chatguard.Role]
	kinds   roles.Numbers[string]
	spoke   int // number of users with messages that count
	gone    int // number of dropped messages
}

// block holds messages in columns, in order.
type block struct {
	at    [blockSize]int64 // nanoseconds since 1970
	user  [blockSize]uint32
	cost  [blockSize]uint32
	kinds [blockSize]uint16     // numbers in Timeline.kinds
	roles [blockSize]uint16     // numbers in Timeline.roles
	print []chatguard.TextPrint // nil until a message has one
}

const blockSize = 1 << 13

// user is a user who wrote.
type user struct {
	id, login string
	messages  uint32 // number of messages that count
}

// NewTimeline returns an empty Timeline that keeps only the newest messages, up to size.
func NewTimeline(size int) *Timeline { return &Timeline{most: size, numbers: map[string]uint32{}} }

// Add appends messages, in the order in which they were judged. It does not retain them.
func (t *Timeline) Add(messages []journal.TimelineMessage) {
	for i := range messages {
		t.add(&messages[i])
	}
}

func (t *Timeline) add(m *journal.TimelineMessage) {
	if t.count == t.most {
		t.dropOldest()
	}
	b, i := t.next()
	b.at[i], b.user[i], b.roles[i], b.kinds[i] = m.At.UnixNano(), t.userIndex(m), t.roles.Of(m.Roles), t.kinds.Of(m.MessageKinds)
	b.cost[i] = uint32(min(m.Cost, math.MaxUint32)) // no limit distinguishes larger costs
	b.setPrint(i, m.Print)
	t.count++
	u := &t.users[b.user[i]]
	if u.messages++; u.messages == 1 {
		t.spoke++
	}
}

// setPrint sets the print of a message.
func (b *block) setPrint(i int, print chatguard.TextPrint) {
	if b.print == nil && !print.IsZero() {
		b.print = make([]chatguard.TextPrint, blockSize)
	}
	if b.print != nil {
		b.print[i] = print
	}
}

// printOf returns the print of a message, or nil if there is none.
func (b *block) printOf(i int) *chatguard.TextPrint {
	if b.print == nil || b.print[i].IsZero() {
		return nil
	}
	return &b.print[i]
}

// next returns the position of the next message.
func (t *Timeline) next() (*block, int) {
	end := t.skip + t.count
	if end == len(t.blocks)*blockSize {
		t.blocks = append(t.blocks, new(block))
	}
	return t.blocks[end/blockSize], end % blockSize
}

// userIndex returns the index of a message's author.
func (t *Timeline) userIndex(m *journal.TimelineMessage) uint32 {
	n, known := t.numbers[m.UserID]
	if !known {
		n = uint32(len(t.users))
		t.users = append(t.users, user{id: strings.Clone(m.UserID)})
		t.numbers[t.users[n].id] = n
	}
	if u := &t.users[n]; m.Login != "" && u.login != m.Login {
		u.login = strings.Clone(m.Login)
	}
	return n
}

func (t *Timeline) dropOldest() {
	u := &t.users[t.blocks[0].user[t.skip]]
	if u.messages--; u.messages == 0 {
		t.spoke--
	}
	t.gone++
	t.count--
	if t.skip++; t.skip == blockSize {
		t.blocks[0] = nil // the slice's array still holds the pointer
		t.blocks, t.skip = t.blocks[1:], 0
	}
}

// Messages returns the number of messages that count.
func (t *Timeline) Messages() int { return t.count }

// Users returns the number of users who wrote messages that count.
func (t *Timeline) Users() int { return t.spoke }

// Truncated reports whether older messages were dropped.
func (t *Timeline) Truncated() bool { return t.gone > 0 }

// From returns the time of the first message that counts, or the zero time if there is none.
func (t *Timeline) From() time.Time {
	if t.count == 0 {
		return time.Time{}
	}
	return time.Unix(0, t.blocks[0].at[t.skip])
}

// Bytes returns the approximate memory of the Timeline.
func (t *Timeline) Bytes() int {
	const ofMessage, ofPrint, ofUser = 8 + 4 + 4 + 2 + 2, 38, 150
	n := len(t.users) * ofUser
	for _, b := range t.blocks {
		n += blockSize*ofMessage + len(b.print)*ofPrint
	}
	return n
}

// readSize is the number of messages to read before yielding the processor.
const readSize = 1 << 14

// read fills a batch with the group's messages, starting at index at. It returns their number and
// the index to continue at.
func (t *Timeline) read(at int, members group, into *batch) (n, next int) {
	for end := min(at+readSize, t.count); at < end && n < len(into.messages); at++ {
		b, j := t.blocks[(t.skip+at)/blockSize], (t.skip+at)%blockSize
		if !members.has(b.user[j]) {
			continue
		}
		m := &into.messages[n]
		into.numbers[n] = b.user[j]
		m.User.ID, m.User.Roles = t.users[b.user[j]].id, t.roles.Set(b.roles[j])
		m.Print = b.printOf(j)
		m.SentAt, m.Cost, m.Kinds = time.Unix(0, b.at[j]), int(b.cost[j]), t.kinds.Set(b.kinds[j])
		n++
	}
	return n, at
}
