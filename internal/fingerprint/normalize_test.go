package fingerprint

import (
	"testing"
	"unicode/utf8"
)

// TestDecode checks decode against the standard library: each code point, and each pair of bytes
// with what may follow.
func TestDecode(t *testing.T) {
	check := func(text string) {
		c, size := decode(text)
		if want, wantSize := utf8.DecodeRuneInString(text); c != want || size != wantSize {
			t.Errorf("% x: U+%04X in %d bytes, want U+%04X in %d", text, c, size, want, wantSize)
		}
	}
	for c := rune(0x80); c <= utf8.MaxRune; c++ {
		check(string(c) + "a")
	}
	for i := range 1 << 16 {
		for _, rest := range []string{"", "a", "\x80", "\xbf", "\xc0"} {
			check(string([]byte{byte(i >> 8), byte(i)}) + rest)
		}
	}
}
