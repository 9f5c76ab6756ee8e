package limits

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
)

// StateRow is part of a user's state, as bytes for a store. It is the usage of the limit that Limit
// names, or the user's standing, or the user's override, grants and pardons.
type StateRow struct {
	User, Limit string
	Data        []byte
}

// Names used in place of a limit's name. No limit can have these names.
const (
	standingRow = ""
	givenRow    = "+"
)

// The bytes begin with their version and a code. The rest depends on the code.
//
// If the code stands for an algorithm, the rest is the parameters that the usage was spent under,
// the time of the last use, and the words without trailing zeros. The parameters are the calendar
// as a text with its length ("" for none), followed by the roles (see Roles.append), and the
// capacity and the interval as varints. The time of the last use is followed by more parameters:
// see appendMore.
//
// If the code stands for the standing, the rest is: 1 if the strikes were given for practice, the
// number of strikes, the time of the last strike, the end of the silence, and the number of the
// series.
//
// Override, grants and pardons are JSON.
const (
	stateVersion = 2
	bitsVersion  = 1 // the last one with a bit for each role: see numberedRoles
	standingCode = 0
	givenCode    = 255
)

var errStateBytes = errors.New("the stored state can't be read")

// encode appends a user's state to buffer, and its StateRows to rows.
func (s *shard) encode(rows []StateRow, buffer []byte, user string, row []uint64) ([]StateRow, []byte) {
	add := func(limit string, start int) {
		rows = append(rows, StateRow{User: user, Limit: limit, Data: buffer[start:len(buffer):len(buffer)]})
	}
	roles := Roles{s.set.roles, s.set.rolesOf(row)}
	for _, r := range s.rulesOf(row) {
		start := len(buffer)
		buffer = append(buffer, stateVersion, r.code)
		calendar := r.calendar.String()
		buffer = append(binary.AppendUvarint(buffer, uint64(len(calendar))), calendar...)
		buffer = appendNumbers(roles.append(buffer), uint64(r.capacity), uint64(r.interval), row[wordLast])
		buffer = appendNumbers(r.appendMore(buffer), trim(r.state(row))...)
		add(r.name, start)
	}
	if hasStanding(row) {
		start := len(buffer)
		var practice uint64
		if s.set.strikes.isPractice() {
			practice = 1
		}
		buffer = append(buffer, stateVersion, standingCode)
		buffer = appendNumbers(buffer, practice, uint64(strikeCount(row)), row[wordStrikeAt], row[wordSilentUntil], uint64(seriesOf(row)))
		add(standingRow, start)
	}
	if hasFlag(row, personalFlag) {
		start := len(buffer)
		buffer = s.personal[row[wordUser]].append(append(buffer, stateVersion, givenCode))
		add(givenRow, start)
	}
	return rows, buffer
}

// hasStanding reports whether the row's standing must be stored. It must always be stored for a
// pinned row, because it may have to overwrite an older standing.
func hasStanding(row []uint64) bool {
	return hasFlag(row, pinnedFlag) || row[wordStrikeAt] != 0 || row[wordSilentUntil] != 0
}

// countParts returns how many StateRows a row has.
func (s *shard) countParts(row []uint64) int {
	parts := len(s.set.rules)
	if hasStanding(row) {
		parts++
	}
	if hasFlag(row, personalFlag) {
		parts++
	}
	return parts
}

// trim returns the words without trailing zeros.
func trim(words []uint64) []uint64 {
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	return words
}

func appendNumbers(buffer []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		buffer = binary.AppendUvarint(buffer, n)
	}
	return buffer
}

// open returns the code of the bytes, and the remaining bytes.
func (r *StateRow) open() (code byte, data []byte, err error) {
	if len(r.Data) < 2 || r.Data[0] != stateVersion && r.Data[0] != bitsVersion {
		return 0, nil, errStateBytes
	}
	code, data = r.Data[1], r.Data[2:]
	if r.Data[0] == bitsVersion && code != standingCode && code != givenCode {
		data, err = nameRoles(data)
	}
	return code, data, err
}

func readNumbers(numbers []uint64, data []byte) ([]uint64, error) {
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return numbers, errStateBytes
		}
		numbers = append(numbers, n)
		data = data[size:]
	}
	return numbers, nil
}

// spending is the usage of a limit, as stored.
type spending struct {
	under   Rule // algorithm, calendar and numbers
	roles   Roles
	last    int64
	state   []uint64
	numbers []uint64 // as read; the state is at their end
	buckets [2]Rule  // room for those of under
}

// appendMore appends the parameters that other algorithms don't have: the capacity and the interval
// of a cascade's second bucket, or the number of slices of a window.
func (r *Rule) appendMore(b []byte) []byte {
	switch {
	case r.buckets != nil:
		return appendNumbers(b, uint64(r.buckets[1].capacity), uint64(r.buckets[1].interval))
	case r.slices > 1:
		return appendNumbers(b, uint64(r.slices))
	}
	return b
}

// setUnder sets the rule under which the usage was spent, except for its calendar. more is what
// Rule.appendMore has written.
func (s *spending) setUnder(a *algorithm, capacity, interval uint64, more []uint64) {
	s.under = Rule{algorithm: a, capacity: int64(capacity), interval: int64(interval), words: a.size}
	switch {
	case a.buckets > 0:
		s.under.buckets = s.buckets[:0]
		s.under.addBucket(s.under.capacity, s.under.interval)
		s.under.addBucket(int64(more[0]), int64(more[1]))
	case a.more > 0:
		s.under.setSlices(int64(more[0]))
	case a.name == slidingWindow.name:
		s.under.setSlices(1)
	}
}

// spendings is a pool, so that reading a million rows needs no new memory for each row.
var spendings = sync.Pool{New: func() any { return new(spending) }}

// read decodes the usage of a limit with that algorithm. It ignores roles that the list doesn't
// know. atHand is a calendar that the usage probably has; it may be nil.
func (s *spending) read(a *algorithm, data []byte, list *RoleList, atHand *Calendar) (err error) {
	in := rowReader{data: data}
	calendar := in.text()
	if s.roles = in.roles(list); in.bad {
		return errStateBytes
	}
	s.numbers, err = readNumbers(s.numbers[:0], data[in.at:])
	if err != nil || len(s.numbers) < 3 || s.numbers[0] > MaxMessages || s.numbers[1] >= MaxTime || s.numbers[2] >= MaxTime {
		return errStateBytes
	}
	start := 3 + a.more
	if len(s.numbers) < start {
		return errStateBytes
	}
	for i, n := range s.numbers[3:start] {
		if n > mostOfMore(i) {
			return errStateBytes
		}
	}
	s.setUnder(a, s.numbers[0], s.numbers[1], s.numbers[3:start])
	for len(s.numbers) < start+s.under.sizeOf(s.numbers[start:]) {
		s.numbers = append(s.numbers, 0)
	}
	s.last, s.state = int64(s.numbers[2]), s.numbers[start:]
	if s.under.calendar, err = storedCalendars.find(calendar, atHand); err != nil {
		return errors.Join(errStateBytes, err)
	}
	if !a.isValid(&s.under, s.state, s.last) {
		return errStateBytes
	}
	return nil
}

// mostOfMore returns the maximum of number i that Rule.appendMore has written: the first is a
// count, the second an interval.
func mostOfMore(i int) uint64 {
	if i == 0 {
		return MaxMessages
	}
	return MaxTime - 1
}

// standing is the stored part of a user's state that belongs to no limit.
type standing struct {
	practice              bool // the strikes were given for practice
	strikes               int
	struckAt, silentUntil int64
	series                uint8
}

func readStanding(data []byte) (s standing, err error) {
	var room [5]uint64
	numbers, err := readNumbers(room[:0], data)
	if err != nil || len(numbers) != 5 || numbers[0] > 1 || numbers[1] > maxStrikes || numbers[2] >= MaxTime || numbers[3] > math.MaxInt64 || numbers[4] > maxSeries {
		return s, errStateBytes
	}
	return standing{numbers[0] == 1, int(numbers[1]), int64(numbers[2]), int64(numbers[3]), uint8(numbers[4])}, nil
}

// given is the JSON form of a user's override, grants and pardons.
type given struct {
	Exemption Exemption `json:"exemption,omitempty"`
	// ExemptUntil is in nanoseconds since the Unix epoch.
	ExemptUntil int64              `json:"exempt_until,omitempty"`
	Timezone    string             `json:"timezone,omitempty"`
	Numbers     map[string]Numbers `json:"numbers,omitempty"`
	Grants      []storedGrant      `json:"grants,omitempty"`
	Pardoned    []int64            `json:"pardoned,omitempty"` // offences
	// Runs are ranges of offences, each from the first to the last.
	Runs [][2]int64 `json:"pardoned_runs,omitempty"`
}

type storedGrant struct {
	Limit string `json:"limit"`
	Left  int64  `json:"left"`
	Until int64  `json:"until"` // nanoseconds since the Unix epoch
}

func (p *personal) append(buffer []byte) []byte {
	g := given{Exemption: p.Exemption, ExemptUntil: p.ExemptUntil, Timezone: p.Timezone, Numbers: p.Numbers}
	for _, s := range p.pardoned {
		if s.first == s.last {
			g.Pardoned = append(g.Pardoned, s.first)
		} else {
			g.Runs = append(g.Runs, [2]int64{s.first, s.last})
		}
	}
	for _, grant := range p.grants {
		g.Grants = append(g.Grants, storedGrant{grant.limit, grant.left, grant.until})
	}
	data, err := json.Marshal(g)
	if err != nil {
		panic(err) // numbers and texts are always valid JSON
	}
	return append(buffer, data...)
}

func readGiven(data []byte) (g given, err error) {
	if err := json.Unmarshal(data, &g); err != nil || g.Exemption > NotExempt || g.ExemptUntil < 0 || g.ExemptUntil != 0 && g.Exemption == ExemptByRole {
		return g, errStateBytes
	}
	return g, nil
}

// override returns the user's override.
func (g *given) override() Own {
	return Own{Exemption: g.Exemption, ExemptUntil: g.ExemptUntil, Timezone: g.Timezone, Numbers: g.Numbers}
}

// pardonedSpans returns the spans of pardoned offences, sorted by ID.
func (g *given) pardonedSpans() (spans []span) {
	for _, id := range g.Pardoned {
		spans = append(spans, span{id, id})
	}
	for _, run := range g.Runs {
		spans = append(spans, span{run[0], run[1]})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.last, b.last) })
	return lastN(spans, remembered)
}

// grants returns the grants that haven't lapsed at that time.
func (g *given) grants(at int64) (grants []grant) {
	for _, stored := range g.Grants {
		if stored.Left > 0 && stored.Until > at {
			grants = append(grants, grant{stored.Limit, stored.Left, stored.Until})
		}
	}
	return grants
}
