package chatguard

import (
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// rowKey identifies a row, as the IDs of a SharedRow do.
type rowKey struct{ channelID, userID string }

// knownRow is what is known of a row in the Shared store. It is guarded by its stripe's lock; the
// rows themselves are immutable.
type knownRow struct {
	key    rowKey
	stripe *stripe

	ring         *ring // that the row is in; nil while it is in use
	newer, older *knownRow
	uses         int // flights and batches that work on the row

	flying  bool         // a flight is in progress
	waiting []*ask       // for the flight
	swapper *sharedBatch // that works on the row with the store; nil if none does

	row *limits.Row // as it was last seen in the store; nil if there was none
	// seen is when it was certain that the store has this row, by the shared clock. It is 0 if that
	// isn't certain any more.
	seen int64
	// replaced is set when another node has replaced the row, so that the store hasn't lost a row
	// if it has none or an older one.
	replaced bool
	// refusal is the last refusal that was certain; nil if there was none since the row changed.
	refusal *refusal
	next    *limits.Row // that the swap in progress writes; nil if there is none
	issued  uint64      // the highest number of a stamp that this Guard has made
	version uint64      // counts the changes of what is known

	// apart is the row after the last decision without the store, if there was one since the row
	// was last swapped. Its strikes still have to be written.
	apart *limits.Row
	owed  []limits.Spent // what was allowed without the store, in order; never changed in place
	tries []try          // swaps of owed messages that may have happened; never changed in place
	due   bool           // the next exchange must look at the row even if it owes nothing
	// counted reports whether the row is one of stripe.owed.
	counted bool
}

// try is a swap of a row whose outcome isn't known.
type try struct {
	stamp    limits.Stamp
	included int // how many of the owed messages it included
}

// refusal is a decision that the same request certainly gets again for a while.
type refusal struct {
	set      *limits.Set
	roles    uint8
	exempt   bool
	from, to int64
	decision limits.Decision
}

// maxOwed is how many messages a row can owe separately. Further ones are merged.
const maxOwed = 64

// maxTries is how many tries are remembered. It is less than maxOwed.
const maxTries = 32

// certain is how long a row is certain at most. A notice about a change by hand may be lost.
const certain = 10 * time.Second

// repeat fills in the decision on a request, if it certainly is the refusal.
func (r *refusal) repeat(set *limits.Set, q *limits.Request, skew int64, d *limits.Decision) bool {
	if r == nil || r.set != set || r.roles != q.Roles || r.exempt != q.Exempt || q.Cost != 1 || q.UpTo || q.Try || q.At < r.from || q.At+skew > r.to {
		return false
	}
	*d = r.decision
	d.At, d.LeaveAt = q.At, q.At
	return true
}

// isCertain reports whether the store certainly has the row as it is known. If the shared clock was
// set back, the row may have been seen in the future.
func (k *knownRow) isCertain(now int64) bool {
	return k != nil && k.seen != 0 && max(now-k.seen, k.seen-now) < int64(certain) && !k.owes()
}

// owes reports whether the store doesn't have everything that happened here.
func (k *knownRow) owes() bool { return len(k.owed) > 0 || k.apart != nil }

// owe adds messages to those that the row owes, at that index.
func (k *knownRow) owe(at int, spent ...limits.Spent) {
	k.owed = slices.Insert(slices.Clone(k.owed), at, spent...)
}

// compact merges the oldest messages, if there are too many.
func (k *knownRow) compact() {
	if len(k.owed) > maxOwed {
		for k.tries = slices.Clone(k.tries); len(k.owed) > maxOwed; {
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
	k.owed[i].Add(k.owed[i+1])
	k.owed = slices.Delete(k.owed, i+1, i+2)
	for t := range k.tries {
		if k.tries[t].included > i {
			k.tries[t].included--
		}
	}
}

// addTry notes a swap of the first so many owed messages, which may have happened. If there are too
// many tries, it forgets the first, as if that has happened. So no message counts twice.
func (k *knownRow) addTry(stamp limits.Stamp, included int) {
	k.tries = append(slices.Clone(k.tries), try{stamp, included})
	if len(k.tries) <= maxTries {
		return
	}
	n := k.tries[0].included
	if n > 0 {
		k.stripe.lost++
	}
	k.owed, k.tries = k.owed[n:], k.tries[1:]
	for i := range k.tries {
		k.tries[i].included = max(0, k.tries[i].included-n)
	}
}

// withdraw forgets a try, and returns how many of the owed messages it included.
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

// included returns how many of the owed messages a row includes. If other nodes have written the
// row so often since a try that it can't tell whether the try has succeeded, it assumes so. So no
// message counts twice.
func included(tries []try, writes limits.Writes) int {
	for _, t := range slices.Backward(tries) {
		switch yes, known := writes.Include(t.stamp); {
		case yes:
			return t.included
		case !known:
			return t.included
		}
	}
	return 0
}

// confirm records a row that a draft has swapped, and returns what the row still owes.
func (k *knownRow) confirm(row *limits.Row, r *rowDraft, now int64) (owed []limits.Spent, apart *limits.Row) {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.learn(row, r.version, now)
	if k.owed = k.owed[included(k.tries, row.Writes()):]; len(k.owed) == 0 {
		k.owed = nil
	}
	if k.tries = nil; k.apart == r.apart {
		k.apart = nil
	}
	return k.owed, k.apart
}

// learn records the row that the store has. It is only certain if nothing has happened since the
// version: a notice may be about a change after the store's reply.
func (k *knownRow) learn(row *limits.Row, version uint64, now int64) (sure bool) {
	k.row, k.refusal, k.next, k.seen, k.replaced = row, nil, nil, 0, false
	if sure = k.version == version; sure {
		k.seen, k.due = now, false
	}
	k.version++
	return sure
}

// stripe is a part of the known rows, with its own lock.
type stripe struct {
	index  int // in sharing.stripes
	mu     sync.Mutex
	rows   map[rowKey]*knownRow
	most   int  // in owing, and in the other rings together
	recent ring // rows that owe nothing and aren't in use
	due    ring // the same, but the next exchange looks at them
	owing  ring // rows that owe something, and that aren't in use
	owed   int  // rows that owe something, as of their last use
	lost   int64
}

// ring is a list of rows, ordered by last use. The row after the end, in the direction of newer,
// was used least recently.
type ring struct {
	end knownRow
	n   int
}

func (r *ring) init() { r.end.newer, r.end.older = &r.end, &r.end }

func (r *ring) add(k *knownRow) {
	last := r.end.older
	k.ring, k.older, k.newer = r, last, &r.end
	last.newer, r.end.older = k, k
	r.n++
}

func (k *knownRow) unlink() {
	if k.ring != nil {
		k.older.newer, k.newer.older = k.newer, k.older
		k.ring.n--
		k.ring = nil
	}
}

func (t *stripe) init(index, most int) {
	t.index, t.rows, t.most = index, map[rowKey]*knownRow{}, most
	t.recent.init()
	t.due.init()
	t.owing.init()
}

// find returns what is known of a row, or nil. The stripe must be locked, as for all methods.
func (t *stripe) find(key rowKey) *knownRow {
	k := t.rows[key]
	if k != nil && k.ring != nil && k.ring.end.older != k {
		r := k.ring
		k.unlink()
		r.add(k)
	}
	return k
}

// get returns what is known of a row, for use or place.
func (t *stripe) get(key rowKey) *knownRow {
	k := t.rows[key]
	if k == nil {
		k = &knownRow{key: key, stripe: t}
		t.rows[key] = k
	}
	return k
}

// use keeps a row in memory until release.
func (t *stripe) use(k *knownRow) {
	k.unlink()
	k.uses++
}

func (t *stripe) release(k *knownRow) {
	if k.uses--; k.uses == 0 {
		t.place(k)
	}
}

// place puts a row into its ring, unless it is in use. If there are too many rows, the oldest is
// removed. A row that owes something only makes room for another one.
func (t *stripe) place(k *knownRow) {
	if k.uses > 0 {
		return
	}
	k.unlink()
	r := &t.recent
	switch {
	case k.owes():
		r = &t.owing
	case k.due:
		r = &t.due
	}
	t.count(k, k.owes())
	r.add(k)
	switch {
	case t.owing.n > t.most:
		t.lost++
		t.remove(t.owing.end.newer)
	case t.recent.n > 0 && t.recent.n+t.due.n > t.most:
		t.remove(t.recent.end.newer)
	case t.due.n > t.most:
		t.remove(t.due.end.newer)
	}
}

// remove removes a row that isn't in use.
func (t *stripe) remove(k *knownRow) {
	k.unlink()
	t.count(k, false)
	delete(t.rows, k.key)
}

// count notes whether a row owes something.
func (t *stripe) count(k *knownRow, owed bool) {
	switch {
	case owed && !k.counted:
		t.owed++
	case !owed && k.counted:
		t.owed--
	}
	k.counted = owed
}
