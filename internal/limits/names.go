package limits

import (
	"encoding/binary"
	"hash/maphash"
	"strconv"
	"strings"
)

// namedKey marks the key of a user with a non-numeric ID. The key also has 31 bits of the ID's
// hash, and the ID's position in names. The position changes when names move.
const (
	namedKey     = 1 << 63
	positionBits = 1<<32 - 1
)

// nameSeed is unknown to outsiders, so they can't choose IDs with the same hash.
var nameSeed = maphash.MakeSeed()

// nameKey returns the key of a user with a non-numeric ID, without its position.
func nameKey(id string) uint64 { return maphash.String(nameSeed, id)&^positionBits | namedKey }

// identityOf returns the part of a key that never changes. Users with numeric IDs have different
// identities; users with other IDs nearly always do.
func identityOf(key uint64) uint64 {
	return key &^ (uint64(int64(key)>>63) & positionBits)
}

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

// emptyKey is the key of the empty ID, which stands for a whole channel.
const emptyKey = 1 << 61

// numericKey returns the key of an ID that is a plain decimal number in canonical form, or
// askedPrefix and such a number. The empty ID has a key, too.
func numericKey(id string) (key uint64, ok bool) {
	if id == "" {
		return emptyKey, true
	}
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
	if 8 <= len(id) && len(id) <= 16 { // nearly all
		rest := len(id) - 8 // digits after the first eight
		first, ok := eightDigits(id, 8)
		last, alsoOK := eightDigits(id[rest:], rest)
		return first*powersOfTen[rest] + last, ok && alsoOK
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

var powersOfTen = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// eightDigits returns the number that the last n of the first eight bytes of text represent. ok is
// false if one of the eight is not a digit. It computes with all bytes of a word at once, without a
// branch that depends on the number of digits.
func eightDigits(text string, n int) (number uint64, ok bool) {
	word := binary.LittleEndian.Uint64([]byte(text[:8])) // the first byte is the lowest
	const zeros = '0' * everyByte
	digits := word - zeros
	ok = (word+0x46*everyByte|digits)&highBits == 0
	unused := 8 * (8 - n)
	digits = digits >> unused << unused
	digits = digits*10 + digits>>8 // pairs, in every other byte
	number = (digits&0xFF000000FF*(100+1e6<<32) + digits>>16&0xFF000000FF*(1+1e4<<32)) >> 32
	return number, ok
}

// names holds non-numeric IDs, each after its length, in one slice. So a name takes few bytes, and
// the garbage collector has nothing to trace.
type names struct {
	text []byte
	gone int // bytes of removed names
}

// newNames returns names with room for used + more bytes, and some spare room.
func newNames(used, more int) names {
	size := used + more
	return names{text: append([]byte(nil), make([]byte, 1+size+size/nameGrowth+min(used, 64))...)[:1]}
}

// nameGrowth means that the memory of the names grows by an eighth.
const nameGrowth = 8

// nameSize returns how many bytes a name of that length takes in names.
func nameSize(length int) int {
	size := length + 1
	for more := length >> 7; more > 0; more >>= 7 {
		size++
	}
	return size
}

// fits reports whether a name can be added without moving the others.
func (n *names) fits(id string) bool {
	return len(n.text) > 0 && len(n.text)+nameSize(len(id)) <= cap(n.text)
}

// add adds a name and returns its key.
func (n *names) add(identity uint64, id string) (key uint64) {
	key = identity | uint64(len(n.text))
	n.text = append(binary.AppendUvarint(n.text, uint64(len(id))), id...)
	return key
}

// bytes returns the name of a key.
func (n *names) bytes(key uint64) []byte {
	text := n.text[key&positionBits:]
	length, start := binary.Uvarint(text)
	return text[start:][:length]
}

// drop removes the name of a key, and returns its length.
func (n *names) drop(key uint64) (length int) {
	length = len(n.bytes(key))
	n.gone += nameSize(length)
	return length
}

// id returns the ID of a key.
func (n *names) id(key uint64) string {
	if key&namedKey != 0 {
		return string(n.bytes(key))
	}
	if key == emptyKey {
		return ""
	}
	if key&askedKey != 0 {
		return askedPrefix + strconv.FormatUint(key&^askedKey, 10)
	}
	return strconv.FormatUint(key, 10)
}
