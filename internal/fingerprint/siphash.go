package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// sum hashes a form: its code points have 21 bits each, and three of them fill a word of 64 bits.
// None is 0, so other characters are other words.
func (k *Key) sum(chars []char) [16]byte {
	var words [(MaxLength+2)/3 + 1]uint64
	n := 0
	for ; len(chars) >= 3; chars = chars[3:] {
		words[n] = uint64(chars[0]&runeMask) | uint64(chars[1]&runeMask)<<21 | uint64(chars[2]&runeMask)<<42
		n++
	}
	if len(chars) > 0 {
		words[n] = uint64(chars[0] & runeMask)
		if len(chars) > 1 {
			words[n] |= uint64(chars[1]&runeMask) << 21
		}
		n++
	}
	words[n] = uint64(8*n) << 56
	return newSip(k).blocks(words[:n+1]).sum()
}

// With returns the hash of a text by one author: of the hash of the text, and the author's ID.
func (k *Key) With(text [16]byte, authorID string) [16]byte {
	s := newSip(k).blocks([]uint64{binary.LittleEndian.Uint64(text[:8]), binary.LittleEndian.Uint64(text[8:])})
	rest := authorID
	for ; len(rest) >= 8; rest = rest[8:] {
		s = s.blocks([]uint64{binary.LittleEndian.Uint64([]byte(rest[:8]))})
	}
	last := uint64(len(text)+len(authorID)) << 56
	for i := range len(rest) {
		last |= uint64(rest[i]) << (8 * i)
	}
	return s.blocks([]uint64{last}).sum()
}

// sip is the state of SipHash-2-4 with a result of 128 bits, by Jean-Philippe Aumasson and Daniel
// J. Bernstein (https://www.aumasson.jp/siphash/siphash.pdf).
type sip struct{ v0, v1, v2, v3 uint64 }

func newSip(k *Key) sip {
	k0, k1 := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	return sip{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
}

// blocks adds words of eight bytes, the first byte lowest, with two rounds each. The last word of a
// text is the bytes that don't fill one, with the number of all bytes in its highest byte.
func (s sip) blocks(words []uint64) sip {
	v0, v1, v2, v3 := s.v0, s.v1, s.v2, s.v3
	for _, word := range words {
		v3 ^= word
		v0, v1, v2, v3 = halfRound(v0, v1, v2, v3, 13, 16)
		v2, v1, v0, v3 = halfRound(v2, v1, v0, v3, 17, 21)
		v0, v1, v2, v3 = halfRound(v0, v1, v2, v3, 13, 16)
		v2, v1, v0, v3 = halfRound(v2, v1, v0, v3, 17, 21)
		v0 ^= word
	}
	return sip{v0, v1, v2, v3}
}

func halfRound(a, b, c, d uint64, left, right int) (uint64, uint64, uint64, uint64) {
	a += b
	c += d
	b = bits.RotateLeft64(b, left) ^ a
	d = bits.RotateLeft64(d, right) ^ c
	return bits.RotateLeft64(a, 32), b, c, d
}

// sum returns the hash, after the last word.
func (s sip) sum() (sum [16]byte) {
	fourRounds := []uint64{0, 0}
	s.v2 ^= 0xee
	s = s.blocks(fourRounds)
	binary.LittleEndian.PutUint64(sum[:8], s.v0^s.v1^s.v2^s.v3)
	s.v1 ^= 0xdd
	s = s.blocks(fourRounds)
	binary.LittleEndian.PutUint64(sum[8:], s.v0^s.v1^s.v2^s.v3)
	return sum
}
