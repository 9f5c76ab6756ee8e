package limits

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// slots is a hash table with open addressing. The slots contain the rows themselves, in one slice
// without pointers, so the garbage collector has nothing to trace. A separate tag byte for each
// slot identifies possible owners. The tags stay in the processor's cache, so a look-up waits for
// memory only once: for the row.
type slots struct {
	// tags holds a byte for each slot: emptyTag, leftTag, or a part of the key's hash. The first
	// tags are repeated after the last.
	tags  []byte
	rows  []uint64 // width words for each slot
	width int
	// dirty has a bit for each slot whose row must be passed to a store.
	dirty slotBits
	// unsent has a bit for each slot whose row has something unsent. It is nil if the table doesn't
	// count that.
	unsent slotBits
	count  int // slots in use
	// used is the number of slots in use, plus the slots freed since the last layout.
	used int
	many bool // many keys are expected: grow by a half
}

const (
	emptyTag = 0 // empty slot: ends the search for a key
	leftTag  = 1 // freed slot: the search continues
	someones = 2 // smallest tag of a slot in use

	groupSize = 8 // number of tags compared at once
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// The slots are laid out again when nine in ten are used. They then grow by a sixteenth, so hardly
// more than a seventh of the memory is ever unused. In return, each row moves 16 times on average.
// A small number of slots grows by a quarter, but by at most smallGrowth.
const (
	fullTenths  = 9
	growth      = 16
	smallGrowth = 4
)

// len returns the number of slots.
func (s *slots) len() int { return max(0, len(s.tags)-groupSize) }

// row returns the words of a slot. Adding a key may move them.
func (s *slots) row(slot int) []uint64 {
	start := slot * s.width
	return s.rows[start : start+s.width : start+s.width]
}

// prefetch starts to load the row of a slot into the processor's cache. The load is atomic only so
// that the compiler keeps it, although nobody uses its result.
func (s *slots) prefetch(slot int) { atomic.LoadUint64(&s.rows[slot*s.width]) }

// keyOf returns the key of a slot in use.
func (s *slots) keyOf(slot int) uint64 { return s.rows[slot*s.width+wordUser] }

// inUse reports whether a slot is in use.
func (s *slots) inUse(slot int) bool { return s.tags[slot] >= someones }

// holds reports whether a slot belongs to that key.
func (s *slots) holds(slot int, key uint64) bool {
	return slot < s.len() && s.inUse(slot) && s.keyOf(slot) == key
}

// keySeed is unknown to outsiders, so they can't predict the hash of a key.
var keySeed = maphash.Bytes(nameSeed, nil)

// hash spreads a key's identity over all bits. The top bits select the shard.
func hash(identity uint64) uint64 {
	hi, lo := bits.Mul64(identity^keySeed, 0x9E3779B97F4A7C15)
	return hi ^ lo
}

// hashOf returns the hash of any key.
func hashOf(key uint64) uint64 { return hash(identityOf(key)) }

// tagOf returns the part of a hash that is used as a slot's tag.
func tagOf(hash uint64) byte {
	tag := byte(hash)
	if tag < someones {
		tag += someones
	}
	return tag
}

// home returns the slot where the search for a key begins.
func home(hash uint64, slots int) int {
	slot, _ := bits.Mul64(hash<<shardBits, uint64(slots))
	return int(slot)
}

// zeroBytes returns a word with the high bit set in each byte that is zero in x. The bit may also
// be set in a byte of value 1 above such a byte. If x is a group of tags XOR the tag of a slot in
// use, none of these bytes belongs to a free slot.
func zeroBytes(x uint64) uint64 { return (x - everyByte) &^ x & highBits }

// add gives a new key a slot, with a row of zero words.
func (s *slots) add(key uint64) (slot int) {
	if n := s.len(); 10*(s.used+1) > fullTenths*n {
		s.layOut(s.nextSize(n))
	}
	slot = s.place(key)
	row := s.row(slot)
	clear(row)
	row[wordUser] = key
	s.count++
	return slot
}

// nextSize returns the number of slots for the next layout. few is a number of slots that is too
// small.
func (s *slots) nextSize(few int) int {
	more := max(few/growth, min(few/4, smallGrowth))
	if s.many {
		more = few / 2
	}
	return 10*(s.count+1)/fullTenths + more + 1
}

// place marks the first free slot for a key.
func (s *slots) place(key uint64) (slot int) {
	n, hash := s.len(), hashOf(key)
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

// remove frees a slot.
func (s *slots) remove(slot int) {
	s.dirty.clear(slot)
	s.unsent.clear(slot)
	s.mark(slot, leftTag)
	s.count--
}

// layOut moves all rows to a layout of n slots.
func (s *slots) layOut(n int) {
	old := *s
	s.tags = make([]byte, n+groupSize)
	s.rows = make([]uint64, n*s.width)
	s.dirty = make(slotBits, (n+63)/64)
	if old.unsent != nil {
		s.unsent = make(slotBits, (n+63)/64)
	}
	s.used = 0
	for from := range old.len() {
		if !old.inUse(from) {
			continue
		}
		to := s.place(old.keyOf(from))
		copy(s.row(to), old.row(from))
		if old.dirty.has(from) {
			s.dirty.set(to)
		}
		if old.unsent.has(from) {
			s.unsent.set(to)
		}
	}
}

// shrink frees memory if most slots are unused, or after many keys were added.
func (s *slots) shrink() {
	if n := s.len(); n > 64 && s.count < n/4 {
		s.layOut(max(groupSize, 2*s.count))
	}
	if s.many {
		s.many = false
		if enough := s.nextSize(s.count); enough < s.len() {
			s.layOut(enough)
		}
	}
}

// slotBits has a bit for each slot. A nil slotBits has none.
type slotBits []uint64

func (b slotBits) has(slot int) bool { return b != nil && b[slot/64]&(1<<(slot%64)) != 0 }

func (b slotBits) set(slot int) { b[slot/64] |= 1 << (slot % 64) }

func (b slotBits) clear(slot int) {
	if b != nil {
		b[slot/64] &^= 1 << (slot % 64)
	}
}
