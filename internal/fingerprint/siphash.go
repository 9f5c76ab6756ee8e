package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// hash is SipHash-2-4 with a result of 128 bits, by Jean-Philippe Aumasson and Daniel J. Bernstein
// (https://www.aumasson.jp/siphash/siphash.pdf). Its bytes come as characters.
type hash struct {
	v0, v1, v2, v3 uint64
	word           uint64 // bytes that don't fill a word yet, the first one lowest
	length         uint64 // in bytes
}

func newHash(k *Key) hash {
	k0, k1 := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	return hash{
		v0: k0 ^ 0x736f6d6570736575,
		v1: k1 ^ 0x646f72616e646f6d ^ 0xee, // 0xee: 128 bits
		v2: k0 ^ 0x6c7967656e657261,
		v3: k1 ^ 0x7465646279746573,
	}
}

// addRune adds the UTF-8 of a code point.
func (h *hash) addRune(c uint64) {
	switch {
	case c < 1<<7:
		h.add(c, 1)
	case c < 1<<11:
		h.add(0x80c0|c>>6|c&0x3f<<8, 2)
	case c < 1<<16:
		h.add(0x8080e0|c>>12|c>>6&0x3f<<8|c&0x3f<<16, 3)
	default:
		h.add(0x808080f0|c>>18|c>>12&0x3f<<8|c>>6&0x3f<<16|c&0x3f<<24, 4)
	}
}

// add adds 1 to 4 bytes, the first one lowest.
func (h *hash) add(bytes, n uint64) {
	filled := h.length % 8
	h.length += n
	h.word |= bytes << (8 * filled)
	if filled+n >= 8 {
		h.block(h.word)
		h.word = bytes >> (8 * (8 - filled))
	}
}

// block adds a word with two rounds.
func (h *hash) block(word uint64) {
	h.v3 ^= word
	h.round()
	h.round()
	h.v0 ^= word
}

func (h *hash) sum() (sum [16]byte) {
	h.block(h.word | h.length<<56)
	h.v2 ^= 0xee
	h.finish(sum[:8])
	h.v1 ^= 0xdd
	h.finish(sum[8:])
	return sum
}

// finish writes half of the sum, after four rounds.
func (h *hash) finish(half []byte) {
	for range 4 {
		h.round()
	}
	binary.LittleEndian.PutUint64(half, h.v0^h.v1^h.v2^h.v3)
}

func (h *hash) round() {
	v0, v1, v2, v3 := h.v0, h.v1, h.v2, h.v3
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	h.v0, h.v1, h.v2, h.v3 = v0, v1, v2, v3
}
