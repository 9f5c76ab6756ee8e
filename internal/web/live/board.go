package live

import (
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

// board holds the users who are throttled now, those who are timed out or banned, and those who
// were throttled within Recent. Code that holds its lock never blocks.
type board struct {
	mu      sync.Mutex
	rows    map[rowKey]*row
	entries map[chatguard.EntryID]*row // by the last entry of each row
	// throttled has the rows of users who are throttled now, and past has the others.
	throttled, past rowHeap
	// changed contains the rows that have changed since the last takeChanges.
	changed map[rowKey]struct{}
	sizes   map[string]int // number of throttled users per channel
	users   userCounts     // of those throttled; written under mu, read without it
	// isText reports whether a channel's limit is on repeated text; nil means that none is.
	isText func(channel, limit string) bool
}

// MaxRows is the maximum number of rows. If there are more, the row of one user is removed. It is
// the user whose row would be removed first among those who are not throttled. If all are
// throttled, it is the user whose limit or timeout ends first.
const MaxRows = 10_000

func newBoard() *board {
	return &board{rows: map[rowKey]*row{}, entries: map[chatguard.EntryID]*row{}, changed: map[rowKey]struct{}{}, sizes: map[string]int{}}
}

// len returns the number of users who are throttled in a channel. An empty channel means all
// channels.
func (b *board) len(channel string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if channel == "" {
		return len(b.throttled)
	}
	return b.sizes[channel]
}

// put records a throttled message m with its entry. color is its author's. now is the current time.
func (b *board) put(e journal.Entry, color string, m chatguard.Message, now time.Time) {
	// The policy may have lost the limit since.
	sameText := e.Repeats != (journal.Repeats{}) || b.isText != nil && b.isText(e.ChannelID, e.Limit)
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rows[rowKey{e.ChannelID, e.UserID}]
	if r == nil {
		r = &row{place: -1}
	}
	if !r.waits(e.At) { // a new row, or one whose time was up
		r.Since, r.Count = e.At, 0
	}
	if r.Total == 0 {
		r.First = e.At
	}
	delete(b.entries, r.Outcome.Entry)
	r.setEntry(e, color, m.User.Roles)
	r.SameText = sameText
	r.limit(e.MaySpeakAt.Time)
	r.cost, r.print = m.Cost, m.Print
	b.rows[r.key()], b.entries[e.ID] = r, r
	b.settle(r, now)
	if len(b.rows) > MaxRows {
		b.evict()
	}
}

func (b *board) evict() {
	if len(b.past) > 0 {
		b.remove(b.past[0])
	} else {
		b.remove(b.throttled[0])
	}
}

// allow records that a user's message was allowed, so nothing throttles the user any more. The
// reason may be a role, a lower cost or a looser policy. If the user is not throttled, which is the
// usual case, allow takes no lock.
func (b *board) allow(channel, user string, at time.Time) {
	if b.users.counter(user).Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rows[rowKey{channel, user}]; r != nil && (r.limited || r.assumed) && !at.Before(r.At) {
		if r.assumed {
			r.Silenced, r.assumed = nil, false // the user could write
		}
		b.release(r, at)
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
// since. A user who is not throttled remains so until their next message.
func (b *board) judge(seen row, v chatguard.Verdict, now time.Time) {
	sameText := b.isText != nil && b.isText(seen.Channel, v.Limit)
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rows[seen.key()]
	if r == nil || r.Outcome.Entry != seen.Outcome.Entry {
		return
	}
	r.Strikes = v.Strikes
	switch {
	case !r.limited:
		b.settle(r, now)
	case !v.Throttled():
		b.release(r, now)
	default:
		r.Limit, r.Observed, r.SameText = v.Limit, v.Observed, sameText // the outcome of the last message stays
		r.limit(journal.MaySpeakAt(v))
		b.settle(r, now)
	}
}

// silence sets a user's timeout or ban; nil means that there is none. If the user isn't listed, it
// adds a row with the person's names. It reports whether the row lacks a display name.
func (b *board) silence(key rowKey, s *journal.Silence, person journal.Person, now time.Time) (isUnnamed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rows[key]
	switch {
	case r == nil && s == nil:
		return false
	case r == nil:
		r = &row{place: -1}
		r.Channel, r.UserID = strings.Clone(key.channel), strings.Clone(key.user)
		r.setPerson(person)
	}
	if r.Total == 0 && s != nil {
		r.Since, r.At, r.First = s.At, s.At, s.At
		r.Outcome = journal.Outcome{At: s.At, Action: s.Action(), Result: journal.Done}
	}
	r.Silenced, r.assumed = s, false
	b.rows[r.key()] = r
	b.settle(r, now)
	if len(b.rows) > MaxRows {
		b.evict()
	}
	return r.Total == 0 && r.DisplayName == ""
}

// assume sets the timeout or ban of a listed user in a chat that doesn't report any.
func (b *board) assume(key rowKey, s *journal.Silence, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rows[key]
	if r == nil || !s.IsInForce(now) || r.Silenced != nil && !s.Banned && r.Silenced.Outlasts(s.Until) {
		return
	}
	r.Silenced, r.assumed = s, true
	b.settle(r, now)
}

// name sets the names and roles of a user whom the board lists without a message.
func (b *board) name(channel string, p journal.Person) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rows[rowKey{channel, p.UserID}]; r != nil && r.Total == 0 {
		r.setPerson(p)
		b.changed[r.key()] = struct{}{}
	}
}

// act records what a person did to a listed user.
func (b *board) act(key rowKey, a Act) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rows[key]; r != nil {
		r.Act = &a
		b.changed[key] = struct{}{}
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

// settle moves a row to its new place after its state has changed, or removes it if it is too old.
func (b *board) settle(r *row, now time.Time) {
	wasHeld := r.Held
	r.update(now)
	b.move(r, wasHeld)
	if !r.due().After(now) {
		b.remove(r)
	}
}

// release records that no limit throttles a user any more.
func (b *board) release(r *row, now time.Time) {
	r.limited = false
	b.settle(r, now)
}

// move puts a row at its place in the heap of users who are throttled, or of the others. wasHeld
// says in which of them it is.
func (b *board) move(r *row, wasHeld bool) {
	b.changed[r.key()] = struct{}{}
	if r.place >= 0 && r.Held == wasHeld {
		heap.Fix(b.heapOf(r.Held), r.place)
		return
	}
	b.detach(r, wasHeld)
	heap.Push(b.heapOf(r.Held), r)
	if r.Held {
		b.users.counter(r.UserID).Add(1)
		b.sizes[r.Channel]++
	}
}

// detach takes a row out of its heap.
func (b *board) detach(r *row, wasHeld bool) {
	if r.place < 0 {
		return
	}
	heap.Remove(b.heapOf(wasHeld), r.place)
	if !wasHeld {
		return
	}
	b.users.counter(r.UserID).Add(-1)
	if b.sizes[r.Channel]--; b.sizes[r.Channel] == 0 {
		delete(b.sizes, r.Channel)
	}
}

func (b *board) heapOf(held bool) *rowHeap {
	if held {
		return &b.throttled
	}
	return &b.past
}

// expire updates the rows whose limit, timeout or ban is over, and removes those that are too old.
func (b *board) expire(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.throttled) > 0 && !b.throttled[0].due().After(now) {
		b.settle(b.throttled[0], now)
	}
	for len(b.past) > 0 && !b.past[0].due().After(now) {
		b.remove(b.past[0])
	}
}

// forget removes a user from all channels.
func (b *board) forget(user string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, r := range b.rows {
		if key.user == user {
			b.remove(r)
		}
	}
}

func (b *board) remove(r *row) {
	b.detach(r, r.Held)
	delete(b.rows, r.key())
	delete(b.entries, r.Outcome.Entry)
	b.changed[r.key()] = struct{}{}
}

// list returns the wanted rows of a channel, the one throttled earliest first. An empty channel
// means all channels.
func (b *board) list(channel string, isWanted func(*Throttled) bool) []row {
	b.mu.Lock()
	rows := make([]row, 0, len(b.rows))
	for _, r := range b.rows {
		if (channel == "" || r.Channel == channel) && isWanted(&r.Throttled) {
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
