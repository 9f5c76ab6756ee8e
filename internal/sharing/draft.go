package sharing

import (
	"cmp"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// rowDraft is a row that a batch works on.
type rowDraft struct {
	ref    rowRef
	known  *knownRow
	pinned bool // known is kept in memory for the batch alone

	base     *limits.Row // that the store is expected to have
	version  uint64      // knownRow.version when the draft was loaded or staged
	strikes  *limits.Row // knownRow.strikes when the draft was loaded
	draft    limits.Draft
	observed uint64         // knownRow.version after observe, if the row was certain; otherwise 0
	next     *limits.Row    // nil if the row doesn't change
	staged   bool           // knownRow.next is next
	issued   uint64         // knownRow.issued when the draft was loaded
	owed     int            // how many owed messages the draft accounts for
	over     int64          // by how much the owed messages overdraw the row
	adopted  bool           // the draft is knownRow.local
	spent    []limits.Spent // by the batch's messages; set by recordSpent

	// lost means that the store has lost writes of the row. It has the row stored, not base. If
	// another node has written that row since, because it didn't know base, written is the same
	// row.
	lost            bool
	stored, written *limits.Row
}

// lock makes b the only batch that works on the row with the store. It returns false if another
// batch works on the row. That happens only while limits of other scopes are added or removed,
// because flights change then. restored is the loss after which this node has restored the row, and
// open reports whether something is owed.
func (r *rowDraft) lock(b *batch) (restored int64, open, ok bool) {
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	if k.lockedBy != nil && k.lockedBy != b {
		return 0, false, false
	}
	k.lockedBy = b
	return k.restored, k.isOpen(), true
}

// load makes a draft of the row as it is known, with everything that is owed. If restores is true,
// the draft is what the store has lost.
func (r *rowDraft) load(now int64, offline, restores bool) {
	k := r.known
	k.stripe.mu.Lock()
	base, owes := k.row, k.debt
	if offline && k.next != nil {
		base, owes.since = k.next, k.next
	}
	r.version, r.strikes, r.issued = k.version, owes.strikes, k.issued
	k.stripe.mu.Unlock()
	r.lost = r.lost && base != nil // otherwise a notice has come since
	r.base, owes.since = r.read(base), r.read(owes.since)
	r.next, r.owed, r.over, r.adopted, r.spent = nil, 0, 0, false, nil
	r.draft.Load(r.ref.set, r.base, now)
	if r.lost && r.written != nil {
		r.draft.Join(r.written, now)
		owes.local = nil // which lacks what the other node has written
	}
	if owes.isOpen() && !restores {
		r.owed = len(owes.spent)
		r.over, r.adopted = owes.pay(&r.draft, r.base, now)
	}
}

// read returns a row under the set of the draft.
func (r *rowDraft) read(row *limits.Row) *limits.Row {
	if !row.ReadWith(r.ref.set) {
		// The bytes were readable before, so there is no error.
		row, _ = limits.ReadRow(r.ref.set, r.ref.since, row.Bytes())
	}
	return row
}

// write makes the row's next version from the draft, if the draft has changes. The number of its
// stamp is above that of every known write of the row.
func (r *rowDraft) write(s *Rows, now int64) {
	if !r.draft.Changed() {
		return
	}
	r.next = r.draft.Row(limits.Stamp{Seq: max(r.issued, r.base.Writes().Seq, r.written.Writes().Seq) + 1, Writer: s.writer}, now)
}

// stage makes the row's next version known to offline decisions. If messages are owed, it adds a
// try, because the version includes them. stage returns false if what was known has changed.
func (r *rowDraft) stage(s *Rows) bool {
	if r.next == nil {
		return true
	}
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	if k.version != r.version {
		return false
	}
	k.version++
	r.version, r.staged = k.version, true
	k.next, k.issued = r.next, r.next.Writes().Seq
	if r.owed > 0 {
		s.counters.assume(k.addTry(r.next.Writes().Stamp, r.owed))
	}
	return true
}

// unstage undoes stage. If the swap may have happened, recordOffline notes it, or the row in the
// store shows it.
func (r *rowDraft) unstage(happened bool) {
	if !r.staged {
		return
	}
	r.staged = false
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	if k.next = nil; !happened {
		k.issued = r.issued // other nodes rely on numbers without large gaps
	}
	if r.owed > 0 {
		r.owed = k.withdraw(r.next.Writes().Stamp)
	}
}

// notifies reports whether other nodes must be notified of the row. Other nodes assume that a row
// that refuses messages doesn't change. It does change if it must pay for messages that were
// allowed without the store.
func (r *rowDraft) notifies(s *Rows) bool {
	return r.over > 0 || s.exact && r.next != nil && (r.owed > 0 || r.strikes != nil)
}

// swapRow returns the row for a swap.
func (r *rowDraft) swapRow() shared.Row {
	after := cmp.Or(r.next, r.base)
	row := shared.Row{ChannelID: r.ref.key.ChannelID, UserID: r.ref.key.UserID, Was: r.base.Bytes(), Is: after.Bytes(), HasOverride: after.HasOwn()}
	row.Until = limits.TimeOf(after.Until())
	if r.lost {
		row.Was = r.stored.Bytes()
	}
	return row
}

// confirm is batch.confirm for one row.
func (r *rowDraft) confirm(s *Rows, now int64) {
	row := cmp.Or(r.next, r.base)
	s.counters.endProblem(r.ref.key)
	s.counters.overdrawn.Add(r.over)
	if r.lost {
		s.counters.healed.Add(1)
	}
	if !s.exact {
		s.collecting.RLock()
		defer s.collecting.RUnlock()
	}
	imported, owes, assumed := r.known.confirm(row, r, now)
	s.counters.assume(assumed)
	if !s.exact {
		s.importRow(r, row, imported, owes, now)
	}
}

// restore records that the store has the row again, as far as this node knew it.
func (r *rowDraft) restore(s *Rows, now int64) {
	row, k := cmp.Or(r.next, r.base), r.known
	if !s.exact {
		s.collecting.RLock()
		defer s.collecting.RUnlock()
	}
	k.stripe.mu.Lock()
	if r.lost {
		n, _ := k.paid(r.base)
		k.spent, k.tries = k.spent[n:], nil // the tries are among what the store has lost
		k.restored = s.lost.Load()
		s.counters.healed.Add(1)
	}
	k.observe(row, r.version, now)
	owes := k.debt
	k.stripe.mu.Unlock()
	r.lost, r.written = false, nil
	if !s.exact && r.next != nil {
		s.importRow(r, row, 0, owes, now)
	}
}

// observe records the row that the store has. The error says why it can't be read.
func (r *rowDraft) observe(s *Rows, stored []byte, now int64) error {
	row, err := limits.ReadRow(r.ref.set, r.ref.since, stored)
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.next, r.observed = nil, 0
	if err != nil {
		return err
	}
	s.counters.endProblem(k.key)
	var written bool
	if r.lost, written = k.isLost(row, now); r.lost {
		if r.stored, r.written = row, nil; written {
			r.written = row
		}
		return nil
	}
	imported := k.on
	if k.observe(row, r.version, now) {
		r.observed = k.version
	}
	if k.on != imported && !s.exact {
		if table := s.tables.Table(k.key); table != nil {
			table.ImportOwn(k.key.UserID, imported, row)
		}
	}
	return nil
}

// recordOffline records what the batch, whose first request is req, has spent without the store,
// and a swap that may have happened. The row's stripe must be locked.
func (r *rowDraft) recordOffline(s *Rows, unknown bool, req *request) {
	if r.next == nil {
		return
	}
	k := r.known
	k.version++
	k.seen = 0
	at := len(k.spent)
	if unknown {
		at = min(r.owed, at) // the swap doesn't include what others have added since
	}
	if req.edit == nil {
		k.local, k.on = r.next, r.base.Writes().ID()
		if at < len(k.spent) {
			k.local = nil
		}
		if len(r.spent) > 0 {
			k.spend(at, k.row, r.spent...)
		}
		if r.next.StruckSince(r.base) || k.strikes != nil {
			k.strikes = r.next
		}
	}
	if unknown {
		s.counters.assume(k.addTry(r.next.Writes().Stamp, at+len(r.spent)))
		k.edited = k.edited || req.notify
	}
	k.compact()
	if !k.isOpen() {
		k.tries, k.edited = nil, false
	}
}
