package watchdog

import (
	"testing"
	"time"
)

func TestWork_Stuck(t *testing.T) {
	start := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	w := Work{Name: "judging"}
	check := func(after time.Duration, want string) {
		t.Helper()
		if got := w.Stuck(start.Add(after), 30*time.Second); got != want {
			t.Errorf("after %v: %q, want %q", after, got, want)
		}
	}
	check(time.Hour, "")
	first := w.Begin(start)
	second := w.Begin(start.Add(10 * time.Second))
	check(30*time.Second, "")
	check(31*time.Second, "judging has taken 31s so far")
	w.End(first)
	check(31*time.Second, "")
	if again := w.Begin(start.Add(20 * time.Second)); again != first {
		t.Errorf("the free place %d isn't used, but %d", first, again)
	}
	check(45*time.Second, "judging has taken 35s so far")
	w.End(second)
	w.End(first)
	check(time.Hour, "")
}
