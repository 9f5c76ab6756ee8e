package report

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{Title: "Decisions", Note: "A note.", Head: []string{"", "ns", "× peer"}}
	table.Add("a", "120", "0.50")
	table.Add("longer", "7", "–")
	for markdown, want := range map[bool]string{
		false: "\nDecisions\n\n         ns  × peer\na       120    0.50\nlonger    7       –\n\nA note.\n",
		true:  "\n### Decisions\n\n|        |  ns | × peer |\n|---|--:|--:|\n| a      | 120 |   0.50 |\n| longer |   7 |      – |\n\nA note.\n",
	} {
		var b strings.Builder
		table.Print(&b, markdown)
		if b.String() != want {
			t.Errorf("markdown %v: got\n%s\nwant\n%s", markdown, b.String(), want)
		}
	}
}
