package live

import (
	"cmp"
	"container/heap"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// board holds the users who are throttled now. Code that holds its lock never blocks.
type board struct {
	mu      sync.Mutex
	rows    map[rowKey]*row
	entries map[chatguard.EntryID]*row // by the last entry of each row
	leaving expiryHeap
	// changed contains the rows that have changed since the last takeChanges.
	changed map[rowKey]struct{}
	sizes   map[string]int // number of rows per channel
	users   userCounts     // written under mu, read without it
}

type rowKey struct{ channel, user string }

// row is a throttled user, with the data needed to judge them again.
type row struct {
	Throttled
	roles chatguard.Roles
	cost  int
	place int // index in the heap leaving
}

func (r *row) key() rowKey { return rowKey{r.Channel, r.UserID} }

// maxRows is the maximum number of rows. If there are more, the row of the user who may speak
// soonest is removed.
const maxRows = 10_000

func newBoard() *board {
	return &board{rows: map[rowKey]*row{}, entries: map[chatguard.EntryID]*row{}, changed: map[rowKey]struct{}{}, sizes: map[string]int{}}
}

// len returns the number of rows of a channel. An empty channel means all channels.
func (b *board) len(channel string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if channel == "" {
		return len(b.rows)
	}
	return b.sizes[channel]
}

// put records a message that was throttled at now.
func (b *board) put(e journal.Entry, roles chatguard.Roles, cost int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rows[rowKey{e.ChannelID, e.UserID}]
	if r == nil {
		r = &row{place: -1}
		b.users.counter(e.UserID).Add(1)
		b.sizes[strings.Clone(e.ChannelID)]++
	}
	if !r.leavesAt().After(e.At) { // a new row, or one whose time was up
		r.Since, r.Count = e.At, 0
	}
	delete(b.entries, r.Outcome.Entry)
	r.setEntry(e)
	r.roles, r.cost = roles, cost
	b.rows[r.key()], b.entries[e.ID] = r, r
	b.settle(r, now)
	if len(b.rows) > maxRows {
		b.remove(b.leaving[0])
	}
}

// allow removes a user's row because a message that the user sent at that time was allowed. The
// reason may be a role, a lower cost or a looser policy. If the user has no row, which is the usual
// case, allow takes no lock.
func (b *board) allow(channel, user string, at time.Time) {
	if b.users.counter(user).Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rows[rowKey{channel, user}]; r != nil && !at.Before(r.At) {
		b.remove(r)
	}
}

// preload puts a row on the board for the user of each entry.
func (b *board) preload(entries []journal.Entry, now time.Time) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b journal.Entry) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range entries {
		b.put(e, 0, 0, now)
	}
}

// report sets the outcome of a row's last entry.
func (b *board) report(o journal.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.entries[o.Entry]; r != nil {
		r.Outcome = o
		b.changed[r.key()] = struct{}{}
	}
}

// judge replaces the row's verdict with a newer one, unless the user has sent another message
// since.
func (b *board) judge(seen row, v chatguard.Verdict, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.entries[seen.Outcome.Entry]
	switch {
	case r == nil || r.key() != seen.key():
		return
	case !v.Throttled():
		b.remove(r)
	default:
		r.judge(v)
		b.settle(r, now)
	}
}

// find returns the row of a user; ok is false if there is none.
func (b *board) find(channel, user string) (found row, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rows[rowKey{channel, user}]; r != nil {
		return *r, true
	}
	return row{}, false
}

// settle moves a row to its new place after its times have changed. If its time is up, settle
// removes it.
func (b *board) settle(r *row, now time.Time) {
	b.changed[r.key()] = struct{}{}
	if r.place < 0 {
		heap.Push(&b.leaving, r)
	} else {
		heap.Fix(&b.leaving, r.place)
	}
	if !r.leavesAt().After(now) {
		b.remove(r)
	}
}

// expire removes the users who may speak now.
func (b *board) expire(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.leaving) > 0 && !b.leaving[0].leavesAt().After(now) {
		b.remove(b.leaving[0])
	}
}

func (b *board) remove(r *row) {
	heap.Remove(&b.leaving, r.place)
	delete(b.rows, r.key())
	b.users.counter(r.UserID).Add(-1)
	if b.sizes[r.Channel]--; b.sizes[r.Channel] == 0 {
		delete(b.sizes, r.Channel)
	}
	delete(b.entries, r.Outcome.Entry)
	b.changed[r.key()] = struct{}{}
}

// list returns the rows of a channel, the one throttled earliest first. An empty channel means all
// channels.
func (b *board) list(channel string) []row {
	b.mu.Lock()
	rows := make([]row, 0, len(b.rows))
	for _, r := range b.rows {
		if channel == "" || r.Channel == channel {
			rows = append(rows, *r)
		}
	}
	b.mu.Unlock()
	slices.SortFunc(rows, func(a, b row) int { return compareSince(a.Throttled, b.Throttled) })
	return rows
}

// changes contains the new and changed rows of one channel, and the users who have left the board.
type changes struct {
	users []Throttled // in no particular order
	gone  []string
}

// takeChanges returns the changes since the last call, by channel.
func (b *board) takeChanges() map[string]*changes {
	b.mu.Lock()
	defer b.mu.Unlock()
	byChannel := map[string]*changes{}
	for key := range b.changed {
		c := byChannel[key.channel]
		if c == nil {
			c = &changes{}
			byChannel[key.channel] = c
		}
		if r := b.rows[key]; r != nil {
			c.users = append(c.users, r.Throttled)
		} else {
			c.gone = append(c.gone, key.user)
		}
	}
	clear(b.changed)
	return byChannel
}

// userCounts counts rows by a hash of the user. If a count is 0, the users with that hash have no
// row.
type userCounts [1 << 12]atomic.Int32

var userSeed = maphash.MakeSeed()

func (u *userCounts) counter(user string) *atomic.Int32 {
	return &u[maphash.String(userSeed, user)%uint64(len(u))]
}

// expiryHeap is a heap of rows. Its root is the row that is removed first.
type expiryHeap []*row

func (l expiryHeap) Len() int           { return len(l) }
func (l expiryHeap) Less(i, j int) bool { return l[i].leavesAt().Before(l[j].leavesAt()) }
func (l expiryHeap) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

func (l *expiryHeap) Push(x any) {
	r := x.(*row)
	r.place = len(*l)
	*l = append(*l, r)
}

func (l *expiryHeap) Pop() any {
	last := len(*l) - 1
	r := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	r.place = -1
	return r
}
