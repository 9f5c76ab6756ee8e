package limits

import (
	"encoding/binary"
	"math/bits"
)

// slots is a hash table with open addressing whose slots are the rows themselves, in one slice without pointers, so that the garbage
// collector has nothing to follow. Beside them lies a byte for each slot that says whose it may be. Those bytes stay in the processor's
// cache, so that a look-up waits for the memory once: for the row.
type slots struct {
	tags  []byte   // of each slot: empty, left, or a part of the key's hash. The first tags stand behind the last again
	rows  []uint64 // width words for each slot
	width int
	seed  uint64   // of the hash
	dirty []uint64 // a bit for each slot whose row is to be given to a store
	count int      // slots that are somebody's
	used  int      // those, and the ones that were left since the slots were last laid out
	many  bool     // many keys are about to come: the slots grow by a half
}

const (
	emptyTag = 0 // the search for a key ends here
	leftTag  = 1 // here it goes on
	someones = 2 // the least tag of a slot that is somebody's

	groupSize = 8 // tags looked at together
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// The slots are laid out anew when nine in ten are used, and then grow by a sixteenth: so hardly a seventh of the memory is ever unused. The
// price is that a row moves 16 times on average.
const (
	leastSlots = groupSize
	fullTenths = 9
	growth     = 16
)

// len returns how many slots there are.
func (s *slots) len() int { return max(0, len(s.tags)-groupSize) }

// row returns the words of a slot. They move when a key is added.
func (s *slots) row(slot int) []uint64 {
	start := slot * s.width
	return s.rows[start : start+s.width : start+s.width]
}

// keyOf returns the key of a slot that is somebody's.
func (s *slots) keyOf(slot int) uint64 { return s.rows[slot*s.width+wordUser] }

// inUse reports whether a slot is somebody's.
func (s *slots) inUse(slot int) bool { return s.tags[slot] >= someones }

// holds reports whether a slot is that key's.
func (s *slots) holds(slot int, key uint64) bool {
	return slot < s.len() && s.inUse(slot) && s.keyOf(slot) == key
}

// hash spreads a key over all bits, in a way that nobody outside can predict. The top bits choose the shard.
func hash(key, seed uint64) uint64 {
	hi, lo := bits.Mul64(key^seed, 0x9E3779B97F4A7C15)
	return hi ^ lo
}

// tagOf returns the part of a hash that a slot is marked with.
func tagOf(hash uint64) byte {
	tag := byte(hash)
	if tag < someones {
		tag += someones
	}
	return tag
}

// home returns the slot at which the search for a key begins.
func home(hash uint64, slots int) int {
	slot, _ := bits.Mul64(hash<<shardBits, uint64(slots))
	return int(slot)
}

// find returns the slot of a key.
func (s *slots) find(key uint64) (slot int, ok bool) { return s.findHashed(key, hash(key, s.seed)) }

// findHashed is find for a key whose hash is known.
func (s *slots) findHashed(key, hash uint64) (slot int, ok bool) {
	n := s.len()
	if n == 0 {
		return 0, false
	}
	tag := uint64(tagOf(hash)) * everyByte
	for at := home(hash, n); ; {
		group := binary.LittleEndian.Uint64(s.tags[at:])
		for match := zeroBytes(group ^ tag); match != 0; match &= match - 1 {
			slot := at + bits.TrailingZeros64(match)/8
			if slot >= n {
				slot -= n
			}
			if s.keyOf(slot) == key {
				return slot, true
			}
		}
		if zeroBytes(group) != 0 { // empty
			return 0, false
		}
		if at += groupSize; at >= n {
			at -= n
		}
	}
}

// zeroBytes returns a word with the high bit set in each byte that is zero in x, and perhaps in some above such a byte that are 1: no free
// slot's, where x is tags less a tag of somebody's.
func zeroBytes(x uint64) uint64 { return (x - everyByte) &^ x & highBits }

// add gives a key that has none a slot, with a row of zero words.
func (s *slots) add(key uint64) (slot int) {
	if n := s.len(); 10*(s.used+1) > fullTenths*n {
		s.layOut(s.enough(n))
	}
	slot = s.place(key)
	row := s.row(slot)
	clear(row)
	row[wordUser] = key
	s.count++
	return slot
}

// enough returns how many slots are laid out when so many are too few.
func (s *slots) enough(few int) int {
	more := few / growth
	if s.many {
		more = few / 2
	}
	return max(leastSlots, 10*(s.count+1)/fullTenths+more+1)
}

// place marks the first free slot for a key.
func (s *slots) place(key uint64) (slot int) {
	n, hash := s.len(), hash(key, s.seed)
	for slot = home(hash, n); s.inUse(slot); {
		if slot++; slot == n {
			slot = 0
		}
	}
	if s.tags[slot] == emptyTag {
		s.used++
	}
	s.mark(slot, tagOf(hash))
	return slot
}

// mark sets the tag of a slot.
func (s *slots) mark(slot int, tag byte) {
	s.tags[slot] = tag
	if behind := slot + s.len(); behind < len(s.tags) {
		s.tags[behind] = tag
	}
}

// remove makes a slot nobody's.
func (s *slots) remove(slot int) {
	s.dirty[slot/64] &^= 1 << (slot % 64)
	s.mark(slot, leftTag)
	s.count--
}

// layOut moves all rows to so many slots.
func (s *slots) layOut(n int) {
	old := *s
	s.tags = make([]byte, n+groupSize)
	s.rows = make([]uint64, n*s.width)
	s.dirty = make([]uint64, (n+63)/64)
	s.used = 0
	for from := range old.len() {
		if !old.inUse(from) {
			continue
		}
		to := s.place(old.keyOf(from))
		copy(s.row(to), old.row(from))
		if old.isDirty(from) {
			s.setDirty(to)
		}
	}
}

// shrink gives memory back where most slots are nobody's, and where many keys have come.
func (s *slots) shrink() {
	if n := s.len(); n > 64 && s.count < n/4 {
		s.layOut(max(leastSlots, 2*s.count))
	}
	if s.many {
		s.many = false
		if enough := s.enough(s.count); enough < s.len() {
			s.layOut(enough)
		}
	}
}

func (s *slots) isDirty(slot int) bool { return s.dirty[slot/64]&(1<<(slot%64)) != 0 }

func (s *slots) setDirty(slot int) { s.dirty[slot/64] |= 1 << (slot % 64) }
