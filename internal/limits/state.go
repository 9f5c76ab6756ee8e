package limits

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// StateRow is what one user has spent of one limit, as bytes for a store. An empty Limit is the user's strikes.
type StateRow struct {
	User, Limit string
	Data        []byte
}

// The bytes begin with their version and the code of the algorithm. Then, for a limit: what it was spent under (the calendar as a text and
// its length, "" for none; then numbers as varints: roles, capacity, interval), the time of the last spending, and the words. For strikes:
// 1 when they were given for practice, how many, and the time of the last.
const (
	stateVersion = 1
	strikesCode  = 0
)

var errStateBytes = errors.New("the bytes of the state can't be read")

// encode appends a row's state to buffer, and what stands for it to rows.
func (s *shard) encode(rows []StateRow, buffer []byte, number uint32) ([]StateRow, []byte) {
	row := s.row(number)
	user := s.names.id(row[wordUser])
	add := func(limit string, start int) {
		rows = append(rows, StateRow{User: user, Limit: limit, Data: buffer[start:len(buffer):len(buffer)]})
	}
	for i, r := range s.set.rulesFor(rolesOf(row)) {
		start := len(buffer)
		buffer = append(buffer, stateVersion, r.code)
		calendar := r.calendar.String()
		buffer = append(binary.AppendUvarint(buffer, uint64(len(calendar))), calendar...)
		buffer = appendNumbers(buffer, uint64(rolesOf(row)), uint64(r.capacity), uint64(r.interval), row[wordLast])
		buffer = appendNumbers(buffer, s.set.state(row, i)...)
		add(r.name, start)
	}
	if row[wordStrikeAt] != 0 {
		start := len(buffer)
		var practice uint64
		if s.set.strikes.Practice {
			practice = 1
		}
		buffer = appendNumbers(append(buffer, stateVersion, strikesCode), practice, uint64(strikeCount(row)), row[wordStrikeAt])
		add("", start)
	}
	return rows, buffer
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
	code, data := row.Data[1], row.Data[2:]
	s, key, known := t.lock(row.User)
	defer s.mu.Unlock()
	if row.Limit == "" && code == strikesCode {
		return s.restoreStrikes(row.User, key, known, data)
	}
	i := slices.IndexFunc(s.set.rules, func(r Rule) bool { return r.name == row.Limit && r.code == code })
	if i < 0 {
		return nil
	}
	spent, err := t.decode(&s.set.rules[i], data)
	if err != nil {
		return fmt.Errorf("limit %q: %w", row.Limit, err)
	}
	s.restoreLimit(s.rowOf(row.User, key, known), i, spent, at)
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
	if err != nil || len(numbers) != 4+r.words || numbers[0] > maxRoles || numbers[1] > MaxMessages || numbers[2] >= MaxTime || numbers[3] >= MaxTime {
		return s, errStateBytes
	}
	s = spending{
		under: Rule{capacity: int64(numbers[1]), interval: int64(numbers[2])},
		roles: uint8(numbers[0]), last: int64(numbers[3]), state: numbers[4:],
	}
	if s.under.calendar, err = t.calendars.named(calendar, r.calendar); err != nil {
		return s, errors.Join(errStateBytes, err)
	}
	if !r.sound(&s.under, s.state, s.last) {
		return s, errStateBytes
	}
	return s, nil
}

func (s *shard) restoreLimit(number uint32, i int, spent spending, at int64) {
	row := s.row(number)
	row[wordLast] = max(row[wordLast], uint64(spent.last))
	setRoles(row, spent.roles)
	rule := &s.set.rulesFor(spent.roles)[i]
	state := s.set.state(row, i)
	copy(state, spent.state)
	rule.convert(&spent.under, rule, state, at)
	if !slices.Equal(state, spent.state) {
		s.touch(number)
	}
}

func (s *shard) restoreStrikes(user string, key uint64, known bool, data []byte) error {
	numbers, err := readNumbers(data)
	if err != nil || len(numbers) != 3 || numbers[0] > 1 || numbers[1] > maxStrikes || numbers[2] >= MaxTime {
		return errStateBytes
	}
	number := s.rowOf(user, key, known)
	row := s.row(number)
	row[wordStrikeAt] = numbers[2]
	if practice := numbers[0] == 1; practice && !s.set.strikes.Practice {
		s.touch(number) // they lapse, in the store too
		return nil
	}
	setStrikeCount(row, int(numbers[1]))
	return nil
}
