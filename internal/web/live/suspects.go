package live

import (
	"hash/maphash"
	"sync/atomic"
)

// suspects are the users of a channel who wrote there for the first time, or were throttled, in the
// last one to two minutes. It knows users only by a hash. If thousands are suspects, it therefore
// takes some others for suspects too. The zero value has no suspects. Noting takes no lock.
type suspects struct {
	// generations has the suspects of the running minute and of the one before, as one bit for each
	// hash.
	generations [2]struct {
		bits  [suspectBits / 64]atomic.Uint64
		isAny atomic.Bool
	}
	current atomic.Uint32 // index of the running minute's generation
}

// suspectBits is the number of hashes. They take 2 kB per channel.
const suspectBits = 1 << 13

// note reports whether a user is a suspect, and whether they have become one just now. isSuspicious
// makes the user a suspect.
func (s *suspects) note(user string, isSuspicious bool) (is, isNew bool) {
	if !isSuspicious && !s.generations[0].isAny.Load() && !s.generations[1].isAny.Load() {
		return false, false
	}
	hash := maphash.String(userSeed, user) % suspectBits
	word, bit := hash/64, uint64(1)<<(hash%64)
	was := (s.generations[0].bits[word].Load()|s.generations[1].bits[word].Load())&bit != 0
	if !isSuspicious {
		return was, false
	}
	g := &s.generations[s.current.Load()]
	g.isAny.Store(true)
	before := g.bits[word].Or(bit)
	return true, !was && before&bit == 0
}

// age begins a new generation and forgets the older one. Only one goroutine may call it.
func (s *suspects) age() {
	next := 1 - s.current.Load()
	g := &s.generations[next]
	if g.isAny.Swap(false) {
		for i := range g.bits {
			g.bits[i].Store(0)
		}
	}
	s.current.Store(next)
}
