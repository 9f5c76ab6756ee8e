package main

import (
	"strings"
	"testing"
)

func TestTable_RatiosNeedPeers(t *testing.T) {
	laps := [][]lap{{{3, 6, 0, 0}, {1, 2, 0, 0}, {2, 4, 0, 0}}, {{8, 40, 0, 0}}, {{4, 8, 0, 0}}}
	field := []contestant{{name: "chatguard"}, peers[0], peers[2]}
	for n, want := range map[int]string{1: "1,–,–,2,–,–", 2: "1,0.12,0.12,2,0.05,0.05", 3: "1,0.12,0.25,2,0.05,0.25"} {
		row := decisionTable("", field[:n], laps[:n]).Rows[0]
		if got := strings.Join(row[2:8], ","); got != want {
			t.Errorf("of %d: %s, want %s", n, got, want)
		}
	}
}
