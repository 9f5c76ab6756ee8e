package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"":                      "",
		"Änne 😀":                "",
		"\u202e":                "", // a name may be written right to left
		strings.Repeat("x", 11): "has 11 bytes, and at most 10 are allowed",
		"a\nb":                  "has a line break, another control character, or invalid UTF-8",
		"\u009b2J":              "has a line break, another control character, or invalid UTF-8",
		"a\xffb":                "has a line break, another control character, or invalid UTF-8",
	} {
		err := CheckName(name, 10)
		if err == nil {
			err = errors.New("")
		}
		if err.Error() != want {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestClipName(t *testing.T) {
	const maxName = 200
	for name, want := range map[string]string{
		"anna":                                 "anna",
		"an\x1b[2J\u009bna\x7f\r\n":            "an[2Jna",
		"a\xff":                                "a\uFFFD",
		strings.Repeat("x", 300):               strings.Repeat("x", maxName-len(ellipsis)) + ellipsis,
		strings.Repeat("\x00", 1000) + "a":     "",
		strings.Repeat("\x01", maxName) + "ab": "ab",
	} {
		if got := ClipName(name, maxName); got != want {
			t.Errorf("%.20q is kept as %q, want %q", name, got, want)
		}
	}
}

// The output has nothing invisible and decodes to the same values.
func TestEscapeWriter_SameValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x7f", "\u0080", "\u009b", "\u009f", "\u061c", "\u200e", "\u202a", "\u202e", "\u2066", "\u2069", "é", "😀", `\`, `"`}))
		want := map[string]string{"a": strings.Join(rapid.SliceOfN(part, 0, 5).Draw(t, "parts"), "")}
		var out bytes.Buffer
		encoder := json.NewEncoder(EscapeWriter{W: &out})
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(want); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }) {
			t.Errorf("%q is written as %q", want, out.String())
		}
		var got map[string]string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["a"] != want["a"] {
			t.Errorf("%q comes back as %q, %v", want, got, err)
		}
	})
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func TestEscapeWriter_Errors(t *testing.T) {
	full := errors.New("full")
	if n, err := (EscapeWriter{W: failingWriter{full}}).Write([]byte("\x7f")); n != 0 || err != full {
		t.Errorf("wrote %d, %v", n, err)
	}
	if n, err := (EscapeWriter{W: new(bytes.Buffer)}).Write([]byte(`"a` + "\u009b" + `"`)); n != 5 || err != nil {
		t.Errorf("wrote %d, %v; want all of it", n, err)
	}
}
