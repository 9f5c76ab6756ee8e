package limits

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Row is a user's state apart from any Table, in a form that several nodes share. It is immutable.
// A nil *Row stands for a user without a row.
type Row struct {
	set      *Set     // the one it was read with, or one with more room for its logs
	asked    *Set     // the one it was read with
	words    []uint64 // as in a table, without the key
	personal *personal
	foreign  []foreignUsage
	writes   Writes
	until    int64 // see Until
	practice bool  // its strikes were given for practice
	data     []byte
}

// Stamp identifies a write of a row. No two writes of a row have the same stamp.
type Stamp struct {
	Seq    uint64 // higher than in any earlier write of the row that the writer knows
	Writer uint32 // random, for each process
}

// mark returns the part of the stamp's writer that later writes of the row remember. It is never 0.
func (s Stamp) mark() uint16 { return uint16(s.Writer) | 1 }

// rememberedWrites is how many writes before the last a row remembers.
const rememberedWrites = 3

// Writes are the last write of a row, and the marks of the writers before it, the latest first. A
// mark is 0 if its number was skipped.
type Writes struct {
	Stamp
	before [rememberedWrites]uint16
}

// next returns the writes after another.
func (w Writes) next(stamp Stamp) Writes {
	n := Writes{Stamp: stamp}
	if w.Seq == 0 {
		return n
	}
	for i, mark := range [...]uint16{w.mark(), w.before[0], w.before[1]} {
		if at := stamp.Seq - w.Seq - 1 + uint64(i); at < rememberedWrites {
			n.before[at] = mark
		}
	}
	return n
}

// Include reports whether the write with a stamp is among the writes of the row. known is false if
// there were too many since to tell.
func (w Writes) Include(stamp Stamp) (included, known bool) {
	switch since := w.Seq - stamp.Seq; {
	case w.Seq < stamp.Seq:
		return false, true
	case since == 0:
		return w.Writer == stamp.Writer, true
	case since <= rememberedWrites:
		return w.before[since-1] == stamp.mark(), true
	}
	return false, false
}

// foreignUsage is usage of a limit that the set doesn't have. Another node's set may have it.
type foreignUsage struct {
	data  []byte
	until int64 // when it expires
}

// A row's bytes begin with their version. What follows:
//
//	seq, writer (4 bytes), marks of the writers before (2 bytes each), until, last, series << 7 | roles, flags
//	the strikes, if the flags say so: their number, the time of the last, end of the silence
//	the number of limits, and for each: code, name, calendar, capacity, interval, words
//	the override, grants and pardons as JSON, if the flags say so
//
// A text or a list of words follows its length. Other numbers are varints. until is 0 if it follows
// from the rest.
const (
	rowVersion = 1

	rowHasStanding = 1 << 0
	rowHasGiven    = 1 << 1
	rowPractice    = 1 << 2

	// MaxRowBytes is the maximum length of a row's bytes.
	MaxRowBytes = 1 << 20
)

// RowFormats returns the versions of rows' bytes that this program reads. It writes the last one.
func RowFormats() []int { return []int{rowVersion} }

// ErrRowVersion means that a row was written by a later version.
var ErrRowVersion = errors.New("the row was written by a later version of chatguard")

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
func WritesOf(data []byte) (w Writes) {
	in := rowReader{data: data}
	if in.byte() == rowVersion {
		w = in.writes()
	}
	return w
}

// Until returns when the row no longer has any effect, in nanoseconds since the Unix epoch, or
// Never. It isn't earlier than in the row's earlier writes, so that a node that remembers one of
// these never outlives it. Until is 0 for a nil row.
func (r *Row) Until() int64 {
	if r == nil {
		return 0
	}
	return r.until
}

// HasOwn reports whether the row has an override.
func (r *Row) HasOwn() bool { return r != nil && r.personal != nil && !r.personal.IsZero() }

// ReadRow reads a row under a set that is in force since the given time. It converts usage that was
// spent under other parameters, as of that time or the row's last use. No bytes are a nil row.
func ReadRow(set *Set, since int64, data []byte) (*Row, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if len(data) > MaxRowBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", errStateBytes, len(data))
	}
	in := rowReader{data: data}
	if version := in.byte(); version > rowVersion {
		return nil, fmt.Errorf("%w (version %d, this one reads %d)", ErrRowVersion, version, rowVersion)
	} else if version != rowVersion {
		return nil, errStateBytes
	}
	row := &Row{set: set, asked: set, data: data}
	row.writes = in.writes()
	kept := int64(in.number(math.MaxInt64))
	last, roles, flags := int64(in.number(MaxTime-1)), in.number(maxSeries<<roleBits|maxRoles), in.byte()
	header := in.at
	if flags&rowHasStanding != 0 {
		in.skipStanding()
	}
	limits := in.at
	if room := in.measureLimits(set); room != nil {
		row.set = set.withRoom(room)
	}
	row.words = make([]uint64, row.set.width)
	row.words[wordLast] = uint64(last)
	setRoles(row.words, uint8(roles&maxRoles))
	setSeries(row.words, uint8(roles>>roleBits))
	if flags&rowHasGiven != 0 && !in.bad {
		in.given(row)
	} else if in.at < len(data) {
		in.bad = true
	}
	if flags&rowHasStanding != 0 {
		in.at = header
		in.standing(row, flags&rowPractice != 0)
	}
	in.at = limits
	in.limits(row, since, last)
	if in.bad {
		return nil, errStateBytes
	}
	row.until = max(row.computeUntil(), kept)
	return row, nil
}

// rowReader reads a row's bytes. bad is set by the first error.
type rowReader struct {
	data []byte
	at   int
	bad  bool
}

func (in *rowReader) fail() uint64 {
	in.bad, in.at = true, len(in.data)
	return 0
}

func (in *rowReader) byte() byte {
	if in.at >= len(in.data) {
		return byte(in.fail())
	}
	in.at++
	return in.data[in.at-1]
}

func (in *rowReader) word() uint32 {
	if len(in.data)-in.at < 4 {
		return uint32(in.fail())
	}
	in.at += 4
	return binary.LittleEndian.Uint32(in.data[in.at-4:])
}

func (in *rowReader) writes() (w Writes) {
	w.Seq = in.number(math.MaxInt64)
	w.Writer = in.word()
	for i := range w.before {
		w.before[i] = uint16(in.byte()) | uint16(in.byte())<<8
	}
	return w
}

// number reads a number that is at most most.
func (in *rowReader) number(most uint64) uint64 {
	n, size := binary.Uvarint(in.data[in.at:])
	if size <= 0 || n > most {
		return in.fail()
	}
	in.at += size
	return n
}

// text reads a text after its length.
func (in *rowReader) text() []byte {
	length := int(in.number(uint64(len(in.data))))
	if length > len(in.data)-in.at {
		in.fail()
		return nil
	}
	in.at += length
	return in.data[in.at-length : in.at]
}

func (in *rowReader) standing(row *Row, practice bool) {
	strikes, struckAt, silentUntil := in.number(maxStrikes), in.number(MaxTime-1), in.number(math.MaxInt64)
	row.practice = practice
	row.words[wordStrikeAt] = struckAt
	if practice && !row.set.strikes.isPractice() {
		return // practice strikes lapse
	}
	setStrikeCount(row.words, int(strikes))
	row.words[wordSilentUntil] = silentUntil
}

// given reads the override, grants and pardons, which are the rest of the bytes.
func (in *rowReader) given(row *Row) {
	g, err := readGiven(in.data[in.at:])
	if err != nil {
		in.fail()
		return
	}
	row.personal = &personal{Own: g.override(), grants: g.grants(0), pardoned: g.pardonedSpans()}
	row.words[wordMeta] |= personalFlag
	in.at = len(in.data)
}

func (in *rowReader) skipStanding() {
	for range 3 {
		in.number(math.MaxUint64)
	}
}

// measureLimits moves to the end of the limits. It returns how many words each limit of the set
// needs, or nil if the set has enough room. A log may be longer than the present number requires.
func (in *rowReader) measureLimits(set *Set) (room []int) {
	for range in.number(MaxLimits) {
		code := in.byte()
		name := in.text()
		in.text()
		in.number(MaxMessages)
		in.number(MaxTime - 1)
		words := in.number(MaxRow)
		for range words {
			in.number(math.MaxUint64)
		}
		if words <= longState {
			continue
		}
		if i := set.indexByCode(string(name), code); i >= 0 && int(words) > set.rules[i].end-set.rules[i].start {
			if room == nil {
				room = make([]int, len(set.rules))
			}
			room[i] = int(words)
		}
	}
	return room
}

// limits reads the usage of all limits.
func (in *rowReader) limits(row *Row, since, last int64) {
	rules := row.set.rulesOf(row.personal, rolesOf(row.words))
	spent := spendings.Get().(*spending)
	defer spendings.Put(spent)
	count := in.number(MaxLimits)
	if fresh := row.set.fresh; count == 0 && fresh != nil { // as for a new user; see EmptyRow
		copy(row.words[headerWords:], fresh[headerWords:])
		row.words[wordLast] = max(row.words[wordLast], fresh[wordLast])
	}
	for range count {
		start := in.at
		code := in.byte()
		name := in.text()
		a, err := algorithmByCode(code)
		if err != nil {
			in.fail()
			return
		}
		i := row.set.indexByCode(string(name), code)
		var atHand *Calendar
		if i >= 0 {
			atHand = rules[i].calendar
		}
		in.usage(spent, a, atHand)
		if in.bad || !a.isValid(&spent.under, spent.state, last) {
			in.fail()
			return
		}
		if i < 0 {
			row.foreign = append(row.foreign, foreignUsage{in.data[start:in.at], a.expiry(&spent.under, spent.state)})
			continue
		}
		rule := &rules[i]
		state := rule.state(row.words)
		rule.convert(&spent.under, rule, spent.state, state, max(since, last))
		if !sameState(state, spent.state) {
			row.words[wordLast] = uint64(max(since, last))
		}
	}
}

// usage reads the parameters and words of a limit with that algorithm. atHand is a calendar that
// the usage probably has; it may be nil.
func (in *rowReader) usage(spent *spending, a *algorithm, atHand *Calendar) {
	calendar := in.text()
	spent.under.algorithm, spent.under.capacity, spent.under.interval = a, int64(in.number(MaxMessages)), int64(in.number(MaxTime-1))
	spent.numbers = spent.numbers[:0]
	for range in.number(MaxRow) {
		spent.numbers = append(spent.numbers, in.number(math.MaxUint64))
	}
	for len(spent.numbers) < a.sizeOf(spent.numbers) {
		spent.numbers = append(spent.numbers, 0)
	}
	spent.state = spent.numbers
	var err error
	if spent.under.calendar, err = storedCalendars.find(calendar, atHand); err != nil {
		in.fail()
	}
}

// computeUntil returns when nothing in the row has any effect any more.
func (r *Row) computeUntil() int64 {
	until := max(int64(r.words[wordLast]), int64(r.words[wordSilentUntil]))
	if _, lapseAt := r.set.countStrikes(r.words, math.MinInt64); lapseAt != 0 {
		until = max(until, lapseAt)
	}
	rules := r.set.rulesOf(r.personal, rolesOf(r.words))
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
