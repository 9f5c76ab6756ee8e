package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// sum hashes a form: its code points have 21 bits each, and three of them fill a word of 64 bits.
// None is 0, so forms with other characters are other words.
func (k *Key) sum(chars []char) [16]byte {
	s, length := newSip(k), (len(chars)+2)/3*8
	for ; len(chars) >= 3; chars = chars[3:] {
		s = s.block(uint64(chars[0]&runeMask) | uint64(chars[1]&runeMask)<<21 | uint64(chars[2]&runeMask)<<42)
	}
	switch len(chars) {
	case 1:
		s = s.block(uint64(chars[0] & runeMask))
	case 2:
		s = s.block(uint64(chars[0]&runeMask) | uint64(chars[1]&runeMask)<<21)
	}
	return s.sum(uint64(length) << 56)
}

// sip is the state of SipHash-2-4 with a result of 128 bits, by Jean-Philippe Aumasson and Daniel J.
// Bernstein (https://www.aumasson.jp/siphash/siphash.pdf). Its methods return the next state, so that
// it stays in registers.
type sip struct{ v0, v1, v2, v3 uint64 }

func newSip(k *Key) sip {
	k0, k1 := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	return sip{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
}

// block adds eight bytes, the first one lowest.
func (s sip) block(word uint64) sip {
	s.v3 ^= word
	s = s.rounds(2)
	s.v0 ^= word
	return s
}

// sum returns the hash. The last word is the bytes that don't fill a word, and the number of all bytes
// in its highest byte.
func (s sip) sum(last uint64) (sum [16]byte) {
	s = s.block(last)
	s.v2 ^= 0xee
	s = s.rounds(4)
	binary.LittleEndian.PutUint64(sum[:8], s.v0^s.v1^s.v2^s.v3)
	s.v1 ^= 0xdd
	s = s.rounds(4)
	binary.LittleEndian.PutUint64(sum[8:], s.v0^s.v1^s.v2^s.v3)
	return sum
}

func (s sip) rounds(n int) sip {
	for range n {
		s.v0 += s.v1
		s.v1 = bits.RotateLeft64(s.v1, 13) ^ s.v0
		s.v0 = bits.RotateLeft64(s.v0, 32)
		s.v2 += s.v3
		s.v3 = bits.RotateLeft64(s.v3, 16) ^ s.v2
		s.v0 += s.v3
		s.v3 = bits.RotateLeft64(s.v3, 21) ^ s.v0
		s.v2 += s.v1
		s.v1 = bits.RotateLeft64(s.v1, 17) ^ s.v2
		s.v2 = bits.RotateLeft64(s.v2, 32)
	}
	return s
}
