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

// The bytes begin with their version and the code of the algorithm; numbers follow as varints. For a limit: capacity and interval that
// the state was spent under, the time of the last spending, the words. For strikes: how many, and the time of the last.
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
	for i := range s.set.rules {
		start := len(buffer)
		buffer = s.set.encodeLimit(buffer, row, i)
		add(s.set.rules[i].name, start)
	}
	if row[wordStrikeAt] != 0 {
		start := len(buffer)
		buffer = append(buffer, stateVersion, strikesCode)
		buffer = binary.AppendUvarint(buffer, uint64(strikeCount(row)))
		buffer = binary.AppendUvarint(buffer, row[wordStrikeAt])
		add("", start)
	}
	return rows, buffer
}

func (s *Set) encodeLimit(buffer []byte, row []uint64, i int) []byte {
	r := &s.rules[i]
	buffer = append(buffer, stateVersion, r.code)
	for _, number := range []uint64{uint64(r.capacity), uint64(r.interval), row[wordLast]} {
		buffer = binary.AppendUvarint(buffer, number)
	}
	for _, word := range s.state(row, i) {
		buffer = binary.AppendUvarint(buffer, word)
	}
	return buffer
}

// Restore takes a row back, as of the moment at. A limit that the set doesn't have, or has under another algorithm, starts fresh.
func (t *Table) Restore(row StateRow, at int64) error {
	if len(row.Data) < 2 || row.Data[0] != stateVersion {
		return errStateBytes
	}
	numbers, err := readNumbers(row.Data[2:])
	if err != nil {
		return err
	}
	s, key, known := t.lock(row.User)
	defer s.mu.Unlock()
	if row.Limit == "" {
		if row.Data[1] != strikesCode || len(numbers) != 2 || numbers[0] > maxStrikes || numbers[1] >= MaxTime {
			return errStateBytes
		}
		r := s.row(s.rowOf(row.User, key, known))
		setStrikeCount(r, int(numbers[0]))
		r[wordStrikeAt] = numbers[1]
		return nil
	}
	i := slices.IndexFunc(s.set.rules, func(r Rule) bool { return r.name == row.Limit && r.code == row.Data[1] })
	if i < 0 {
		return nil
	}
	if r := &s.set.rules[i]; len(numbers) != 3+r.words || numbers[2] >= MaxTime || !r.sound(numbers[3:]) {
		return fmt.Errorf("limit %q: %w", row.Limit, errStateBytes)
	}
	s.restoreLimit(s.rowOf(row.User, key, known), i, numbers, at)
	return nil
}

func (s *shard) restoreLimit(number uint32, i int, numbers []uint64, at int64) {
	row, rule := s.row(number), &s.set.rules[i]
	spentUnder := Rule{capacity: int64(numbers[0]), interval: int64(numbers[1])}
	row[wordLast] = max(row[wordLast], numbers[2])
	state := s.set.state(row, i)
	copy(state, numbers[3:])
	rule.convert(&spentUnder, rule, state, at)
	if !slices.Equal(state, numbers[3:]) {
		s.touch(number)
	}
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
