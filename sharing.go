package chatguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// sharing is what a Guard knows of the rows in its Shared store.
type sharing struct {
	store  shared.Store
	writer uint32 // of this Guard's stamps

	// adopt is called with each row that was swapped; nil with ShareExact.
	adopt func(rowKey, *limits.Row)
	met   sync.Map // channels whose overrides were looked for; only with adopt

	// deciding is held while a batch is decided without the store, so that decisions on the same
	// rows don't make each other decide again.
	deciding sync.Mutex

	swaps, conflicts, fromMemory, apart, unreadable, healed, overdrawn, exchanged atomic.Int64

	// mixed is set once a message uses PerUserEverywhere and PerChannel limits. See Guard.flight.
	mixed atomic.Bool

	problem  atomic.Pointer[rowProblem]
	numbered atomic.Pointer[numbered]

	// collecting is locked while what tables have unsent becomes what rows owe, and locked for
	// reading while a row goes into its table with everything that it owes.
	collecting sync.RWMutex
	settled    atomic.Uint32 // stripes that settle has begun with

	stripes [stripeCount]stripe
}

const stripeCount = 64

// rowRef is a row that a message uses, with the limits that apply to it.
type rowRef struct {
	key    rowKey
	flight rowKey // see Guard.flight
	set    *limits.Set
	since  int64          // when the set came into force
	order  map[string]int // as in limits.Place
}

// DefaultSharedRows is the default of Options.SharedRows.
const DefaultSharedRows = 200_000

func newSharing(store shared.Store, maxRows int) *sharing {
	if maxRows <= 0 {
		maxRows = DefaultSharedRows
	}
	s := &sharing{store: store, writer: rand.Uint32()}
	for i := range s.stripes {
		s.stripes[i].init(i, max(1, maxRows/stripeCount))
	}
	return s
}

var stripeSeed = maphash.MakeSeed()

func (s *sharing) stripe(key rowKey) *stripe {
	hash := maphash.String(stripeSeed, key.userID)
	if key.userID == "" {
		hash = maphash.String(stripeSeed, key.channelID)
	}
	return &s.stripes[hash%stripeCount]
}

// reading is a reading of Shared.Clock.
type reading struct {
	now  time.Time
	skew time.Duration
}

func (s *sharing) read() (r reading) {
	r.now, r.skew = s.store.Clock()
	return r
}

// now returns the time that all nodes use.
func (s *sharing) now() time.Time {
	now, _ := s.store.Clock()
	return now
}

// numbered is this node's number, as it was at a time.
type numbered struct {
	at     time.Time
	number int64
}

// number returns the number of this node, which may be a second old. Without one from the store it
// is random.
func (s *sharing) number(now time.Time) int64 {
	if known := s.numbered.Load(); known != nil && now.Sub(known.at).Abs() < time.Second {
		return known.number
	}
	n, ok := s.store.Number()
	if !ok {
		n = int(s.writer)
	}
	number := int64(n) & (sharedEntryStep - 1)
	s.numbered.Store(&numbered{now, number})
	return number
}

// invalidate makes a row uncertain.
func (s *sharing) invalidate(key rowKey) {
	t := s.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.rows[key]
	if k == nil && s.adopt == nil {
		return
	}
	k = t.get(key)
	k.version++
	k.seen, k.refusal, k.replaced = 0, nil, true
	k.due = k.due || s.adopt != nil // the next Exchange reads it
	t.place(k)
}

// invalidateAll makes all rows uncertain.
func (s *sharing) invalidateAll() {
	s.met.Clear()
	for i := range s.stripes {
		t := &s.stripes[i]
		t.mu.Lock()
		for _, k := range t.rows {
			k.version++
			k.seen, k.due = 0, k.due || s.adopt != nil
			t.place(k)
		}
		t.mu.Unlock()
	}
}

// heal makes the next exchange look at all rows that still have an effect.
func (s *sharing) heal() {
	now := s.now().UnixNano()
	for i := range s.stripes {
		t := &s.stripes[i]
		t.mu.Lock()
		for _, k := range t.rows {
			if k.row.Until() > now {
				k.due = true
				t.place(k)
			}
		}
		t.mu.Unlock()
	}
}

// counts returns the counters.
func (s *sharing) counts() shared.Counts {
	c := shared.Counts{
		Swaps: s.swaps.Load(), Conflicts: s.conflicts.Load(), FromMemory: s.fromMemory.Load(), Offline: s.apart.Load(),
		Unreadable: s.unreadable.Load(), Healed: s.healed.Load(), Overdrawn: s.overdrawn.Load(), Exchanged: s.exchanged.Load(),
	}
	if problem := s.problem.Load(); problem != nil && time.Since(problem.at) < problemFor {
		c.Problem = problem.text
	}
	for i := range s.stripes {
		t := &s.stripes[i]
		t.mu.Lock()
		c.Rows += len(t.rows)
		c.Pending += t.owed
		c.Lost += t.lost
		t.mu.Unlock()
	}
	return c
}

// setProblem records that a row can't be read.
func (s *sharing) setProblem(key rowKey, err error) {
	s.problem.Store(&rowProblem{fmt.Sprintf("channel %q, user %q: %v", key.channelID, key.userID, err), time.Now()})
}

// rowProblem says why a row couldn't be read, and when that was.
type rowProblem struct {
	text string
	at   time.Time
}

const problemFor = 10 * time.Minute // how long counts tells it

// repeatRefusal fills in the decision on a message that uses only one row, if the row's last
// refusal certainly holds for it, too. It is the quickest way to refuse.
func (s *sharing) repeatRefusal(clock reading, key rowKey, set *limits.Set, q *limits.Request, d *limits.Decision) bool {
	if clock.skew >= time.Second {
		return false
	}
	t := s.stripe(key)
	t.mu.Lock()
	known := t.find(key)
	ok := known.isCertain(clock.now.UnixNano()) && known.refusal.repeat(set, q, int64(clock.skew), d)
	t.mu.Unlock()
	if ok {
		s.fromMemory.Add(1)
	}
	return ok
}

// judgeFromMemory judges a message by the known rows, and reports whether the decision is certain.
func (s *sharing) judgeFromMemory(clock reading, refs []rowRef, q *limits.Request, d *limits.Decision) bool {
	if clock.skew >= time.Second {
		return false
	}
	var room [limits.Scopes]limits.SeenRow
	rows := room[:len(refs)]
	for i, ref := range refs {
		t := s.stripe(ref.key)
		t.mu.Lock()
		known := t.find(ref.key)
		ok := known.isCertain(clock.now.UnixNano()) && known.row.ReadWith(ref.set)
		if ok {
			rows[i] = limits.SeenRow{Set: ref.set, Row: known.row, Order: ref.order}
		}
		t.mu.Unlock()
		if !ok {
			return false
		}
	}
	until, frozen := limits.IsFrozen(rows, q, d, int64(clock.skew))
	if !frozen {
		return false
	}
	s.fromMemory.Add(1)
	if until > 0 && len(refs) == 1 {
		s.rememberRefusal(refs[0], rows[0].Row, q, d, until)
	}
	return true
}

// rememberRefusal remembers a refusal by a row, unless the row has changed since.
func (s *sharing) rememberRefusal(ref rowRef, row *limits.Row, q *limits.Request, d *limits.Decision, until int64) {
	t := s.stripe(ref.key)
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.rows[ref.key]; known != nil && known.row == row {
		known.refusal = &refusal{set: ref.set, roles: q.Roles, exempt: q.Exempt, from: q.At, to: until, decision: *d}
	}
}

// settle swaps the rows that owe something. refOf returns the limits that apply to a row. A row
// that can't be swapped stays as it is, and doesn't keep others from being swapped. settle returns
// the first error.
func (s *sharing) settle(ctx context.Context, refOf func(rowKey) (rowRef, bool)) (err error) {
	away := false
	var rows []*knownRow
	defer func() { release(rows) }()
	settle := func(n int) {
		if !away && ctx.Err() == nil {
			failed := s.settleRows(ctx, rows[:n], refOf)
			err, away = cmp.Or(err, failed), errors.Is(failed, shared.ErrAway)
		}
		release(rows[:n])
		rows = rows[n:]
	}
	for range s.stripes {
		// Calls at the same time have different stripes, and a row is only in one list.
		rows = s.stripes[s.settled.Add(1)%stripeCount].takeDue(rows)
		for len(rows) >= maxSettled {
			settle(maxSettled)
		}
	}
	settle(len(rows))
	return cmp.Or(err, ctx.Err())
}

// settleRows swaps some rows, and returns the first error.
func (s *sharing) settleRows(ctx context.Context, rows []*knownRow, refOf func(rowKey) (rowRef, bool)) (err error) {
	asks := make([]*ask, 0, len(rows))
	for _, k := range rows {
		if ref, ok := refOf(k.key); ok {
			asks = append(asks, newLook(ref))
		} else { // there are no such limits any more
			s.drop(k)
		}
	}
	err = s.decideAll(ctx, asks)
	for _, a := range asks {
		if a.err == nil {
			s.exchanged.Add(1)
		}
		if err = cmp.Or(err, a.err); !a.left {
			a.free()
		}
	}
	return err
}

// takeDue appends the rows that an exchange must look at, for use until release.
func (t *stripe) takeDue(rows []*knownRow) []*knownRow {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range []*ring{&t.owing, &t.due} {
		for r.n > 0 {
			k := r.end.newer
			t.use(k)
			rows = append(rows, k)
		}
	}
	return rows
}

func release(rows []*knownRow) {
	for _, k := range rows {
		k.stripe.mu.Lock()
		k.stripe.release(k)
		k.stripe.mu.Unlock()
	}
}

// drop forgets what a row owes.
func (s *sharing) drop(k *knownRow) {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.version++
	k.owed, k.tries, k.apart, k.due, k.seen = nil, nil, nil, false, 0
}

// maxSettled is how many rows are written in one round trip.
const maxSettled = 256
