package chatguard

import (
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// rowDraft is a row that a batch works on.
type rowDraft struct {
	ref   rowRef
	known *knownRow
	held  bool // known is kept in memory for the batch alone

	base    *limits.Row // what the draft was made of
	version uint64      // of what was known
	apart   *limits.Row // knownRow.apart as the draft has it
	draft   limits.Draft
	learned uint64         // the version that learn has left, if the row was certain then; otherwise 0
	next    *limits.Row    // nil if the row doesn't change
	shown   bool           // knownRow.next is next
	issued  uint64         // knownRow.issued as the draft has it
	owed    int            // how many owed messages the draft accounts for
	over    int64          // by how much these overdraw the row
	spent   []limits.Spent // by the batch's messages; set by recordSpent

	// lost means that the store has lost writes of the row. It has the bytes stored instead of
	// base.
	lost   bool
	stored []byte
}

// claim makes b the only batch that works on the row with the store. It returns false if another
// one does. That happens only while limits of other scopes come or go, when flights change.
func (r *rowDraft) claim(b *sharedBatch) bool {
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	if k.swapper != nil && k.swapper != b {
		return false
	}
	k.swapper = b
	return true
}

// load makes a draft of the row as it is known, with everything that it owes.
func (r *rowDraft) load(now int64, apart bool) {
	k := r.known
	k.stripe.mu.Lock()
	base, owed, tries := k.row, k.owed, k.tries
	if apart && k.next != nil {
		base = k.next
	}
	r.version, r.apart, r.issued = k.version, k.apart, k.issued
	k.stripe.mu.Unlock()
	r.lost = r.lost && base != nil // otherwise a notice has come since
	if !base.ReadWith(r.ref.set) {
		// The bytes were readable before, so there is no error.
		base, _ = limits.ReadRow(r.ref.set, r.ref.since, base.Bytes())
	}
	r.base, r.next, r.owed, r.over, r.spent = base, nil, len(owed), 0, nil
	r.draft.Load(r.ref.set, base, now)
	for _, spent := range owed[included(tries, base.Writes()):] {
		r.over += r.draft.Spend(spent)
	}
	r.draft.AdoptStrikes(r.apart)
}

// write makes the row's next version of the draft, if that differs. The number of its stamp is
// above that of every known write of the row.
func (r *rowDraft) write(s *sharing, now int64) {
	if !r.draft.Changed() {
		return
	}
	r.next = r.draft.Row(limits.Stamp{Seq: max(r.issued, r.base.Writes().Seq) + 1, Writer: s.writer}, now)
}

// show makes the row's next version known to decisions apart. If the row owes messages, the version
// is known from now on to include them. show returns false if what was known has changed.
func (r *rowDraft) show() bool {
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
	r.version, r.shown = k.version, true
	k.next, k.issued = r.next, r.next.Writes().Seq
	if r.owed > 0 {
		k.addTry(r.next.Writes().Stamp, r.owed)
	}
	return true
}

// hide undoes show. If the swap may have happened, owe or the row that the store has says so.
func (r *rowDraft) hide(happened bool) {
	if !r.shown {
		return
	}
	r.shown = false
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

// surprises reports whether the row may change although it refuses messages, because it pays what
// was allowed without the store. Other nodes rely on such a row not to change.
func (r *rowDraft) surprises(s *sharing) bool {
	return r.over > 0 || s.adopt == nil && r.next != nil && (r.owed > 0 || r.apart != nil)
}

// sharedRow returns the row for a swap.
func (r *rowDraft) sharedRow() shared.Row {
	was, after := r.base.Bytes(), r.base
	if r.next != nil {
		after = r.next
	}
	row := shared.Row{ChannelID: r.ref.key.channelID, UserID: r.ref.key.userID, Was: was, Is: after.Bytes(), HasOverride: after.HasOwn()}
	row.Until = timeOf(after.Until())
	if r.lost {
		row.Was = r.stored
	}
	return row
}

// confirm is sharedBatch.confirm for one row.
func (r *rowDraft) confirm(s *sharing, now int64) {
	row := r.base
	if r.next != nil {
		row = r.next
	}
	if r.over > 0 {
		s.overdrawn.Add(r.over)
	}
	if r.lost {
		s.healed.Add(1)
	}
	if s.adopt == nil {
		r.known.confirm(row, r, now)
		return
	}
	s.collecting.RLock()
	defer s.collecting.RUnlock()
	owed, apart := r.known.confirm(row, r, now)
	if len(owed) > 0 || apart != nil { // which the table has spent already
		var d limits.Draft
		d.Load(r.ref.set, row, now)
		for _, spent := range owed {
			d.Spend(spent)
		}
		d.AdoptStrikes(apart)
		row = d.Row(row.Writes().Stamp, now)
	}
	s.adopt(r.ref.key, row)
}

// learn records the row that the store has. The error says why it can't be read.
func (r *rowDraft) learn(stored []byte, now int64) error {
	row, err := limits.ReadRow(r.ref.set, r.ref.since, stored)
	k := r.known
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	k.next, r.learned = nil, 0
	if err != nil {
		return err
	}
	if r.lost = row.Writes().Seq < k.row.Writes().Seq && k.row.Until() > now && !k.replaced; r.lost {
		// Every write has a higher number than all before it, so the store has lost the last ones.
		r.stored = stored
		return nil
	}
	if k.learn(row, r.version, now) {
		r.learned = k.version
	}
	return nil
}

// owe records what the batch has spent without the store, and a swap that may have happened. The
// row's stripe must be locked.
func (r *rowDraft) owe(unknown, judged bool) {
	if r.next == nil {
		return
	}
	k := r.known
	k.version++
	k.seen = 0
	at := len(k.owed)
	if unknown {
		at = min(r.owed, at) // the swap doesn't include what others owe since
	}
	if judged {
		k.apart = r.next
		k.owe(at, r.spent...)
	}
	if unknown {
		k.addTry(r.next.Writes().Stamp, at+len(r.spent))
	}
	k.compact()
	if !k.owes() {
		k.tries = nil
	}
}
