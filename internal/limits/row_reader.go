package limits

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// ReadRow reads a row under a set that has been in force since the given time. It converts usage
// that was spent under other parameters, as of that time or the row's last use, whichever is later.
// If data is empty, the row is nil.
func ReadRow(set *Set, since int64, data []byte) (*Row, error) {
	if len(data) == 0 {
		return nil, nil
	}
	in := rowReader{data: data}
	h, err := in.header(set.roles)
	if err != nil {
		return nil, err
	}
	row := &Row{set: set, asked: set, data: data, writes: h.writes, era: h.era}
	standing := in.at
	if h.flags&rowHasStanding != 0 {
		in.skipStanding()
	}
	limits := in.at
	if room := in.measureLimits(set); room != nil {
		row.set = set.withRoom(room)
	}
	row.words = make([]uint64, row.set.width)
	row.words[wordLast] = uint64(h.last)
	row.set.setRoles(row.words, h.roles.bits)
	setSeries(row.words, h.series)
	if h.flags&rowHasGiven != 0 && !in.bad {
		in.given(row)
	} else if in.at < len(data) {
		in.bad = true
	}
	if h.flags&rowHasStanding != 0 {
		in.at = standing
		in.standing(row, h.flags&rowPractice != 0)
	}
	in.at = limits
	in.limits(row, since, h.last)
	if in.bad {
		return nil, errStateBytes
	}
	row.until = max(row.computeUntil(), h.kept)
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

// header reads what comes before the strikes. It ignores roles that the list doesn't know.
func (in *rowReader) header(list *RoleList) (h rowHeader, err error) {
	if len(in.data) > MaxRowBytes {
		return h, fmt.Errorf("%w: it has %d bytes", errStateBytes, len(in.data))
	}
	if version := in.byte(); version > maxRowVersion {
		return h, errForeignRow
	} else if version > rowVersion {
		return h, fmt.Errorf("%w (version %d, this one reads %d)", ErrRowVersion, version, rowVersion)
	} else if h.version = version; version == 0 {
		return h, errStateBytes
	}
	if h.version < rowVersion {
		h.writes = in.turns()
	} else {
		h.writes = in.writes()
	}
	h.kept = int64(in.number(math.MaxInt64))
	h.last = int64(in.number(MaxTime - 1))
	switch {
	case h.version < rolesRowVersion:
		h.series, h.roles = in.numberedRoles(list)
	case h.version < rowVersion:
		h.series, h.roles = uint8(in.number(maxSeries)), in.roles(list)
	default:
		h.series, h.era, h.roles = uint8(in.number(maxSeries)), in.era(h.last, h.writes.Seq), in.roles(list)
	}
	h.flags = in.byte()
	if in.bad {
		return h, errStateBytes
	}
	return h, nil
}

func (in *rowReader) mark() uint16 { return uint16(in.byte()) | uint16(in.byte())<<8 }

func (in *rowReader) writes() (w Writes) {
	w.Seq, w.Writer = in.number(maxSeq), in.word()
	later := w.Seq
	for i := range in.number(uint64(len(w.before))) {
		w.before[i].mark = in.mark()
		later -= in.number(later)
		w.before[i].seq = later
	}
	return w
}

// turns reads the writes in a row before version 5. It had up to four turns, each of which is
// successive writes by one writer, with the number of these.
func (in *rowReader) turns() (w Writes) {
	w.Seq, w.Writer = in.number(maxSeq), in.word()
	seq := w.Seq - min(w.Seq, in.number(math.MaxUint32))
	known := 0
	for range in.number(3) {
		mark, length := in.mark(), in.number(math.MaxUint32)
		if seen := slices.ContainsFunc(w.before[:known], func(b lastWrite) bool { return b.mark == mark }); !seen && mark != w.mark() && mark != 0 && seq > 0 {
			w.before[known] = lastWrite{mark, seq}
			known++
		}
		seq -= min(seq, length)
	}
	w.before[known].seq = seq // nothing is known of this write
	return w
}

func (in *rowReader) era(last int64, seq uint64) (e era) {
	if began := in.number(math.MaxInt64); began&1 == 0 {
		e.began = last/nanosPerMilli - int64(began>>1)
	} else {
		e.began = int64(began >> 1)
	}
	spent := in.number(maxEra<<2 | 3)
	e.spent = int64(spent >> 2)
	for i := range min(int(spent&3), len(e.late)) {
		e.late[i] = late{seq - in.number(seq), int64(in.number(MaxTime - 1))}
	}
	if e.began < 0 || e.began > MaxTime/nanosPerMilli {
		in.fail()
	}
	return e
}

// number reads a number. A number above most is an error.
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
		a, err := algorithmByCode(code)
		if err == nil {
			in.more(a, nil)
		}
		words := in.number(MaxRow)
		for range words {
			in.number(math.MaxUint64)
		}
		if err != nil || !a.isLog {
			continue
		}
		if i := set.indexBy(string(name), a); i >= 0 && int(words) > set.rules[i].end-set.rules[i].start {
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
	rules := row.set.rulesOf(row.personal, nil, row.set.rolesOf(row.words))
	spent := spendings.Get().(*spending)
	defer spendings.Put(spent)
	count := in.number(MaxLimits)
	if fresh := row.set.fresh; count == 0 && fresh != nil { // as for a new user; see EmptyRow
		copy(row.words[row.set.head:], fresh[row.set.head:])
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
		i := row.set.indexBy(string(name), a)
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

// more appends to numbers what Rule.appendMore has written.
func (in *rowReader) more(a *algorithm, numbers []uint64) []uint64 {
	for i := range a.more {
		numbers = append(numbers, in.number(mostOfMore(i)))
	}
	return numbers
}

// usage reads the parameters and words of a limit with that algorithm. atHand is a calendar that
// the usage probably has; it may be nil.
func (in *rowReader) usage(spent *spending, a *algorithm, atHand *Calendar) {
	calendar := in.text()
	capacity, interval := in.number(MaxMessages), in.number(MaxTime-1)
	spent.numbers = in.more(a, spent.numbers[:0])
	spent.setUnder(a, capacity, interval, spent.numbers)
	spent.numbers = spent.numbers[:0]
	for range in.number(MaxRow) {
		spent.numbers = append(spent.numbers, in.number(math.MaxUint64))
	}
	for len(spent.numbers) < spent.under.sizeOf(spent.numbers) {
		spent.numbers = append(spent.numbers, 0)
	}
	spent.state = spent.numbers
	var err error
	if spent.under.calendar, err = storedCalendars.find(calendar, atHand); err != nil {
		in.fail()
	}
}
