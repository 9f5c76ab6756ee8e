package check

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What is left of a JSON value is JSON, too, and texts are only cut at their ends, however the
// value arrives.
func TestTextCutter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, "\n", "é", "😀", "\u2028", strings.Repeat("x", maxLongText-5), strings.Repeat(`"`, 500)}))
		var value []string
		for range rapid.IntRange(0, 3).Draw(t, "texts") {
			value = append(value, strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), ""))
		}
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "escape all") {
			data = escapeAll(value)
		}
		var cut textCutter
		for rest := data; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			cut.add(rest[:n])
			rest = rest[n:]
		}
		if most := len("null") + len(value)*(maxLongText+len(`"\u0000",`)+len(cutMark)); len(cut.out) > most {
			t.Fatalf("%d bytes are left of %d texts, want %d", len(cut.out), len(value), most)
		}
		var got []string
		if err := json.Unmarshal(cut.out, &got); err != nil || len(got) != len(value) {
			t.Fatalf("%s is left of %s: %v", cut.out, data, err)
		}
		for i, text := range got {
			begin, isCut := strings.CutSuffix(text, cutMark)
			begin = strings.TrimRight(begin, "\uFFFD") // half a character
			switch {
			case text == value[i]:
			case !isCut || !strings.HasPrefix(value[i], begin) || len(begin) < maxHashed:
				t.Errorf("%q is cut to %q", value[i], text)
			}
		}
	})
}

// escapeAll returns the JSON of texts in which each character is an escape sequence.
func escapeAll(texts []string) []byte {
	var b strings.Builder
	for i, text := range texts {
		b.WriteString([]string{"[", ","}[min(i, 1)] + `"`)
		for _, r := range text {
			one, _ := json.Marshal(string(r))
			if utf8.RuneLen(r) == 1 && len(one) == 3 {
				one = []byte(`"\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]) + `"`)
			}
			b.Write(one[1 : len(one)-1])
		}
		b.WriteByte('"')
	}
	if len(texts) == 0 {
		return []byte("null")
	}
	return []byte(b.String() + "]")
}
