package limits

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func rowsOf(b *testBatch) []StateRow {
	return slices.SortedFunc(slices.Values(b.Rows), func(a, b StateRow) int { return strings.Compare(a.User+" "+a.Limit, b.User+" "+b.Limit) })
}

func TestRestore_DecidesAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := sevenLimits()
		limits[0] = bucket(3, 4*time.Second).withRole("subscriber", Numbers{Burst: 6, Refill: time.Second})
		limits[3] = dailyLimit(20, "Europe/Berlin", "05:00")
		for i := range limits {
			limits[i].CountThrottled = rapid.Bool().Draw(rt, "count throttled")
		}
		chosen := limits[:0:0]
		for _, l := range limits {
			if rapid.Bool().Draw(rt, l.Name) {
				chosen = append(chosen, l)
			}
		}
		strikes := Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute, Ladder: []int64{0, 60 * nanosPerSecond, UntilRetry}}
		first, second := newTableWithStrikes(t, strikes, chosen...), newTableWithStrikes(t, strikes, chosen...)
		at := 0.0
		late := []int{0, 0, 0, 5, 100}
		message := func() (string, Request) {
			at += float64(rapid.IntRange(0, 400).Draw(rt, "tenths")) / 10
			return rapid.SampledFrom([]string{"1", "2", "anna"}).Draw(rt, "user"), Request{
				At: nanos(at - float64(rapid.SampledFrom(late).Draw(rt, "late"))), Cost: int64(rapid.IntRange(1, 3).Draw(rt, "cost")),
				Roles: rapid.SampledFrom([]Roles{{}, rolesOf("subscriber")}).Draw(rt, "roles"),
			}
		}
		for range rapid.IntRange(0, 50).Draw(rt, "before") {
			first.judge(message())
		}
		second.mustRestore(rt, first.allDirty().Rows, nanos(at))
		// Usage that has expired at the restart is forgotten, even if the clock jumps back
		// afterwards.
		late = late[:1]
		for range 20 {
			user, q := message()
			want := first.judge(user, q)
			if got := second.judge(user, q); !equalDecisions(got, want) {
				rt.Fatalf("%s at %d: %+v, want %+v", user, q.At, got, want)
			}
		}
	})
}

func TestRestore_EveryAlgorithm(t *testing.T) {
	first := newTable(t, sevenLimits()...)
	run(t, first, []step{{at: 1, ok: true}, {at: 2, ok: true}})
	rows := rowsOf(first.allDirty())
	if len(rows) != 7 {
		t.Fatalf("%d rows, want one for each limit", len(rows))
	}
	second := newTable(t, sevenLimits()...)
	second.mustRestore(t, rows, nanos(3))
	for i, want := range []float64{9, 9, 60, day, 61, 120, 62} { // when all usage has expired
		limit := sevenLimits()[i].Name
		if l := second.level(t, 3, limit); l.Used != 2 || l.ResetAt != nanos(want) {
			t.Errorf("%s: %+v, want 2 used until %v s", limit, l, want)
		}
	}
	if rows := second.allDirty().Rows; len(rows) != 0 {
		t.Errorf("what was taken back as it was is to be stored again: %v", rows)
	}
}

func TestDirty_PardonAndReset(t *testing.T) {
	for name, change := range map[string]func(*Table){
		"reset": func(table *Table) { table.Reset("7") },
		"pardon": func(table *Table) {
			var p place
			table.fillPlace("7", &p)
			p.find()
			table.Pardon("7", Offence{ID: 1, At: nanos(1), Series: seriesOf(p.shard.row(p.slot)), NewStrike: true}, nanos(1))
		},
	} {
		first := newTable(t, bucket(3, time.Hour))
		first.send(0, 2)
		first.send(1, 3)
		stored := map[string]StateRow{}
		store := func() {
			b := first.allDirty()
			for _, row := range b.Rows {
				stored[row.Limit] = row
			}
			b.Confirm()
		}
		store()
		change(first)
		store()
		second := newTable(t, bucket(3, time.Hour))
		second.mustRestore(t, slices.Collect(maps.Values(stored)), nanos(2))
		if s := second.standing(2); s.Strikes != 0 {
			t.Errorf("%s: %d strikes after a restart", name, s.Strikes)
		}
	}
}

// mustRestore restores rows as a store does after a restart.
func (t *Table) mustRestore(tb interface{ Fatal(...any) }, rows []StateRow, at int64) {
	for _, row := range rows {
		if err := t.Restore(row, at); err != nil {
			tb.Fatal(err)
		}
	}
}

// equalDecisions reports whether two decisions, possibly by different tables, are equal.
func equalDecisions(a, b Decision) bool {
	if (a.Limit == nil) != (b.Limit == nil) || a.Limit != nil && a.Limit.name != b.Limit.name {
		return false
	}
	a.Set, b.Set, a.Limit, b.Limit = nil, nil, nil, nil
	a.Series, b.Series = 0, 0 // effectively random
	return a == b
}

func TestRestore_OtherAlgorithmStartsFresh(t *testing.T) {
	first := newTable(t, bucket(3, 4*time.Second))
	run(t, first, []step{{at: 0, n: 3, ok: true}})
	other := dailyLimit(1, "UTC", "")
	other.Name = "burst"
	second := newTable(t, other)
	second.mustRestore(t, first.allDirty().Rows, nanos(0))
	run(t, second, []step{{at: 0, ok: true}})
}

func TestDirty_UntilConfirmed(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second))
	run(t, table, []step{{at: 0, ok: true}})
	b := table.allDirty()
	if len(b.Rows) != 1 || len(table.allDirty().Rows) != 0 {
		t.Fatalf("rows %v, want one", b.Rows)
	}
	b.Release()
	released := table.allDirty()
	if !slices.EqualFunc(rowsOf(released), rowsOf(b), func(a, b StateRow) bool { return string(a.Data) == string(b.Data) }) {
		t.Fatalf("released rows %v, want %v", released.Rows, b.Rows)
	}
	run(t, table, []step{{at: 1, ok: true}})
	released.Confirm()
	again := table.allDirty() // spent while the batch was open
	if len(again.Rows) != 1 {
		t.Fatalf("rows %v, want the one touched meanwhile", again.Rows)
	}
	again.Confirm()
	if rows := table.allDirty().Rows; len(rows) != 0 {
		t.Fatalf("rows %v after confirming, want none", rows)
	}
	table.judge("7", Request{At: nanos(1), Cost: 3})
	if rows := rowsOf(table.allDirty()); len(rows) != 2 || rows[0].Limit != "" {
		t.Fatalf("rows %v after a strike, want it and the limit", rows)
	}
	table.judge("7", Request{At: nanos(1), Cost: 3})
	if rows := table.allDirty().Rows; len(rows) != 0 {
		t.Fatalf("rows %v after a throttled message without a strike, want none", rows)
	}
}

func TestRestore_UnreadableState(t *testing.T) {
	table := newTable(t, append(sevenLimits(), window("sliding-log", 3, time.Minute).withName("log"))...)
	long := binary.AppendUvarint(nil, math.MaxUint64)
	for name, row := range map[string]StateRow{
		"window with no length":       {User: "7", Limit: "fixed-window", Data: []byte{2, 4, 0, 0, 3, 0, 5, 5, 1}},
		"window after the last":       {User: "7", Limit: "fixed-window", Data: []byte{2, 4, 0, 0, 3, 9, 5, 6, 1}},
		"user's window after it":      {User: "7", Limit: "user-window", Data: []byte{2, 5, 0, 0, 3, 9, 5, 6, 1}},
		"uncountable window":          {User: "7", Limit: "user-window", Data: append([]byte{2, 5, 0, 0, 3, 9, 5, 5}, long...)},
		"three words of a window":     {User: "7", Limit: "user-window", Data: []byte{2, 5, 0, 0, 3, 9, 5, 5, 1, 1}},
		"sliding window after it":     {User: "7", Limit: "sliding-window", Data: []byte{2, 6, 0, 0, 3, 9, 5, 6, 1}},
		"log with too few times":      {User: "7", Limit: "log", Data: []byte{2, 7, 0, 0, 3, 9, 5, 9, 1, 2}},
		"log with times in disorder":  {User: "7", Limit: "log", Data: []byte{2, 7, 0, 0, 3, 9, 5, 2, 3, 2}},
		"log after the last":          {User: "7", Limit: "log", Data: []byte{2, 7, 0, 0, 3, 9, 5, 2, 3, 6}},
		"log of endless length":       {User: "7", Limit: "log", Data: append([]byte{2, 7, 0, 0, 3, 9, 5}, long...)},
		"queue with no length":        {User: "7", Limit: "leaky", Data: []byte{2, 3, 0, 0, 3, 0, 5, 5}},
		"endless last":                {User: "7", Limit: "burst", Data: append([]byte{2, 1, 0, 0, 3, 4}, long...)},
		"endless interval":            {User: "7", Limit: "burst", Data: append(append([]byte{2, 1, 0, 0, 3}, long...), 5, 6)},
		"endless capacity":            {User: "7", Limit: "burst", Data: append(append([]byte{2, 1, 0, 0}, long...), 4, 5, 6)},
		"impossible roles":            {User: "7", Limit: "burst", Data: append([]byte{2, 1, 0}, 0x80, 1, 3, 4, 5, 6)},
		"too many strikes":            {User: "7", Limit: "", Data: append(append([]byte{2, 0, 0}, long...), 0, 0)},
		"endless strike":              {User: "7", Limit: "", Data: append(append([]byte{2, 0, 0, 1}, long...), 0)},
		"endless silence":             {User: "7", Limit: "", Data: append([]byte{2, 0, 0, 1, 0}, long...)},
		"practice that is neither":    {User: "7", Limit: "", Data: []byte{2, 0, 2, 1, 0, 0}},
		"something given in no JSON":  {User: "7", Limit: "+", Data: []byte{2, 255, '{'}},
		"an exemption that isn't one": {User: "7", Limit: "+", Data: append([]byte{2, 255}, `{"exemption":3}`...)},
		"an end before the epoch":     {User: "7", Limit: "+", Data: append([]byte{2, 255}, `{"exemption":1,"exempt_until":-1}`...)},
		"an end of no exemption":      {User: "7", Limit: "+", Data: append([]byte{2, 255}, `{"exempt_until":1}`...)},
		"empty":                       {User: "7", Limit: "burst"},
		"version":                     {User: "7", Limit: "burst", Data: []byte{9, 1, 0, 0, 3, 4, 5, 6}},
		"cut off":                     {User: "7", Limit: "burst", Data: []byte{2, 1, 0, 0, 3, 4, 0x80}},
		"too few numbers":             {User: "7", Limit: "burst", Data: []byte{2, 1, 0, 0, 3, 4}},
		"too few strikes":             {User: "7", Limit: "", Data: []byte{2, 0, 3}},
		"no refill":                   {User: "7", Limit: "burst", Data: []byte{2, 1, 0, 0, 3, 0, 5, 6}},
		"endless debt":                {User: "7", Limit: "burst", Data: append([]byte{2, 1, 0, 0, 3, 4, 5}, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"...)},
		"no calendar":                 {User: "7", Limit: "daily", Data: []byte{2, 2, 0, 0, 3, 0, 5, 6, 7}},
		"unknown calendar":            {User: "7", Limit: "daily", Data: append(append([]byte{2, 2, 4}, "Mars"...), 0, 3, 0, 5, 6, 7)},
		"long calendar":               {User: "7", Limit: "daily", Data: []byte{2, 2, 0xff, 0xff, 3, 0}},
		"impossible day":              {User: "7", Limit: "daily", Data: append(append([]byte{2, 2, 9}, "UTC 00:00"...), "\x00\x03\x00\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"...)},
	} {
		if err := table.Restore(row, nanos(0)); !errors.Is(err, errStateBytes) {
			t.Errorf("%s: error %v", name, err)
		}
		for _, set := range []*Set{table.set, nil} {
			if over, err := set.Forgotten(row, nanos(1e9)); over || !errors.Is(err, errStateBytes) {
				t.Errorf("%s: forgotten is %v, error %v", name, over, err)
			}
		}
	}
	for _, code := range []byte{standingCode, 99, givenCode} {
		if over, err := table.Forgotten(StateRow{User: "7", Limit: "burst", Data: []byte{2, code, 0, 0, 3, 4, 5, 6}}, nanos(1e9)); over || !errors.Is(err, errStateBytes) {
			t.Errorf("unknown algorithm %d: forgotten is %v, error %v", code, over, err)
		}
	}
	if table.Users() != 0 {
		t.Error("what can't be read makes a row")
	}
	run(t, table, []step{{at: 0, n: 3, ok: true}})
}

func FuzzRestore(f *testing.F) {
	limits := sevenLimits()
	limits[3] = dailyLimit(20, "Europe/Berlin", "05:00")
	limits = append(limits, cascadeLimit(3, 4*time.Second, 2, 20*time.Second), window("sliding-window", 5, time.Minute).withSlices(6).withName("sliced"))
	first := newTable(f, limits...)
	first.mustSetOwn(f, 0, Own{Exemption: NotExempt, ExemptUntil: nanos(600), Timezone: "Asia/Tokyo", Numbers: map[string]Numbers{"burst": {Burst: 9}}})
	first.send(0, 3)
	first.send(0, 3)
	first.Grant("7", "", 5, nanos(0))
	first.Pardon("7", Offence{ID: 3}, nanos(0))
	for _, row := range first.allDirty().Rows {
		f.Add(row.Limit, row.Data)
	}
	for i, a := range storedAlgorithms {
		f.Add(limits[i].Name, []byte{2, a.code, 0, 0, 3, 9, 5, 2, 3, 4})
	}
	f.Add("+", []byte("\x02\xff{\"numbers\":{\"burst\":{\"Burst\":-1}},\"timezone\":\"nowhere\",\"grants\":[{\"limit\":\"burst\",\"left\":9,\"until\":9223372036854775807}]}"))
	f.Fuzz(func(t *testing.T, limit string, data []byte) {
		table := newTable(t, limits...)
		if over, err := table.Forgotten(StateRow{User: "7", Limit: limit, Data: data}, nanos(1e9)); over && err != nil {
			t.Errorf("what can't be read is forgotten: %v", err)
		}
		if table.Restore(StateRow{User: "7", Limit: limit, Data: data}, nanos(0)) != nil {
			return
		}
		for _, at := range []float64{0, 1e5, 1, -1e9} {
			d, levels, _ := table.Explain("7", &Request{At: nanos(at), Cost: 1})
			if d.RetryAt < nanos(at) {
				t.Errorf("retry at %d, before the message", d.RetryAt)
			}
			for _, l := range levels {
				if l.Used < 0 || l.Remaining < 0 {
					t.Errorf("%s: %+v", l.Limit.Name(), l)
				}
			}
			table.send(at, 1)
		}
		table.mustChange(t, 2, append(sevenLimits(), cascadeLimit(4, 5*time.Second, 1, time.Second))...)
		table.Refund("7", Refund{At: nanos(0), N: 1}, nanos(2))
		table.send(2, 1)
		again := newTable(t, append(sevenLimits(), cascadeLimit(4, 5*time.Second, 1, time.Second))...)
		for _, row := range table.allDirty().Rows {
			if err := again.Restore(row, nanos(2)); err != nil {
				t.Errorf("what was taken back can't be taken back again: %v", err)
			}
		}
	})
}

func TestDirty_LongerSilence(t *testing.T) {
	table := newTableWithStrikes(t, Strikes{Every: time.Hour, Ladder: []int64{30 * nanosPerSecond}}, bucket(1, time.Hour))
	table.send(0, 1)
	table.send(1, 1)
	table.allDirty().Confirm()
	if d := table.send(6, 1); d.NewStrike || len(table.allDirty().Rows) == 0 {
		t.Errorf("%+v: without a strike, a silence that ends later isn't stored", d)
	}
}
