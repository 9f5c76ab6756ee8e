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

// StateRow is a part of what is known of one user, as bytes for a store: what was spent of the limit of that name, or the user's Standing,
// or what the user has been given.
type StateRow struct {
	User, Limit string
	Data        []byte
}

// What stands in place of a limit's name. No limit can be called so.
const (
	standingRow = ""
	givenRow    = "+"
)

// The bytes begin with their version and a code. With the code of an algorithm: what was spent under (the calendar as a text and its
// length, "" for none; then numbers as varints: roles, capacity, interval), the time of the last spending, and the words, without zeros at
// their end. For the standing: 1 when the strikes were given for practice, how many, the time of the last, until when a penalty
// silences the user, and the number of the series. What was given is JSON.
const (
	stateVersion = 1
	standingCode = 0
	givenCode    = 255
)

var errStateBytes = errors.New("the bytes of the state can't be read")

// encode appends a row's state to buffer, and what stands for it to rows.
func (s *shard) encode(rows []StateRow, buffer []byte, row []uint64) ([]StateRow, []byte) {
	user := s.names.id(row[wordUser])
	add := func(limit string, start int) {
		rows = append(rows, StateRow{User: user, Limit: limit, Data: buffer[start:len(buffer):len(buffer)]})
	}
	for _, r := range s.rulesOf(row) {
		start := len(buffer)
		buffer = append(buffer, stateVersion, r.code)
		calendar := r.calendar.String()
		buffer = append(binary.AppendUvarint(buffer, uint64(len(calendar))), calendar...)
		buffer = appendNumbers(buffer, uint64(rolesOf(row)), uint64(r.capacity), uint64(r.interval), row[wordLast])
		buffer = appendNumbers(buffer, trim(r.state(row))...)
		add(r.name, start)
	}
	if hasStanding(row) {
		start := len(buffer)
		var practice uint64
		if s.set.strikes.rehearses() {
			practice = 1
		}
		buffer = append(buffer, stateVersion, standingCode)
		buffer = appendNumbers(buffer, practice, uint64(strikeCount(row)), row[wordStrikeAt], row[wordSilentUntil], uint64(seriesOf(row)))
		add(standingRow, start)
	}
	if has(row, personalFlag) {
		start := len(buffer)
		buffer = s.personal[row[wordUser]].append(append(buffer, stateVersion, givenCode))
		add(givenRow, start)
	}
	return rows, buffer
}

// hasStanding reports whether the row's standing is to be stored. Of a pinned one, what was there may have to be overwritten.
func hasStanding(row []uint64) bool {
	return has(row, pinnedFlag) || row[wordStrikeAt] != 0 || row[wordSilentUntil] != 0
}

// parts returns how many rows a store is given of a row.
func (s *shard) parts(row []uint64) int {
	parts := len(s.set.rules)
	if hasStanding(row) {
		parts++
	}
	if has(row, personalFlag) {
		parts++
	}
	return parts
}

// trim returns the words without zeros at their end.
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

// open returns what the bytes are of, and the rest of them.
func (r *StateRow) open() (code byte, data []byte, err error) {
	if len(r.Data) < 2 || r.Data[0] != stateVersion {
		return 0, nil, errStateBytes
	}
	return r.Data[1], r.Data[2:], nil
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

// spending is what was spent of a limit, as it was stored.
type spending struct {
	under   Rule // algorithm, calendar, capacity and interval
	roles   uint8
	last    int64
	state   []uint64
	numbers []uint64 // as they were read: the state is their end
}

// spendings are there to be read into, so that a million rows need no memory of their own.
var spendings = sync.Pool{New: func() any { return new(spending) }}

// read takes in what was spent of a limit of that algorithm. The calendar at hand is a likely one, and may be nil.
func (s *spending) read(a *algorithm, data []byte, atHand *Calendar) (err error) {
	length, size := binary.Uvarint(data)
	if size <= 0 || length > uint64(len(data)-size) {
		return errStateBytes
	}
	calendar, data := data[size:size+int(length)], data[size+int(length):]
	s.numbers, err = readNumbers(s.numbers[:0], data)
	if err != nil || len(s.numbers) < 4 || s.numbers[0] > maxRoles || s.numbers[1] > MaxMessages || s.numbers[2] >= MaxTime || s.numbers[3] >= MaxTime {
		return errStateBytes
	}
	for len(s.numbers) < 4+a.sizeOf(s.numbers[4:]) {
		s.numbers = append(s.numbers, 0)
	}
	s.roles, s.last, s.state = uint8(s.numbers[0]), int64(s.numbers[3]), s.numbers[4:]
	s.under.algorithm, s.under.capacity, s.under.interval = a, int64(s.numbers[1]), int64(s.numbers[2])
	if s.under.calendar, err = storedCalendars.named(calendar, atHand); err != nil {
		return errors.Join(errStateBytes, err)
	}
	if !a.sound(&s.under, s.state, s.last) {
		return errStateBytes
	}
	return nil
}

// standing is what is known of a user beyond the limits, as it was stored.
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

// given is the JSON form of what a user has been given.
type given struct {
	Exemption   Exemption          `json:"exemption,omitempty"`
	ExemptUntil int64              `json:"exempt_until,omitempty"` // nanoseconds since the Unix epoch
	Timezone    string             `json:"timezone,omitempty"`
	Numbers     map[string]Numbers `json:"numbers,omitempty"`
	Grants      []storedGrant      `json:"grants,omitempty"`
	Pardoned    []int64            `json:"pardoned,omitempty"`      // offences
	Runs        [][2]int64         `json:"pardoned_runs,omitempty"` // offences, from the first to the last
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
		panic(err) // numbers and texts always have a JSON form
	}
	return append(buffer, data...)
}

func readGiven(data []byte) (g given, err error) {
	if err := json.Unmarshal(data, &g); err != nil || g.Exemption > NotExempt || g.ExemptUntil < 0 || g.ExemptUntil != 0 && g.Exemption == ExemptByRole {
		return g, errStateBytes
	}
	return g, nil
}

// own is what the user has of their own.
func (g *given) own() Own {
	return Own{Exemption: g.Exemption, ExemptUntil: g.ExemptUntil, Timezone: g.Timezone, Numbers: g.Numbers}
}

// pardoned are the offences that were pardoned, those with the last IDs at the end.
func (g *given) pardoned() (spans []span) {
	for _, id := range g.Pardoned {
		spans = append(spans, span{id, id})
	}
	for _, run := range g.Runs {
		spans = append(spans, span{run[0], run[1]})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.last, b.last) })
	return newest(spans, remembered)
}

// grants are those that haven't lapsed at that time.
func (g *given) grants(at int64) (grants []grant) {
	for _, stored := range g.Grants {
		if stored.Left > 0 && stored.Until > at {
			grants = append(grants, grant{stored.Limit, stored.Left, stored.Until})
		}
	}
	return grants
}
