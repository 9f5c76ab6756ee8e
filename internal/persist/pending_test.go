package persist

import (
	"errors"
	"maps"
	"testing"
)

// The last row of a key counts, also if it was put while a flush wrote an earlier one.
func TestPending_LastRowCounts(t *testing.T) {
	t.Parallel()
	var p pending[string, int]
	one, two := 1, 2
	must(t, p.put("a", &one))
	must(t, p.put("b", &one))
	must(t, p.put("c", nil))
	written := p.peek()
	must(t, p.put("a", &two))
	must(t, p.put("b", nil))
	p.stored(written)
	if want := (map[string]*int{"a": &two, "b": nil}); !maps.Equal(p.peek(), want) {
		t.Errorf("pending are %v, want %v", p.peek(), want)
	}
	p.drop(func(row *int) bool { return *row == two })
	if want := (map[string]*int{"b": nil}); !maps.Equal(p.peek(), want) {
		t.Errorf("pending are %v, want %v", p.peek(), want)
	}
}

func TestPending_Limit(t *testing.T) {
	t.Parallel()
	p := pending[int, string]{limit: 2}
	text := ""
	must(t, p.put(1, &text))
	must(t, p.put(2, nil))
	must(t, p.put(1, nil)) // is pending already
	if err := p.put(3, nil); !errors.Is(err, ErrTooMany) {
		t.Errorf("a third one: %v", err)
	}
}
