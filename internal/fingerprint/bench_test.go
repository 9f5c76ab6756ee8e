package fingerprint

import (
	"fmt"
	"strings"
	"testing"
)

// benchTexts are messages of 200 characters, and the longest ones.
var benchTexts = []struct{ name, text string }{
	{"ascii", first(200, "The quick brown fox jumps over the lazy dog, and then runs away from the wolf. Who saw it? 42 of us! ")},
	{"cyrillic", first(200, "Съешь же ещё этих мягких французских булок, да выпей чаю. Кто это видел? Нас было 42! ")},
	{"japanese", first(200, "いろはにほへと ちりぬるを、わがよたれぞ ﾂﾈﾅﾗﾑ。色は匂へど散りぬるを「我が世」ガ常ならむ！ ")},
	{"emoji500", emoji(500)},
	{"zalgo", first(200, strings.ReplaceAll("Zalgo comes for all of us. ", "o", "o\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b"))},
	{"invisible1MB", strings.Repeat("\u200b", 1<<20/3)},
}

func first(n int, text string) string {
	runes := []rune(strings.Repeat(text, 1+n/len([]rune(text))))
	return string(runes[:n])
}

// emoji returns n characters of four bytes, no two of which in a row are the same.
func emoji(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteRune('\U0001f600' + rune(i*7%64))
	}
	return text.String()
}

// BenchmarkOf measures both prints, and the exact one alone.
func BenchmarkOf(b *testing.B) {
	k := Key{1, 2, 3}
	for _, c := range benchTexts {
		for _, similar := range []bool{false, true} {
			b.Run(fmt.Sprintf("text=%s/similar=%t", c.name, similar), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					k.Of(c.text, true, similar)
				}
			})
		}
	}
}
