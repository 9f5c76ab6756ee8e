package limits

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Row is a user's state outside any Table, in a form that several nodes share. It is immutable.
// A nil *Row stands for a user without a row.
type Row struct {
	set      *Set     // the one it was read with, or one with more room for its logs
	asked    *Set     // the one it was read with
	words    []uint64 // as in a table, without the key
	personal *personal
	foreign  []foreignUsage
	writes   Writes
	era      era
	until    int64 // see Until
	practice bool  // its strikes were given for practice
	data     []byte
}

// foreignUsage is usage of a limit that this node's set doesn't have, but another node's may have.
type foreignUsage struct {
	data  []byte
	until int64 // when it expires
}

// era is how much was spent in a row since a time. A new era begins with a new row, and with each
// change by hand. Nodes that were cut off from each other find out by it what the others have spent
// together.
type era struct {
	began int64 // Unix milliseconds; not after any message of the era
	spent int64
	// late are messages that were added later than others that they came before. The second entry
	// has a higher seq and a later time than the first.
	late [2]late
}

// maxEra is the maximum that an era counts as spent.
const maxEra = 1 << 60

// late are messages that a node had allowed without the others, and has added.
type late struct {
	seq  uint64 // of the write that has added the last of them; 0 if there were none
	from int64  // time of the first of them
}

// A row's bytes begin with their version. What follows:
//
//	the last write: seq, writer (4 bytes)
//	the number of writers before, and for each: mark (2 bytes), by how much its last seq is lower
//	until, last, series, the era (see appendEra), the roles (see Roles.append), flags
//	the strikes, if the flags say so: their number, the time of the last, end of the silence
//	the number of limits, and for each: code, name, calendar, capacity, interval, more parameters
//	    (see appendMore), words
//	the override, grants and pardons as JSON, if the flags say so
//
// A text or a list of words follows its length. Other numbers are varints. until is 0 if it follows
// from the rest. Before version 5 there was no era, and instead of the writers there were turns: see
// rowReader.turns. Before version 3, series << 7 | roles was one number: see numberedRoles.
const (
	rolesRowVersion = 3 // the first with the present roles
	rowVersion      = 5 // the last one, which is written

	rowHasStanding = 1 << 0
	rowHasGiven    = 1 << 1
	rowPractice    = 1 << 2

	// MaxRowBytes is the maximum length of a row's bytes.
	MaxRowBytes = 1 << 20
)

// rowHeader is the beginning of a row's bytes.
type rowHeader struct {
	version byte
	writes  Writes
	kept    int64 // until, or 0
	last    int64
	series  uint8
	era     era
	roles   Roles
	flags   byte
}

// append appends the header, which begins with the version.
func (h *rowHeader) append(b []byte) []byte {
	w := &h.writes
	b = binary.LittleEndian.AppendUint32(appendNumbers(append(b, rowVersion), w.Seq), w.Writer)
	writers := w.writers()
	b = appendNumbers(b, uint64(len(writers)))
	later := w.Seq
	for _, o := range writers {
		b = appendNumbers(binary.LittleEndian.AppendUint16(b, o.mark), later-o.seq)
		later = o.seq
	}
	b = appendNumbers(b, uint64(h.kept), uint64(h.last), uint64(h.series))
	return append(h.roles.append(h.appendEra(b)), h.flags)
}

// appendEra appends when the era began, which is usually before the last use, what was spent in it,
// and what was late. The lowest bit says whether the first time is relative to the last use, and
// the lowest two bits of the second number how much was late.
func (h *rowHeader) appendEra(b []byte) []byte {
	began := uint64(h.era.began)<<1 | 1
	if before := h.last/nanosPerMilli - h.era.began; before >= 0 {
		began = uint64(before) << 1
	}
	entries := h.era.entries()
	b = appendNumbers(b, began, uint64(h.era.spent)<<2|uint64(len(entries)))
	for _, l := range entries {
		b = appendNumbers(b, h.writes.Seq-l.seq, uint64(l.from))
	}
	return b
}

// entries returns what was late.
func (e *era) entries() []late {
	n := 0
	for n < len(e.late) && e.late[n].seq > 0 {
		n++
	}
	return e.late[:n]
}

// add notes that messages from that time on were added late, by the write with that number.
func (e *era) add(seq uint64, from int64) {
	kept := slices.DeleteFunc(e.entries(), func(l late) bool { return l.from >= from })
	n := len(kept)
	if n == len(e.late) {
		n--
		e.late[0].seq = e.late[1].seq
	}
	e.late[n] = late{seq, from}
}

// lateSince returns the time of the first message that was added late after the write with a
// number, or Never.
func (e *era) lateSince(seq uint64) int64 {
	for _, l := range e.entries() {
		if l.seq > seq {
			return l.from
		}
	}
	return Never
}

// RowFormats returns the versions of rows' bytes that this program reads. It writes the last one.
func RowFormats() []int { return []int{1, 2, 3, 4, rowVersion} }

// ErrRowVersion means that a row was written by a later version.
var ErrRowVersion = errors.New("the row was written by a later version of chatguard")

// maxRowVersion is the latest version that is plausible. Bytes with a higher one, such as text,
// come from another program.
const maxRowVersion = 31

var errForeignRow = errors.New("the stored bytes aren't a row of chatguard, so another program uses keys of this namespace: set another namespace")

// Bytes returns the row as it is stored; nil for a nil row.
func (r *Row) Bytes() []byte {
	if r == nil {
		return nil
	}
	return r.data
}

// Writes returns the row's last writes; the zero value for a nil row.
func (r *Row) Writes() Writes {
	if r == nil {
		return Writes{}
	}
	return r.writes
}

// WritesOf returns the last writes in a row's bytes; the zero value if they can't be read.
func WritesOf(data []byte) Writes {
	in := rowReader{data: data}
	h, err := in.header(nil)
	if err != nil {
		return Writes{}
	}
	return h.writes
}

// Until returns when the row no longer has any effect, in nanoseconds since the Unix epoch, or
// Never. It isn't earlier than in the row's earlier writes, so that the store keeps the row for as
// long as a node remembers one of these. Until is 0 for a nil row.
func (r *Row) Until() int64 {
	if r == nil {
		return 0
	}
	return r.until
}

// HasOwn reports whether the row has an override.
func (r *Row) HasOwn() bool { return r != nil && r.personal != nil && !r.personal.IsZero() }

// append appends the row's bytes; computed is when its contents have no effect any more.
func (r *Row) append(b []byte, computed int64) []byte {
	h := rowHeader{writes: r.writes, era: r.era, last: int64(r.words[wordLast]), roles: Roles{r.set.roles, r.set.rolesOf(r.words)}, series: seriesOf(r.words)}
	if r.until > computed {
		h.kept = r.until
	}
	if strikeCount(r.words) > 0 || r.words[wordStrikeAt] != 0 || r.words[wordSilentUntil] != 0 {
		h.flags |= rowHasStanding
	}
	if r.personal != nil {
		h.flags |= rowHasGiven
	}
	if r.practice {
		h.flags |= rowPractice
	}
	b = h.append(b)
	if h.flags&rowHasStanding != 0 {
		b = appendNumbers(b, uint64(strikeCount(r.words)), r.words[wordStrikeAt], r.words[wordSilentUntil])
	}
	rules := r.set.rulesOf(r.personal, nil, r.set.rolesOf(r.words))
	b = appendNumbers(b, uint64(len(rules)+len(r.foreign)))
	for i := range rules {
		b = rules[i].appendUsage(b, r.words)
	}
	for _, f := range r.foreign {
		b = append(b, f.data...)
	}
	if h.flags&rowHasGiven != 0 {
		b = r.personal.append(b)
	}
	return b
}

// appendUsage appends the usage of a limit.
func (r *Rule) appendUsage(b []byte, row []uint64) []byte {
	calendar := r.calendar.String()
	state := r.state(row)
	if r.isLog && state[0] > 0 { // its length says how much room it needs
		state = state[:r.sizeOf(state)]
	} else {
		state = trim(state)
	}
	b = append(appendNumbers(append(b, r.code), uint64(len(r.name))), r.name...)
	b = append(appendNumbers(b, uint64(len(calendar))), calendar...)
	b = r.appendMore(appendNumbers(b, uint64(r.capacity), uint64(r.interval)))
	return appendNumbers(appendNumbers(b, uint64(len(state))), state...)
}

// computeUntil returns when nothing in the row has any effect any more.
func (r *Row) computeUntil() int64 {
	until := max(int64(r.words[wordLast]), int64(r.words[wordSilentUntil]))
	if _, lapseAt := r.set.countStrikes(r.words, math.MinInt64); lapseAt != 0 {
		until = max(until, lapseAt)
	}
	rules := r.set.rulesOf(r.personal, nil, r.set.rolesOf(r.words))
	for i := range rules {
		until = max(until, rules[i].expiry(&rules[i], rules[i].state(r.words)))
	}
	for _, f := range r.foreign {
		until = max(until, f.until)
	}
	if r.personal != nil {
		until = max(until, r.personal.overAt())
	}
	return until
}

// overAt returns when the record has no effect any more, or Never.
func (p *personal) overAt() (until int64) {
	switch own := p.Own; {
	case own.IsZero():
	case own.ExemptUntil != 0 && own.activePart(own.ExemptUntil).IsZero():
		until = own.ExemptUntil
	default:
		return Never
	}
	for _, g := range p.grants {
		until = max(until, g.until)
	}
	return until
}
