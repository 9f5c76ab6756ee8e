package main

import (
	"strings"
	"testing"
)

func TestTable_RatiosNeedPeers(t *testing.T) {
	laps := [][]lap{
		{{processor: 6, parts: []float64{1, 2}}, {processor: 2, parts: []float64{0.5, 3}}, {processor: 4, parts: []float64{3, 0.5}}},
		{{processor: 40, parts: []float64{4, 4}}}, {{processor: 8, parts: []float64{4}}},
	}
	field := []contestant{{name: "chatguard"}, peers[0], peers[2]}
	for n, want := range map[int]string{1: "1,–,–,2,–,–", 2: "1,0.12,0.12,2,0.05,0.05", 3: "1,0.12,0.25,2,0.05,0.25"} {
		row := decisionTable("", field[:n], laps[:n]).Rows[0]
		if got := strings.Join(row[2:8], ","); got != want {
			t.Errorf("of %d: %s, want %s", n, got, want)
		}
	}
}
