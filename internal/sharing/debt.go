package sharing

import (
	"slices"

	"github.com/chatguard/chatguard/internal/limits"
)

// debt is what was decided on a row without the store since the row was last swapped.
type debt struct {
	spent []limits.Spent // what was allowed, in order; never changed in place
	since *limits.Row    // the row in the store before the first of these messages
	tries []try          // swaps of these messages that may have happened; never changed in place
	// edited is set if one of the tries is a change by hand, which local doesn't include.
	edited bool
	// local is the row as it was decided here. It is based on the row whose stamp has the ID on.
	local *limits.Row
	on    uint64
	// strikes is the row with strikes that the store doesn't have; nil if there are none.
	strikes *limits.Row
}

// try is a swap of a row whose outcome isn't known. Of several that included the same messages, it is
// the first.
type try struct {
	stamp    limits.Stamp
	included int // how many of the messages it included
}

// maxSpent is how many messages a row keeps separately. Further ones are merged.
const maxSpent = 64

// maxTries is how many tries are remembered. It is less than maxSpent.
const maxTries = 32

// isOpen reports whether the store doesn't have everything that happened here.
func (d *debt) isOpen() bool { return len(d.spent) > 0 || d.strikes != nil }

// decidedOn returns the row as it was decided here, if it is based on the row in the store.
func (d *debt) decidedOn(row *limits.Row) *limits.Row {
	if d.on != row.Writes().ID() {
		return nil
	}
	return d.local
}

// hasWritten reports whether one of the tries has written a row that the store has now, and local
// includes it. All of them were tries to replace the row that was known until now.
func (d *debt) hasWritten(row *limits.Row) bool {
	w := row.Writes()
	return len(d.tries) > 0 && !d.edited && w.Writer == d.tries[0].stamp.Writer && w.Seq >= d.tries[0].stamp.Seq
}

// spend adds messages that were allowed at that place in the order, on the row that the store had.
func (d *debt) spend(at int, on *limits.Row, spent ...limits.Spent) {
	if len(d.spent) == 0 {
		d.since = on
	}
	d.spent = slices.Insert(slices.Clone(d.spent), at, spent...)
}

// compact merges messages, if there are too many: those with the least time between them that are
// in the same tries. There are such messages, because there are fewer tries than messages. Only
// compact changes spent in place, so it copies spent first.
func (d *debt) compact() {
	if len(d.spent) > maxSpent {
		d.spent = slices.Clone(d.spent)
	}
	for len(d.spent) > maxSpent {
		first, least := 0, int64(-1)
		for i := range len(d.spent) - 1 {
			between := d.spent[i+1].At - d.spent[i].At
			if (least < 0 || between < least) && !slices.ContainsFunc(d.tries, func(t try) bool { return t.included == i+1 }) {
				first, least = i, between
			}
		}
		d.spent[first].Add(d.spent[first+1])
		d.spent = slices.Delete(d.spent, first+1, first+2)
		d.tries = slices.Clone(d.tries)
		for t := range d.tries {
			if d.tries[t].included > first {
				d.tries[t].included--
			}
		}
	}
}

// addTry notes a swap that may have happened. included is how many of the messages it included,
// counted from the first. If there are too many tries, addTry forgets the first, as if that swap
// had happened, and returns true if it had messages. So no message counts twice.
func (d *debt) addTry(stamp limits.Stamp, included int) (assumed bool) {
	if n := len(d.tries); n > 0 && d.tries[n-1].included == included {
		return false
	}
	d.tries = append(slices.Clone(d.tries), try{stamp, included})
	if len(d.tries) <= maxTries {
		return false
	}
	n := d.tries[0].included
	d.spent, d.tries = d.spent[n:], d.tries[1:]
	for i := range d.tries {
		d.tries[i].included = max(0, d.tries[i].included-n)
	}
	return n > 0
}

// withdraw forgets the last try, and returns how many of the messages it included.
func (d *debt) withdraw(stamp limits.Stamp) (included int) {
	last := len(d.tries) - 1
	if last < 0 { // the limits are gone
		return 0
	}
	included = d.tries[last].included
	if d.tries[last].stamp == stamp {
		d.tries = slices.Clone(d.tries[:last])
	}
	return included
}

// paid returns how many of the messages a row includes. If the row has forgotten this node, because
// too many others have written it since a try, paid assumes that the try has succeeded. So no
// message counts twice.
func (d *debt) paid(row *limits.Row) (n int, assumed bool) {
	for _, t := range slices.Backward(d.tries) {
		if yes, known := row.Writes().Include(t.stamp); yes || !known {
			return t.included, !known
		}
	}
	return 0, false
}

// pay spends what is owed in a draft of a row, and returns by how much it overdraws the row. adopted
// reports whether the draft is the row as it was decided here.
func (d *debt) pay(draft *limits.Draft, row *limits.Row, now int64) (overdrawn int64, adopted bool) {
	n, _ := d.paid(row)
	owed := limits.Owed{Since: d.since, Paid: d.spent[:n], Spent: d.spent[n:]}
	if d.since.Writes() == row.Writes() {
		owed.Paid = nil
	}
	if local := d.decidedOn(row); local != nil {
		overdrawn, adopted = draft.Adopt(local, owed.Spent, now)
	}
	if !adopted && len(owed.Spent) > 0 {
		overdrawn = draft.Owe(owed, now)
	}
	draft.ImportStrikes(d.strikes)
	return overdrawn, adopted
}
