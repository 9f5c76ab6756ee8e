package limits

import (
	"slices"
	"testing"
	"time"
)

// TestEmptyRow checks that an empty row is the next write of the row that it replaces, is kept for
// as long, and judges like no row.
func TestEmptyRow(t *testing.T) {
	set := compileSets(t, Strikes{Every: time.Second, Forget: time.Hour}, bucket(3, 4*time.Second), dailyLimit(5, "Europe/Berlin", "04:00"))[PerUser]
	at := nanos(0)
	draft := NewDraft(set, nil, at)
	draft.Spend(Spent{At: at, N: 3})
	setStrikeCount(draft.row, 2)
	draft.row[wordStrikeAt] = uint64(at)
	if _, err := draft.Grant("daily", 7, at); err != nil {
		t.Fatal(err)
	}
	old := draft.Row(Stamp{Seq: 9, Writer: 7}, at)
	if IsEmptyRow(old.Bytes()) {
		t.Error("a row with usage is empty")
	}
	data, kept, err := EmptyRow(old.Bytes(), 8, at, old.Until())
	if err != nil || !IsEmptyRow(data) {
		t.Fatal(data, err)
	}
	empty, err := ReadRow(set, 0, data)
	must(t, err)
	if w := empty.Writes(); w.Seq != 10 || w.Writer != 8 || empty.Until() != old.Until() || kept != old.Until() {
		t.Errorf("writes %+v, until %d and %d, want %d", w, empty.Until(), kept, old.Until())
	}
	if included, known := empty.Writes().Include(Stamp{Seq: 9, Writer: 7}); !included || !known {
		t.Error("the empty row doesn't remember the write before")
	}
	if got, want := NewDraft(set, empty, at), NewDraft(set, nil, at); !slices.Equal(got.row, want.row) || got.personal != nil {
		t.Errorf("%v, want the row of a new user: %v", got.row, want.row)
	}
	// The next write of the row is kept for as long.
	next := NewDraft(set, empty, at)
	next.Spend(Spent{At: at, N: 1})
	if row := next.Row(Stamp{Seq: 11}, at); row.Until() < old.Until() || IsEmptyRow(row.Bytes()) {
		t.Errorf("until %d, want at least %d", row.Until(), old.Until())
	}
	if _, kept, err := EmptyRow(old.Bytes(), 8, at, Never); err != nil || kept != at+forgottenOwn {
		t.Errorf("a row without an end is kept until %d, %v", kept, err)
	}
	if _, _, err := EmptyRow([]byte{9}, 8, at, at); err == nil {
		t.Error("a row of a later version is replaced")
	}
}

// TestEmptyRow_Transition checks that an empty row has what a new user has while a period of an
// earlier policy continues.
func TestEmptyRow_Transition(t *testing.T) {
	before, after := mustSet(t, periodLimit(5, "day")), mustSet(t, periodLimit(5, "month"))
	set := after.After(before, nanos(0))
	if set.fresh == nil {
		t.Fatal("a new user's row is empty: the test needs other calendars")
	}
	old := NewDraft(set, nil, nanos(0))
	old.Spend(Spent{At: nanos(0), N: 1})
	data, _, err := EmptyRow(old.Row(Stamp{Seq: 1}, nanos(0)).Bytes(), 8, nanos(0), nanos(1))
	must(t, err)
	empty, err := ReadRow(set, nanos(0), data)
	must(t, err)
	if got, want := NewDraft(set, empty, nanos(0)), NewDraft(set, nil, nanos(0)); !slices.Equal(got.row, want.row) {
		t.Errorf("%v, want %v", got.row, want.row)
	}
}
