package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := table{title: "Decisions", note: "A note.", head: []string{"", "ns", "× peer"}}
	table.add("a", "120", "0.50")
	table.add("longer", "7", "–")
	for markdown, want := range map[bool]string{
		false: "\nDecisions\n\n         ns  × peer\na       120    0.50\nlonger    7       –\n\nA note.\n",
		true:  "\n### Decisions\n\n|        |  ns | × peer |\n|---|--:|--:|\n| a      | 120 |   0.50 |\n| longer |   7 |      – |\n\nA note.\n",
	} {
		var b strings.Builder
		table.print(&b, markdown)
		if b.String() != want {
			t.Errorf("markdown %v: got\n%s\nwant\n%s", markdown, b.String(), want)
		}
	}
}

func TestTable_RatiosNeedPeers(t *testing.T) {
	laps := [][]lap{{{3, 6, 0, 0}, {1, 2, 0, 0}, {2, 4, 0, 0}}, {{8, 40, 0, 0}}, {{4, 8, 0, 0}}}
	field := []contestant{{name: "chatguard"}, peers[0], peers[2]}
	for n, want := range map[int]string{1: "2,–,–,4,–,–", 2: "2,0.25,0.25,4,0.10,0.10", 3: "2,0.25,0.50,4,0.10,0.50"} {
		row := decisionTable("", field[:n], laps[:n]).rows[0]
		if got := strings.Join(row[2:8], ","); got != want {
			t.Errorf("of %d: %s, want %s", n, got, want)
		}
	}
}
