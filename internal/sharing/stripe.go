package sharing

import (
	"hash/maphash"
	"sync"
)

// knownRows are the known rows, in stripes.
type knownRows struct{ stripes [stripeCount]stripe }

const stripeCount = 64

var stripeSeed = maphash.MakeSeed()

func (rows *knownRows) stripe(key Key) *stripe {
	hash := maphash.String(stripeSeed, key.UserID)
	if key.UserID == "" {
		hash = maphash.String(stripeSeed, key.ChannelID)
	}
	return &rows.stripes[hash%stripeCount]
}

// pin returns what is known of a row, and keeps it in memory.
func (rows *knownRows) pin(key Key) *knownRow {
	t := rows.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.get(key)
	t.pin(k)
	return k
}

// forEach calls do with every row, while its stripe is locked.
func (rows *knownRows) forEach(do func(*knownRow)) {
	for i := range rows.stripes {
		t := &rows.stripes[i]
		t.mu.Lock()
		for _, k := range t.rows {
			do(k)
		}
		t.mu.Unlock()
	}
}

// stripe is a part of the known rows, with its own lock.
type stripe struct {
	index       int // in knownRows.stripes
	mu          sync.Mutex
	deciding    sync.Mutex // see batch.lockDeciding; locked before mu
	rows        map[Key]*knownRow
	most        int  // maximum number of rows in pending, and in recent and due together
	recent      ring // rows that aren't in use, without anything pending
	due         ring // the same, but the next Exchange reads them
	pending     ring // rows that aren't in use, with something pending
	pendingRows int  // rows with something pending, as of their last use
	lost        int64
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
	t.index, t.rows, t.most = index, map[Key]*knownRow{}, most
	t.recent.init()
	t.due.init()
	t.pending.init()
}

// find returns what is known of a row, or nil, and notes that the row was used. The stripe must be
// locked, as for all methods.
func (t *stripe) find(key Key) *knownRow {
	k := t.rows[key]
	if k != nil && k.ring != nil && k.ring.end.older != k {
		r := k.ring
		k.unlink()
		r.add(k)
	}
	return k
}

// get returns what is known of a row, and adds a missing row. The caller then pins or places it.
func (t *stripe) get(key Key) *knownRow {
	k := t.rows[key]
	if k == nil {
		k = &knownRow{key: key, stripe: t}
		t.rows[key] = k
	}
	return k
}

// pin keeps a row in memory until unpin.
func (t *stripe) pin(k *knownRow) {
	k.unlink()
	k.pins++
}

func (t *stripe) unpin(k *knownRow) {
	if k.pins--; k.pins == 0 {
		t.place(k)
	}
}

// place puts a row into its ring, unless it is in use. If there are too many rows, the least
// recently used one is removed. A row with something pending is removed only if there are too many
// such rows.
func (t *stripe) place(k *knownRow) {
	if k.pins > 0 {
		return
	}
	k.unlink()
	r := &t.recent
	switch {
	case k.isOpen():
		r = &t.pending
	case k.due:
		r = &t.due
	}
	t.count(k, k.isOpen())
	r.add(k)
	switch {
	case t.pending.n > t.most:
		t.lost++
		t.remove(t.pending.end.newer)
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

// count notes whether something is pending in a row.
func (t *stripe) count(k *knownRow, pending bool) {
	switch {
	case pending && !k.counted:
		t.pendingRows++
	case !pending && k.counted:
		t.pendingRows--
	}
	k.counted = pending
}

// pinDue appends the rows that an Exchange must look at, and pins them.
func (t *stripe) pinDue(rows []*knownRow) []*knownRow {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range []*ring{&t.pending, &t.due} {
		for r.n > 0 {
			k := r.end.newer
			t.pin(k)
			rows = append(rows, k)
		}
	}
	return rows
}

// unpin unpins rows.
func unpin(rows []*knownRow) {
	for _, k := range rows {
		k.stripe.mu.Lock()
		k.stripe.unpin(k)
		k.stripe.mu.Unlock()
	}
}
