package recent

import (
	"testing"
	"time"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestMap_Size checks that at least Size keys are remembered, and at most twice as many.
func TestMap_Size(t *testing.T) {
	m := Map[int, int]{Size: 100}
	if _, ok := m.Get(0); ok {
		t.Error("an empty one remembers")
	}
	for n := range 1000 {
		m.Set(n, -n, start)
		for k := max(0, n-99); k <= n; k++ {
			if value, ok := m.Get(k); !ok || value != -k {
				t.Fatalf("after %d: %d is %d, %v", n, k, value, ok)
			}
		}
		if _, ok := m.Get(n - 200); ok || m.Len() > 200 {
			t.Fatalf("after %d: %d are remembered", n, m.Len())
		}
	}
}

// TestMap_Span checks that a key is remembered for Span, and forgotten when another key is set
// after twice that time.
func TestMap_Span(t *testing.T) {
	m := Map[int, bool]{Size: 1000, Span: 10 * time.Minute}
	for minute := range 60 {
		m.Set(minute, true, start.Add(time.Duration(minute)*time.Minute))
		for ago := range min(minute, 10) + 1 {
			if _, ok := m.Get(minute - ago); !ok {
				t.Fatalf("minute %d: forgot one of %d minutes ago", minute, ago)
			}
		}
		if m.Len() > 22 {
			t.Fatalf("minute %d: %d are remembered", minute, m.Len())
		}
	}
}

func TestMap_LastValue(t *testing.T) {
	m := Map[string, int]{Size: 2}
	for n, key := range []string{"a", "b", "c", "a"} {
		m.Set(key, n, start)
	}
	if got, ok := m.Get("a"); !ok || got != 3 {
		t.Errorf("a is %d, %v; want the last value", got, ok)
	}
}
