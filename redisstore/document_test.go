package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	a, b := open(t, r.URL(), Options{}), open(t, r.URL(), Options{})
	gb := &fakeGuard{}
	run(t, b, gb)
	eventually(t, "b subscribes", func() bool { return gb.count(allRows) > 0 && len(b.Changes()) > 0 })
	for len(b.Changes()) > 0 {
		<-b.Changes()
	}
	if data, revision, err := a.Document(t.Context(), "lob by"); data != nil || revision != 0 || err != nil {
		t.Error(data, revision, err)
	}
	for i, data := range []string{"one", "", "three 3 \x00"} {
		must(t, a.SetDocument(t.Context(), "lob by", []byte(data), int64(i)))
		got, revision, err := b.Document(t.Context(), "lob by")
		if string(got) != data || revision != int64(i+1) || err != nil {
			t.Errorf("%q, %d, %v", got, revision, err)
		}
		if name := <-b.Changes(); name != "lob by" {
			t.Errorf("changed %q", name)
		}
		if err := b.SetDocument(t.Context(), "lob by", []byte("late"), int64(i)); !errors.Is(err, ErrConflict) {
			t.Error(err)
		}
	}
	if found := readDocuments(t, b, "x", "lob by"); found != "x: 0 ; lob by: 3 three 3 \x00; " {
		t.Errorf("%q", found)
	}
	long := strings.Repeat("x", maxDocument)
	wantError(t, a.SetDocument(t.Context(), "long", []byte(long), 0), `the document "long" has 1048576 bytes`)
	for _, text := range []string{"foreign", "0 x", "-1 x", "x y", "1 " + long} {
		r.must("SET", "cg1:policy:x", text)
		if _, _, err := a.Document(t.Context(), "x"); err == nil {
			t.Errorf("%.20q is a document", text)
		}
		if err := a.SetDocument(t.Context(), "x", nil, 0); err == nil || errors.Is(err, ErrConflict) {
			t.Error(err)
		}
	}
	// A reader that is too slow learns that anything may have changed.
	for i := range maxChanges + 10 {
		b.notices.changedDocument(fmt.Sprint(i))
	}
	seen := map[string]bool{}
	eventually(t, "an empty name", func() bool {
		for len(b.Changes()) > 0 {
			seen[<-b.Changes()] = true
		}
		return seen[""]
	})
}

// readDocuments returns several documents as text.
func readDocuments(t *testing.T, s *Store, names ...string) string {
	t.Helper()
	var text strings.Builder
	must(t, s.ReadDocuments(t.Context(), names, func(name string, data []byte, revision int64) {
		fmt.Fprintf(&text, "%s: %d %s; ", name, revision, data)
	}))
	return text.String()
}
