package limits

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func rowsOf(b *Batch) []StateRow {
	return slices.SortedFunc(slices.Values(b.Rows), func(a, b StateRow) int { return strings.Compare(a.User+" "+a.Limit, b.User+" "+b.Limit) })
}

func TestRestoredTableDecidesAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := []Limit{bucket(3, 4*time.Second), daily(20, "Europe/Berlin", "05:00")}
		first := newTable(t, limits...)
		at := 0.0
		message := func() (string, Request) {
			at += float64(rapid.IntRange(0, 40).Draw(rt, "tenths")) / 10
			return rapid.SampledFrom([]string{"1", "2", "anna"}).Draw(rt, "user"), Request{At: nanos(at), Cost: int64(rapid.IntRange(1, 3).Draw(rt, "cost"))}
		}
		for range rapid.IntRange(0, 50).Draw(rt, "before") {
			first.judge(message())
		}
		second := newTable(t, limits...)
		for _, row := range first.Dirty().Rows {
			if err := second.Restore(row, nanos(at)); err != nil {
				rt.Fatal(err)
			}
		}
		for range 20 {
			user, q := message()
			want := first.judge(user, q)
			if got := second.judge(user, q); !alike(got, want) {
				rt.Fatalf("%s at %d: %+v, want %+v", user, q.At, got, want)
			}
		}
	})
}

// alike reports whether two decisions say the same, if by different tables.
func alike(a, b Decision) bool {
	if (a.Limit == nil) != (b.Limit == nil) || a.Limit != nil && a.Limit.name != b.Limit.name {
		return false
	}
	a.Set, b.Set, a.Limit, b.Limit = nil, nil, nil, nil
	return a == b
}

func TestRestoreUnderOtherParameters(t *testing.T) {
	first := newTable(t, bucket(3, 4*time.Second), daily(10, "UTC", ""))
	run(t, first, []step{{at: 0, n: 3, ok: true}})
	second := newTable(t, bucket(3, 10*time.Second), daily(10, "Europe/Berlin", ""))
	for _, row := range first.Dirty().Rows {
		if err := second.Restore(row, nanos(2)); err != nil { // half a token has come back
			t.Fatal(err)
		}
	}
	run(t, second, []step{{at: 2, retry: 5}, {at: 7, ok: true}, {at: 82800, n: 3, ok: true}, {at: 82831, n: 3, ok: true}, {at: 83000, retry: 3400}})
	if rows := second.Dirty().Rows; len(rows) < 2 {
		t.Errorf("a converted row isn't dirty: %v", rows)
	}
}

func TestRestoreOfAnotherAlgorithmStartsFresh(t *testing.T) {
	first := newTable(t, bucket(3, 4*time.Second))
	run(t, first, []step{{at: 0, n: 3, ok: true}})
	other := daily(1, "UTC", "")
	other.Name = "burst"
	second := newTable(t, other)
	for _, row := range first.Dirty().Rows {
		if err := second.Restore(row, nanos(0)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, second, []step{{at: 0, ok: true}})
}

func TestDirtyRowsComeUntilConfirmed(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second))
	run(t, table, []step{{at: 0, ok: true}})
	b := table.Dirty()
	if len(b.Rows) != 1 || len(table.Dirty().Rows) != 0 {
		t.Fatalf("rows %v, want one", b.Rows)
	}
	b.Release()
	released := table.Dirty()
	if !slices.EqualFunc(rowsOf(released), rowsOf(b), func(a, b StateRow) bool { return string(a.Data) == string(b.Data) }) {
		t.Fatalf("released rows %v, want %v", released.Rows, b.Rows)
	}
	run(t, table, []step{{at: 1, ok: true}})
	released.Confirm()
	again := table.Dirty() // spent while the batch was open
	if len(again.Rows) != 1 {
		t.Fatalf("rows %v, want the one touched meanwhile", again.Rows)
	}
	again.Confirm()
	if rows := table.Dirty().Rows; len(rows) != 0 {
		t.Fatalf("rows %v after confirming, want none", rows)
	}
	table.judge("7", Request{At: nanos(1), Cost: 3})
	if rows := rowsOf(table.Dirty()); len(rows) != 2 || rows[0].Limit != "" {
		t.Fatalf("rows %v after a strike, want it and the limit", rows)
	}
	table.judge("7", Request{At: nanos(1), Cost: 3})
	if rows := table.Dirty().Rows; len(rows) != 0 {
		t.Fatalf("rows %v after a throttled message without a strike, want none", rows)
	}
}

func TestUnreadableState(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second), daily(3, "", ""))
	for name, row := range map[string]StateRow{
		"empty":            {User: "7", Limit: "burst"},
		"version":          {User: "7", Limit: "burst", Data: []byte{9, 1, 0, 0, 3, 4, 5, 6}},
		"cut off":          {User: "7", Limit: "burst", Data: []byte{1, 1, 0, 0, 3, 4, 0x80}},
		"too few numbers":  {User: "7", Limit: "burst", Data: []byte{1, 1, 0, 0, 3, 4}},
		"too few strikes":  {User: "7", Limit: "", Data: []byte{1, 0, 3}},
		"no refill":        {User: "7", Limit: "burst", Data: []byte{1, 1, 0, 0, 3, 0, 5, 6}},
		"endless debt":     {User: "7", Limit: "burst", Data: append([]byte{1, 1, 0, 0, 3, 4, 5}, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"...)},
		"no calendar":      {User: "7", Limit: "daily", Data: []byte{1, 2, 0, 0, 3, 0, 5, 6, 7}},
		"unknown calendar": {User: "7", Limit: "daily", Data: append(append([]byte{1, 2, 4}, "Mars"...), 0, 3, 0, 5, 6, 7)},
		"long calendar":    {User: "7", Limit: "daily", Data: []byte{1, 2, 0xff, 0xff, 3, 0}},
		"impossible day":   {User: "7", Limit: "daily", Data: append(append([]byte{1, 2, 9}, "UTC 00:00"...), "\x00\x03\x00\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"...)},
	} {
		if err := table.Restore(row, nanos(0)); !errors.Is(err, errStateBytes) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	run(t, table, []step{{at: 0, n: 3, ok: true}})
}

func FuzzRestore(f *testing.F) {
	table := newTable(f, bucket(3, 4*time.Second), daily(20, "UTC", ""))
	table.judge("7", Request{At: nanos(0), Cost: 3})
	table.judge("7", Request{At: nanos(0), Cost: 3})
	for _, row := range table.Dirty().Rows {
		f.Add(row.Limit, row.Data)
	}
	f.Fuzz(func(t *testing.T, limit string, data []byte) {
		table := newTable(t, bucket(3, 4*time.Second), daily(20, "UTC", ""))
		if table.Restore(StateRow{User: "7", Limit: limit, Data: data}, nanos(0)) != nil {
			return
		}
		for _, at := range []float64{0, 1e5, 1} {
			if d := table.judge("7", Request{At: nanos(at), Cost: 1}); d.RetryAt < nanos(at) {
				t.Errorf("retry at %d, before the message", d.RetryAt)
			}
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	// Whatever else happens to the table, a user never gets more than the limit.
	const users, tries = 50, 400
	limits := []Limit{bucket(3, 1e6*time.Second), daily(100, "", "")}
	table := newTable(t, limits...)
	var allowed [users]int
	var counting sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range users * tries {
				user := string(rune('a' + i%users))
				if d := table.judge(user, Request{At: nanos(0), Cost: 1}); d.Allowed {
					counting.Lock()
					allowed[i%users]++
					counting.Unlock()
				}
			}
		})
	}
	for range 20 {
		b := table.Dirty()
		table.mustChange(t, 0, append(limits, Limit{Params: Params{Name: "x", Algorithm: "token-bucket", Burst: 100, Refill: 1}})...)
		b.Confirm()
		table.mustChange(t, 0, limits...)
	}
	all.Wait()
	for i, n := range allowed {
		if n != 3 {
			t.Errorf("user %d was allowed %d messages, want 3", i, n)
		}
	}
}
