package main

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard/bench/internal/sequence"
)

func TestRun_EverySectionReports(t *testing.T) {
	s, err := parse([]string{"-users", "500", "-draws", "1000", "-rounds", "2", "-procs", "1,3", "-markdown"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s.out = &out
	crowd := sequence.Crowd(s.users)
	want := map[string]int{"| while changing ": 1, "| without a change ": 1, "| empty heap ": 1}
	for _, c := range contestants {
		want["| "+c.name+" "] += 4 // 2 spreads, 2 numbers of processors
	}
	for _, c := range memoryContestants() {
		want["| "+c.name+" "]++
	}
	for _, section := range []func(*settings, []uint64) error{measureMemory, measureChange, measureDecisions} {
		if err := section(s, crowd); err != nil {
			t.Fatal(err)
		}
	}
	for line, times := range want {
		if got := strings.Count(out.String(), line); got != times {
			t.Errorf("%q is in the report %d times, want %d:\n%s", line, got, times, &out)
		}
	}
}

func TestParse_Refused(t *testing.T) {
	for _, args := range []string{"-ids random", "-procs 1,0", "-procs one", "-only (", "-users 0", "-draws 15", "-rounds 0", "-refill 0s"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}
