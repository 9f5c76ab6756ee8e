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

	base     *limits.Row // what the draft was made from
	version  uint64      // knownRow.version when the draft was loaded or staged
	offline  *limits.Row // knownRow.offline when the draft was loaded
	draft    limits.Draft
	observed uint64         // knownRow.version after observe, if the row was certain; otherwise 0
	next     *limits.Row    // nil if the row doesn't change
	staged   bool           // knownRow.next is next
	issued   uint64         // knownRow.issued when the draft was loaded
	pending  int            // how many pending messages the draft accounts for
	over     int64          // by how much the pending messages overdraw the row
	spent    []limits.Spent // by the batch's messages; set by recordSpent

	// lost means that the store has lost writes of the row. The store has the bytes in stored, not
	// those of base.
	lost   bool
	stored []byte
}

// lock makes b the only batch that works on the row with the store. It returns false if another
// batch works on the row. That happens only while limits of other scopes are added or removed,
// because flights change then.
func (r *rowDraft) lock(b *batch) bool {
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	if k.lockedBy != nil && k.lockedBy != b {
		return false
	}
	k.lockedBy = b
	return true
}

// load makes a draft of the row as it is known, with everything that is pending.
func (r *rowDraft) load(now int64, offline bool) {
	k := r.known
	k.stripe.mu.Lock()
	base, pending, tries := k.row, k.pending, k.tries
	if offline && k.next != nil {
		base = k.next
	}
	r.version, r.offline, r.issued = k.version, k.offline, k.issued
	k.stripe.mu.Unlock()
	r.lost = r.lost && base != nil // otherwise a notice has come since
	if !base.ReadWith(r.ref.set) {
		// The bytes were readable before, so there is no error.
		base, _ = limits.ReadRow(r.ref.set, r.ref.since, base.Bytes())
	}
	r.base, r.next, r.pending, r.over, r.spent = base, nil, len(pending), 0, nil
	r.draft.Load(r.ref.set, base, now)
	for _, spent := range pending[included(tries, base.Writes()):] {
		r.over += r.draft.Spend(spent)
	}
	r.draft.ImportStrikes(r.offline)
}

// write makes the row's next version from the draft, if the draft has changes. The number of its
// stamp is above that of every known write of the row.
func (r *rowDraft) write(s *Rows, now int64) {
	if !r.draft.Changed() {
		return
	}
	r.next = r.draft.Row(limits.Stamp{Seq: max(r.issued, r.base.Writes().Seq) + 1, Writer: s.writer}, now)
}

// stage makes the row's next version known to offline decisions. If messages are pending, it adds a
// try, because the version includes them. stage returns false if what was known has changed.
func (r *rowDraft) stage() bool {
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
	if r.pending > 0 {
		k.addTry(r.next.Writes().Stamp, r.pending)
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
	if r.pending > 0 {
		r.pending = k.withdraw(r.next.Writes().Stamp)
	}
}

// notifies reports whether other nodes must be notified of the row. Other nodes assume that a row
// that refuses messages doesn't change. It does change if it must pay for messages that were
// allowed without the store.
func (r *rowDraft) notifies(s *Rows) bool {
	return r.over > 0 || s.exact && r.next != nil && (r.pending > 0 || r.offline != nil)
}

// swapRow returns the row for a swap.
func (r *rowDraft) swapRow() shared.Row {
	after := cmp.Or(r.next, r.base)
	row := shared.Row{ChannelID: r.ref.key.ChannelID, UserID: r.ref.key.UserID, Was: r.base.Bytes(), Is: after.Bytes(), HasOverride: after.HasOwn()}
	row.Until = limits.TimeOf(after.Until())
	if r.lost {
		row.Was = r.stored
	}
	return row
}

// confirm is batch.confirm for one row.
func (r *rowDraft) confirm(s *Rows, now int64) {
	row := cmp.Or(r.next, r.base)
	if r.over > 0 {
		s.counters.overdrawn.Add(r.over)
	}
	if r.lost {
		s.counters.healed.Add(1)
	}
	if s.exact {
		r.known.confirm(row, r, now)
		return
	}
	s.collecting.RLock()
	defer s.collecting.RUnlock()
	pending, offline := r.known.confirm(row, r, now)
	if len(pending) > 0 || offline != nil { // which the table has spent already
		var d limits.Draft
		d.Load(r.ref.set, row, now)
		for _, spent := range pending {
			d.Spend(spent)
		}
		d.ImportStrikes(offline)
		row = d.Row(row.Writes().Stamp, now)
	}
	s.importRow(r.ref.key, row)
}

// observe records the row that the store has. The error says why it can't be read.
func (r *rowDraft) observe(stored []byte, now int64) error {
	row, err := limits.ReadRow(r.ref.set, r.ref.since, stored)
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.next, r.observed = nil, 0
	if err != nil {
		return err
	}
	if r.lost = row.Writes().Seq < k.row.Writes().Seq && k.row.Until() > now && !k.replaced; r.lost {
		// Every write has a higher number than all before it, so the store has lost the last ones.
		r.stored = stored
		return nil
	}
	if k.observe(row, r.version, now) {
		r.observed = k.version
	}
	return nil
}

// recordOffline records what the batch has spent without the store, and a swap that may have
// happened. The row's stripe must be locked.
func (r *rowDraft) recordOffline(unknown, judged bool) {
	if r.next == nil {
		return
	}
	k := r.known
	k.version++
	k.seen = 0
	at := len(k.pending)
	if unknown {
		at = min(r.pending, at) // the swap doesn't include what others have added since
	}
	if judged {
		k.offline = r.next
		k.addPending(at, r.spent...)
	}
	if unknown {
		k.addTry(r.next.Writes().Stamp, at+len(r.spent))
	}
	k.compact()
	if !k.isPending() {
		k.tries = nil
	}
}
