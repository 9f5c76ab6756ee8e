package sharing

import (
	"slices"
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

	inFlight bool       // a flight is in progress
	waiting  []*request // for the flight
	lockedBy *batch     // that works on the row with the store; nil if none does

	row *limits.Row // as it was last seen in the store; nil if there was none
	// seen is the last time, by the shared clock, at which the store certainly had this row. It is
	// 0 if the store may have another row now.
	seen int64
	// replaced is set when another node may have replaced the row. A missing or older row in the
	// store is then no loss.
	replaced bool
	// refusal is the last refusal that was certain; nil if there was none since the row changed.
	refusal *refusal
	next    *limits.Row // that the swap in progress writes; nil if there is none
	issued  uint64      // the highest number of a stamp that this Guard has made
	version uint64      // counts the changes of what is known

	// offline is the row after the last decision without the store, if there was one since the row
	// was last swapped. Its strikes still have to be written.
	offline *limits.Row
	pending []limits.Spent // what was allowed without the store, in order; never changed in place
	tries   []try          // swaps of pending messages that may have happened; never changed in place
	due     bool           // the next Exchange must read the row even if nothing is pending
	// counted reports whether the row is one of stripe.pendingRows.
	counted bool
}

// try is a swap of a row whose outcome isn't known.
type try struct {
	stamp    limits.Stamp
	included int // how many of the pending messages it included
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

// maxPending is how many pending messages a row keeps separately. Further ones are merged.
const maxPending = 64

// maxTries is how many tries are remembered. It is less than maxPending.
const maxTries = 32

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
	return k != nil && k.seen != 0 && max(now-k.seen, k.seen-now) < int64(certain) && !k.isPending()
}

// isPending reports whether the store doesn't have everything that happened here.
func (k *knownRow) isPending() bool { return len(k.pending) > 0 || k.offline != nil }

// addPending adds messages to the pending ones, at that index.
func (k *knownRow) addPending(at int, spent ...limits.Spent) {
	k.pending = slices.Insert(slices.Clone(k.pending), at, spent...)
}

// compact merges the oldest messages, if there are too many.
func (k *knownRow) compact() {
	if len(k.pending) > maxPending {
		for k.tries = slices.Clone(k.tries); len(k.pending) > maxPending; {
			k.merge()
		}
	}
}

// merge merges the two oldest messages that are in the same tries. They count at the time of the
// later one. There are such messages, because there are fewer tries than messages.
func (k *knownRow) merge() {
	i := 0
	for slices.ContainsFunc(k.tries, func(t try) bool { return t.included == i+1 }) {
		i++
	}
	k.pending[i].Add(k.pending[i+1])
	k.pending = slices.Delete(k.pending, i+1, i+2)
	for t := range k.tries {
		if k.tries[t].included > i {
			k.tries[t].included--
		}
	}
}

// addTry notes a swap that may have happened. included is how many pending messages it included,
// counted from the first. If there are too many tries, addTry forgets the first, as if that swap
// had happened. So no message counts twice.
func (k *knownRow) addTry(stamp limits.Stamp, included int) {
	k.tries = append(slices.Clone(k.tries), try{stamp, included})
	if len(k.tries) <= maxTries {
		return
	}
	n := k.tries[0].included
	if n > 0 {
		k.stripe.lost++
	}
	k.pending, k.tries = k.pending[n:], k.tries[1:]
	for i := range k.tries {
		k.tries[i].included = max(0, k.tries[i].included-n)
	}
}

// withdraw forgets a try, and returns how many of the pending messages it included.
func (k *knownRow) withdraw(stamp limits.Stamp) (included int) {
	k.tries = slices.DeleteFunc(slices.Clone(k.tries), func(t try) bool {
		if t.stamp != stamp {
			return false
		}
		included = t.included
		return true
	})
	return included
}

// included returns how many of the pending messages a row includes. If other nodes have written the
// row so often since a try that the row doesn't show whether the try has succeeded, included
// assumes that it has. So no message counts twice.
func included(tries []try, writes limits.Writes) int {
	for _, t := range slices.Backward(tries) {
		if yes, known := writes.Include(t.stamp); yes || !known {
			return t.included
		}
	}
	return 0
}

// confirm records a row that a draft has swapped, and returns what is still pending.
func (k *knownRow) confirm(row *limits.Row, r *rowDraft, now int64) (pending []limits.Spent, offline *limits.Row) {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.observe(row, r.version, now)
	if k.pending = k.pending[included(k.tries, row.Writes()):]; len(k.pending) == 0 {
		k.pending = nil
	}
	if k.tries = nil; k.offline == r.offline {
		k.offline = nil
	}
	return k.pending, k.offline
}

// observe records the row that the store has. The row is certain only if what is known has not
// changed since the version. Otherwise, a notice may be about a change after the store's reply.
func (k *knownRow) observe(row *limits.Row, version uint64, now int64) (sure bool) {
	k.row, k.refusal, k.next, k.seen, k.replaced = row, nil, nil, 0, false
	if sure = k.version == version; sure {
		k.seen, k.due = now, false
	}
	k.version++
	return sure
}

// drop forgets what is pending.
func (k *knownRow) drop() {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.version++
	k.pending, k.tries, k.offline, k.due, k.seen = nil, nil, nil, false, 0
}
