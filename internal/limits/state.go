package limits

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
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
	pinned := has(row, pinnedFlag) // what was there may have to be overwritten
	if pinned || row[wordStrikeAt] != 0 || row[wordSilentUntil] != 0 {
		start := len(buffer)
		var practice uint64
		if s.set.strikes.Practice {
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

func readNumbers(data []byte) ([]uint64, error) {
	var numbers []uint64
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errStateBytes
		}
		numbers = append(numbers, n)
		data = data[size:]
	}
	return numbers, nil
}

// Restore takes a row back, as of the moment at. A limit that the set doesn't have, or has under another algorithm, starts fresh.
func (t *Table) Restore(row StateRow, at int64) error {
	if len(row.Data) < 2 || row.Data[0] != stateVersion {
		return errStateBytes
	}
	t.stored.Store(true)
	code, data := row.Data[1], row.Data[2:]
	if row.Limit == givenRow && code == givenCode {
		return t.restoreGiven(row.User, data, at)
	}
	var p place
	t.place(row.User, &p)
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if row.Limit == standingRow && code == standingCode {
		return p.restoreStanding(data, at)
	}
	rules := p.shard.set.rules
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.name == row.Limit && r.code == code })
	if i < 0 {
		return nil
	}
	spent, err := t.decode(&rules[i], data)
	if err != nil {
		return fmt.Errorf("limit %q: %w", row.Limit, err)
	}
	p.restore(i, spent, at)
	return nil
}

// spending is a limit's state as it was stored.
type spending struct {
	under Rule // calendar, capacity and interval
	roles uint8
	last  int64
	state []uint64
}

func (t *Table) decode(r *Rule, data []byte) (s spending, err error) {
	length, size := binary.Uvarint(data)
	if size <= 0 || length > uint64(len(data)-size) {
		return s, errStateBytes
	}
	calendar, data := string(data[size:size+int(length)]), data[size+int(length):]
	numbers, err := readNumbers(data)
	if err != nil || len(numbers) < 4 || numbers[0] > maxRoles || numbers[1] > MaxMessages || numbers[2] >= MaxTime || numbers[3] >= MaxTime {
		return s, errStateBytes
	}
	s = spending{
		under: Rule{capacity: int64(numbers[1]), interval: int64(numbers[2])},
		roles: uint8(numbers[0]), last: int64(numbers[3]), state: numbers[4:],
	}
	for len(s.state) < r.end-r.start {
		s.state = append(s.state, 0)
	}
	if s.under.calendar, err = t.calendars.named(calendar, r.calendar); err != nil {
		return s, errors.Join(errStateBytes, err)
	}
	if !r.sound(&s.under, s.state, s.last) {
		return s, errStateBytes
	}
	return s, nil
}

// restore takes back what was spent of limit i.
func (p *place) restore(i int, spent spending, at int64) {
	p.seek()
	s := p.shard
	row := s.row(p.slot)
	row[wordLast] = max(row[wordLast], uint64(spent.last))
	setRoles(row, spent.roles)
	rule := &s.rulesOf(row)[i]
	state := rule.state(row)
	clear(state)
	rule.convert(&spent.under, rule, spent.state, state, max(at, spent.last))
	if !sameState(state, spent.state) {
		row[wordLast] = max(row[wordLast], uint64(at))
		s.touch(p.slot, row)
	}
}

func (p *place) restoreStanding(data []byte, at int64) error {
	numbers, err := readNumbers(data)
	if err != nil || len(numbers) != 5 || numbers[0] > 1 || numbers[1] > maxStrikes || numbers[2] >= MaxTime || numbers[3] > math.MaxInt64 || numbers[4] > maxSeries {
		return errStateBytes
	}
	p.seek()
	row := p.shard.row(p.slot)
	row[wordStrikeAt] = numbers[2]
	if practice := numbers[0] == 1; practice && !p.shard.set.strikes.Practice {
		p.shard.touch(p.slot, row) // they lapse, in the store too
		return nil
	}
	setStrikeCount(row, int(numbers[1]))
	row[wordSilentUntil] = numbers[3]
	setSeries(row, uint8(numbers[4]))
	return nil
}

// given is the JSON form of what a user has been given.
type given struct {
	Exemption Exemption          `json:"exemption,omitempty"`
	Timezone  string             `json:"timezone,omitempty"`
	Numbers   map[string]Numbers `json:"numbers,omitempty"`
	Grants    []storedGrant      `json:"grants,omitempty"`
	Pardoned  []int64            `json:"pardoned,omitempty"`
}

type storedGrant struct {
	Limit string `json:"limit"`
	Left  int64  `json:"left"`
	Until int64  `json:"until"` // nanoseconds since the Unix epoch
}

func (p *personal) append(buffer []byte) []byte {
	g := given{Exemption: p.Exemption, Timezone: p.Timezone, Numbers: p.Numbers, Pardoned: p.pardoned}
	for _, grant := range p.grants {
		g.Grants = append(g.Grants, storedGrant{grant.limit, grant.left, grant.until})
	}
	data, err := json.Marshal(g)
	if err != nil {
		panic(err) // numbers and texts always have a JSON form
	}
	return append(buffer, data...)
}

func (t *Table) restoreGiven(user string, data []byte, at int64) error {
	var g given
	if err := json.Unmarshal(data, &g); err != nil || g.Exemption > NotExempt {
		return errStateBytes
	}
	own := Own{Exemption: g.Exemption, Timezone: g.Timezone, Numbers: g.Numbers}
	var p place
	t.place(user, &p) // may have to make the shard, under the lock too
	t.mu.Lock()
	defer t.mu.Unlock()
	p.edit(at, func(s *shard, row []uint64) {
		p := s.personalOf(row)
		p.Own, p.variants, p.grants, p.pardoned = own, nil, nil, newest(g.Pardoned, remembered)
		for _, stored := range g.Grants {
			if stored.Left > 0 && stored.Until > at {
				p.grants = append(p.grants, grant{stored.Limit, stored.Left, stored.Until})
			}
		}
	})
	return nil
}
