// Package sharing keeps what a Guard knows of the rows in a store that several Guards share. It
// judges messages by these rows, from memory if the result is certain, and otherwise by comparing
// and swapping them in the store. While the store is away, it decides by what it knows, and
// remembers what is pending. It must not know messages, policies or verdicts, nor which store it
// uses.
package sharing

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// Rows is what a Guard knows of the rows in its store. Create it with New. It is safe for
// concurrent use.
type Rows struct {
	store  shared.Store
	tables Tables
	exact  bool   // the rows decide, not those in the tables
	writer uint32 // of this Guard's stamps

	scopes scopes
	known  knownRows
	listed sync.Map // channels whose overrides were listed; only if not exact

	lost atomic.Int64 // shared time of the last loss at the store; see noteLoss

	counters counters
	numbered atomic.Pointer[numbered]

	// collecting is locked while what tables have unsent becomes pending in rows, and locked for
	// reading while a row is imported into its table with everything that is pending.
	collecting sync.RWMutex
	reconciled atomic.Uint32 // stripes that Exchange has begun with
}

// Tables are the Guard's tables of rows, and the limits of its channels.
type Tables interface {
	// Shared returns the limits of a channel, which it creates if it is new. at is the current
	// time. It returns nil if the ID isn't valid.
	Shared(channelID string, at time.Time) *Channel
	// Table returns the table that has a row, or nil if there is none.
	Table(key Key) *limits.Table
	// EachTable calls do with every table and the ID of its channel.
	EachTable(do func(channelID string, table *limits.Table))
}

// Key identifies a row, as the IDs of a shared.Row do.
type Key struct{ ChannelID, UserID string }

// New returns Rows that know no row of the store yet. It remembers at most maxRows. If exact is
// true, the rows decide. Otherwise, the tables decide, and the rows are compared with them at each
// Exchange.
func New(store shared.Store, maxRows int, exact bool, tables Tables) *Rows {
	s := &Rows{store: store, tables: tables, exact: exact, writer: rand.Uint32()}
	for i := range s.known.stripes {
		s.known.stripes[i].init(i, max(1, maxRows/stripeCount))
	}
	return s
}

// Reading is a reading of the store's clock.
type Reading struct {
	Now  time.Time
	Skew time.Duration // the maximum difference between the clocks of two nodes
}

// Read reads the store's clock.
func (s *Rows) Read() (r Reading) {
	r.Now, r.Skew = s.store.Clock()
	return r
}

// Now returns the time that all nodes use.
func (s *Rows) Now() time.Time { return s.Read().Now }

// numbered is this node's number, as it was at a time.
type numbered struct {
	at     time.Time
	number int64
}

// Nodes is the number of possible node numbers.
const Nodes = 1 << 8

// Number returns the number of this node, which is below Nodes and may be a second old. Without one
// from the store it is random.
func (s *Rows) Number(now time.Time) int64 {
	if known := s.numbered.Load(); known != nil && now.Sub(known.at).Abs() < time.Second {
		return known.number
	}
	n, ok := s.store.Number()
	if !ok {
		n = int(s.writer)
	}
	number := int64(n) & (Nodes - 1)
	s.numbered.Store(&numbered{now, number})
	return number
}

// Invalidate makes a row uncertain.
func (s *Rows) Invalidate(key Key) {
	t := s.known.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.rows[key]
	if k == nil && s.exact {
		return
	}
	k = t.get(key)
	k.version++
	k.seen, k.refusal, k.replaced = 0, nil, true
	k.due = k.due || !s.exact // the next Exchange reads it
	t.place(k)
}

// InvalidateAll makes all rows uncertain.
func (s *Rows) InvalidateAll() {
	s.listed.Clear()
	s.known.forEach(func(k *knownRow) {
		k.version++
		k.seen, k.due = 0, k.due || !s.exact
		k.stripe.place(k)
	})
}

// Heal makes the next Exchange look at all rows that still have an effect.
func (s *Rows) Heal() {
	now := s.Now().UnixNano()
	s.lost.Store(now) // a new one, however short ago the last one was
	s.known.forEach(func(k *knownRow) {
		if k.row.Until() > now {
			k.due = true
			k.stripe.place(k)
		}
	})
}
