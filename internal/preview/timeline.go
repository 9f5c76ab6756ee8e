package preview

import (
	"math"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Timeline is a channel's recorded messages, packed: 17 bytes for each, and some 150 for each user. Make one with NewTimeline and Add to it; from then
// on it can be judged by any number of goroutines at once.
type Timeline struct {
	most    int
	blocks  []*block
	skip    int // messages at the front of the first block that no longer count
	count   int
	dropped bool
	users   []user
	numbers map[string]uint32 // places in users, by ID
	spoke   int               // users of whom some message counts
}

// block holds messages in columns, as they come.
type block struct {
	at    [blockSize]int64 // nanoseconds since 1970
	user  [blockSize]uint32
	cost  [blockSize]uint32
	roles [blockSize]chatguard.Roles
}

const blockSize = 1 << 13

// user is somebody who spoke.
type user struct {
	id, login string
	messages  uint32 // that count
}

// NewTimeline returns an empty Timeline of which the newest messages count, that many at most.
func NewTimeline(most int) *Timeline { return &Timeline{most: most, numbers: map[string]uint32{}} }

// Add appends messages, in the order in which they were judged. It keeps nothing of what it is given.
func (t *Timeline) Add(messages []journal.Spoken) {
	for i := range messages {
		t.add(&messages[i])
	}
}

func (t *Timeline) add(m *journal.Spoken) {
	if t.count == t.most {
		t.dropOldest()
	}
	b, i := t.next()
	b.at[i], b.user[i], b.roles[i] = m.At.UnixNano(), t.number(m), m.Roles
	b.cost[i] = uint32(min(m.Cost, math.MaxUint32)) // no limit tells more apart
	t.count++
	u := &t.users[b.user[i]]
	if u.messages++; u.messages == 1 {
		t.spoke++
	}
}

// next returns where the next message belongs.
func (t *Timeline) next() (*block, int) {
	end := t.skip + t.count
	if end == len(t.blocks)*blockSize {
		t.blocks = append(t.blocks, new(block))
	}
	return t.blocks[end/blockSize], end % blockSize
}

// number returns the place of a message's author.
func (t *Timeline) number(m *journal.Spoken) uint32 {
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
	t.dropped = true
	t.count--
	if t.skip++; t.skip == blockSize {
		t.blocks[0] = nil // the array behind the slice lives on until it is outgrown
		t.blocks, t.skip = t.blocks[1:], 0
	}
}

// Messages is how many messages count.
func (t *Timeline) Messages() int { return t.count }

// Users is how many users wrote them.
func (t *Timeline) Users() int { return t.spoke }

// Truncated reports whether there were older messages than those that count.
func (t *Timeline) Truncated() bool { return t.dropped }

// From is the time of the first message that counts; zero where there is none.
func (t *Timeline) From() time.Time {
	if t.count == 0 {
		return time.Time{}
	}
	return time.Unix(0, t.blocks[0].at[t.skip])
}

// Bytes is about how much memory the Timeline takes.
func (t *Timeline) Bytes() int {
	const ofMessage, ofUser = 8 + 4 + 4 + 1, 150
	return len(t.blocks)*blockSize*ofMessage + len(t.users)*ofUser
}

// readSize is how many messages are passed over before somebody else may have the processor.
const readSize = 1 << 14

// read fills a batch with the group's messages from the place at on. It returns how many there are, and the place to go on from.
func (t *Timeline) read(at int, members group, into *batch) (n, next int) {
	for end := min(at+readSize, t.count); at < end && n < len(into.messages); at++ {
		b, j := t.blocks[(t.skip+at)/blockSize], (t.skip+at)%blockSize
		if !members.has(b.user[j]) {
			continue
		}
		m := &into.messages[n]
		into.numbers[n] = b.user[j]
		m.User.ID, m.User.Roles = t.users[b.user[j]].id, b.roles[j]
		m.SentAt, m.Cost = time.Unix(0, b.at[j]), int(b.cost[j])
		n++
	}
	return n, at
}
