package fingerprint

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestOf_Raid counts the variants of one text that are the same text.
func TestOf_Raid(t *testing.T) {
	file, err := os.ReadFile("testdata/raid.txt")
	must(t, err)
	var first Prints
	variants, exact, similar := 0, 0, 0
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		trick, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		text, err := strconv.Unquote(quoted)
		must(t, err)
		p := (&Key{}).Of(text, true, true)
		if variants == 0 {
			first = p
		}
		variants++
		if p.Exact == first.Exact {
			exact++
		} else if p.Similar == first.Similar {
			t.Logf("only similar: %s", trick)
		}
		if p.Similar == first.Similar {
			similar++
		} else {
			t.Logf("neither: %s", trick)
		}
	}
	t.Logf("of %d variants, %d are the same text, and %d with similar = true", variants, exact, similar)
	if variants != 40 || exact != 23 || similar != 36 {
		t.Errorf("%d variants, %d exact, %d similar; want 40, 23, 36", variants, exact, similar)
	}
}
