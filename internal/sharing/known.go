package sharing

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// knownRow is what is known of a row in the store. It is guarded by its stripe's lock; the
// rows themselves are immutable.
type knownRow struct {
	key    Key
	stripe *stripe

	ring         *ring // that the row is in; nil while it is pinned
	newer, older *knownRow
	pins         int // how many flights, batches and Exchanges work on the row

	inFlight bool          // a flight is in progress
	leader   *request      // caller of the request that has started it; nil once it was handed over
	waiting  []*request    // for the flight
	lockedBy *batch        // that works on the row with the store; nil if none does
	answered time.Time     // when the store answered the last flight
	trip     time.Duration // how long that took
	busy     time.Duration // for how long flights have followed each other with less than that between them

	row *limits.Row // as it was last seen in the store; nil if there was none
	// seen is the last time, by the shared clock, at which the store certainly had this row. It is
	// 0 if the store may have another row now.
	seen int64
	// replaced is set when another node may have replaced the row. A missing row is then no loss.
	replaced bool
	// refusal is the last refusal that was certain; nil if there was none since the row changed.
	refusal *refusal
	next    *limits.Row // that the swap in progress writes; nil if there is none
	issued  uint64      // the highest number of a stamp that this Guard has made
	version uint64      // counts the changes of what is known

	debt
	restored int64 // the loss after which this node has restored the row; see losses
	due      bool  // the next Exchange must read the row even if nothing is owed
	// counted reports whether the row is one of stripe.pendingRows.
	counted bool
}

// refusal is a decision that the same request certainly gets again for a while.
type refusal struct {
	set      *limits.Set
	roles    limits.Roles
	zone     *limits.Timezone
	exempt   bool
	from, to int64
	decision limits.Decision
}

// certain is the maximum time for which a row counts as certain, because a notice about a change by
// hand may be lost.
const certain = 10 * time.Second

// repeat fills in the decision on a request, if the refusal certainly holds for it.
func (r *refusal) repeat(set *limits.Set, q *limits.Request, skew int64, d *limits.Decision) bool {
	if r == nil || r.set != set || r.roles != q.Roles || r.zone != q.Zone || r.exempt != q.Exempt || q.Cost != 1 || q.UpTo || q.Try || q.At < r.from || q.At+skew > r.to {
		return false
	}
	*d = r.decision
	d.At, d.LeaveAt = q.At, q.At
	return true
}

// isCertain reports whether the store certainly has the row as it is known. If the shared clock was
// set back, the row may have been seen in the future.
func (k *knownRow) isCertain(now int64) bool {
	return k != nil && k.seen != 0 && max(now-k.seen, k.seen-now) < int64(certain) && !k.isOpen()
}

// confirm records a row that a draft has swapped. It returns the ID of the row that the table's row
// was based on, and what is still owed.
func (k *knownRow) confirm(row *limits.Row, r *rowDraft, now int64) (imported uint64, owes debt, assumed bool) {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	imported = k.on
	includes := k.on == row.Writes().ID() || r.adopted && k.on == r.base.Writes().ID()
	k.observe(row, r.version, now)
	n, assumed := k.paid(row)
	if k.spent = k.spent[n:]; len(k.spent) == 0 {
		k.spent = nil
	}
	k.since, k.tries, k.edited = row, nil, false
	if k.strikes == r.strikes {
		k.strikes = nil
	}
	if k.on = row.Writes().ID(); !includes || !k.isOpen() {
		k.local = nil
	}
	return imported, k.debt, assumed
}

// isLost reports whether the store has lost writes of the row that this node knows. written reports
// whether another node has written the stored row since.
func (k *knownRow) isLost(stored *limits.Row, now int64) (lost, written bool) {
	if k.row.Until() <= now || stored == nil && k.replaced {
		return false, false
	}
	included, sure := stored.Writes().Include(k.row.Writes().Stamp)
	older, _ := k.row.Writes().Include(stored.Writes().Stamp)
	return !included && sure, stored != nil && !older
}

// observe records the row that the store has. The row is certain only if what is known has not
// changed since the version. Otherwise, a notice may be about a change after the store's reply.
func (k *knownRow) observe(row *limits.Row, version uint64, now int64) (sure bool) {
	if k.on == k.row.Writes().ID() && (k.hasWritten(row) || row == nil && !k.replaced) {
		k.on = row.Writes().ID() // nobody else has written, or the row had no effect any more
	}
	if row == nil {
		k.since = nil
	}
	k.row, k.refusal, k.next, k.seen, k.replaced = row, nil, nil, 0, false
	if sure = k.version == version; sure {
		k.seen, k.due = now, false
	}
	k.version++
	return sure
}

// restoredAfter returns the loss after which this node has restored the row; 0 if there is none.
func (k *knownRow) restoredAfter() int64 {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	return k.restored
}

// drop forgets what is owed.
func (k *knownRow) drop() {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.version++
	k.debt, k.due, k.seen = debt{}, false, 0
}
