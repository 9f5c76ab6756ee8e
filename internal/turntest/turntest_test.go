package turntest

import (
	"flag"
	"fmt"
	"strconv"
	"testing"
)

// TestIndex checks that every case of every test has its turn.
func TestIndex(t *testing.T) {
	for _, name := range []string{"flood", "ladder", "400"} {
		turns := make([]int, 3)
		for commit := range 300 {
			turns[index(fmt.Sprintf("%012x", commit), name, len(turns))]++
		}
		for i, n := range turns {
			if n < 60 {
				t.Errorf("%s: case %d has %d of 300 turns", name, i, n)
			}
		}
	}
	same := 0
	for commit := range 300 {
		turn := fmt.Sprintf("%012x", commit)
		if index(turn, "flood", 3) == index(turn, "ladder", 3) {
			same++
		}
	}
	if same > 150 {
		t.Errorf("two tests choose the same case in %d of 300 turns", same)
	}
}

// TestChoose checks that a turn has one case, and that "all" has every case.
func TestChoose(t *testing.T) {
	former := turn
	defer func() { turn = former }()
	cases := []string{"a", "b", "c"}
	turn = func() string { return "4f1e" }
	first := Choose(t, "flood", cases)
	if again := Choose(t, "flood", cases); len(first) != 1 || first[0] != again[0] {
		t.Errorf("chosen are %v and %v", first, again)
	}
	if got := Choose(t, "flood", cases[:1]); len(got) != 1 {
		t.Errorf("of one case, %v are chosen", got)
	}
	turn = func() string { return all }
	if got := Choose(t, "flood", cases); len(got) != 3 {
		t.Errorf("of all, %v are chosen", got)
	}
}

// TestSample checks that a part of the cases runs, a smaller one with -short, at least one of few
// cases, and that the turns have different parts.
func TestSample(t *testing.T) {
	former, short := turn, testing.Short()
	defer func() {
		turn = former
		flag.Set("test.short", strconv.FormatBool(short))
	}()
	cases := make([]int, 21)
	for i := range cases {
		cases[i] = i
	}
	turn = func() string { return "4f1e" }
	flag.Set("test.short", "false")
	if got := Sample(t, 1, cases); len(got) != len(cases) {
		t.Errorf("without -short: %v", got)
	}
	if got := Sample(t, 2, cases); len(got) < 10 || len(got) > 11 {
		t.Errorf("of every second case: %v", got)
	}
	flag.Set("test.short", "true")
	if got := Sample(t, 1, cases[:2]); len(got) != 1 {
		t.Errorf("of two cases: %v", got)
	}
	if got := Sample(t, 1, cases[:0]); len(got) != 0 {
		t.Errorf("of no case: %v", got)
	}
	seen := map[int]bool{}
	for commit := range 20 {
		turn = func() string { return strconv.Itoa(commit) }
		got := Sample(t, 1, cases)
		if len(got) < 5 || len(got) > 6 {
			t.Errorf("turn %d: %v", commit, got)
		}
		for _, c := range got {
			seen[c] = true
		}
	}
	if len(seen) != len(cases) {
		t.Errorf("20 turns have %d of the cases", len(seen))
	}
}

// TestExpensive checks that only -short skips a test, on most commits, and that the others have
// every part of a sample.
func TestExpensive(t *testing.T) {
	former, short := turn, testing.Short()
	defer func() {
		turn = former
		flag.Set("test.short", strconv.FormatBool(short))
	}()
	parts := map[int]bool{}
	ran := func(commit string) (ran bool) {
		turn = func() string { return commit }
		t.Run("part", func(t *testing.T) {
			Expensive(t)
			ran = true
		})
		return ran
	}
	n := 0
	for commit := range 100 {
		flag.Set("test.short", "true")
		if ran(strconv.Itoa(commit)) {
			n++
			parts[Sample(t, 1, []int{0, 1, 2, 3})[0]] = true
		}
		flag.Set("test.short", "false")
		if !ran(strconv.Itoa(commit)) {
			t.Fatalf("commit %d skips the test without -short", commit)
		}
	}
	if n < 10 || n > 50 {
		t.Errorf("%d of 100 commits run the test with -short, want about 25", n)
	}
	if len(parts) != 4 {
		t.Errorf("the test runs only with the parts %v of a sample", parts)
	}
	flag.Set("test.short", "true")
	if !ran(all) {
		t.Error("-turn all skips the test")
	}
}
