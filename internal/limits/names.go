package limits

import (
	"strconv"
	"strings"
)

// namedKey marks the key of a user with a non-numeric ID; the other bits are its index in names.
const namedKey = 1 << 63

// askedKey marks the key of a user whose ID is askedPrefix and a plain number; the other bits are
// the number. The users of another server have such IDs. There can be as many of these users as of
// the chat's own users, so their IDs should need no more memory than numeric IDs.
const (
	askedKey    = 1 << 62
	askedPrefix = "check:"
)

// maxNumberDigits is the maximum length of a numeric ID that is used as its own key: 18 digits
// always fit in 60 bits.
const maxNumberDigits = 18

// names assigns numbers to non-numeric IDs.
type names struct {
	numbers map[string]uint64
	list    []string
	free    []uint64 // unused numbers
}

// numericKey returns the key of an ID that is a plain decimal number in canonical form, or
// askedPrefix and such a number.
func numericKey(id string) (key uint64, ok bool) {
	if key, ok = decimal(id); ok {
		return key, true
	}
	if number, asked := strings.CutPrefix(id, askedPrefix); asked {
		key, ok = decimal(number)
		return key | askedKey, ok
	}
	return 0, false
}

// decimal returns the number that an ID represents. ok is false unless the ID is written in
// canonical form.
func decimal(id string) (n uint64, ok bool) {
	if len(id) == 0 || len(id) > maxNumberDigits || id[0] == '0' && len(id) > 1 {
		return 0, false
	}
	for i := range len(id) {
		digit := id[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = n*10 + uint64(digit)
	}
	return n, true
}

// find returns the key of a known name.
func (n *names) find(id string) (key uint64, ok bool) {
	number, ok := n.numbers[id]
	return number | namedKey, ok
}

// add returns the key of a new name.
func (n *names) add(id string) uint64 {
	if n.numbers == nil {
		n.numbers = map[string]uint64{}
	}
	number := uint64(len(n.list))
	if last := len(n.free) - 1; last >= 0 {
		number, n.free = n.free[last], n.free[:last]
		n.list[number] = id
	} else {
		n.list = append(n.list, id)
	}
	n.numbers[id] = number
	return number | namedKey
}

// drop removes the name of a key.
func (n *names) drop(key uint64) {
	number := key &^ namedKey
	delete(n.numbers, n.list[number])
	n.list[number] = ""
	n.free = append(n.free, number)
}

// id returns the ID for a key.
func (n *names) id(key uint64) string {
	if key&namedKey != 0 {
		return n.list[key&^namedKey]
	}
	if key&askedKey != 0 {
		return askedPrefix + strconv.FormatUint(key&^askedKey, 10)
	}
	return strconv.FormatUint(key, 10)
}
