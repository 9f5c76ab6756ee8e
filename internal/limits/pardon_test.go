package limits

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// offence returns the offence of a throttled message with that decision.
func offence(id int, d Decision, silence int64) Offence {
	return Offence{ID: int64(id), At: d.At, Counted: d.Counted, Silence: silence, Series: d.Series, NewStrike: d.NewStrike, Low: d.Low}
}

// spam sends messages of user 7 a second apart, and returns the offences of those that are
// throttled.
func spam(table *Table, messages int) (offences []Offence) {
	for i := range messages {
		if d := table.send(float64(i), 1); !d.Allowed {
			offences = append(offences, offence(i, d, 600*nanosPerSecond))
		}
	}
	return offences
}

func newSpamTable(t testing.TB) (*Table, []Offence) {
	counted := window("fixed-window", 50, time.Hour).withCountThrottled()
	ladder := Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute, Ladder: []int64{600 * nanosPerSecond}}
	table := newTableWithStrikes(t, ladder, bucket(1, time.Hour), counted)
	return table, spam(table, 40)
}

// A series of messages gave several strikes, and one pardon removes them all.
func TestPardonAll(t *testing.T) {
	table, offences := newSpamTable(t)
	if s := table.standing(40); s.Strikes != 4 || s.SilentUntil == 0 || table.usage(t, 40, "fixed-window") != 40 {
		t.Fatalf("%+v", s)
	}
	taken := table.PardonAll("7", offences, nanos(40))
	if taken == nil || taken.Offences != 39 || taken.Strikes != 4 {
		t.Errorf("taken: %+v", taken)
	}
	if s := table.standing(40); s.Strikes != 0 || s.SilentUntil != 0 || table.usage(t, 40, "fixed-window") != 1 {
		t.Errorf("%+v, %d used", s, table.usage(t, 40, "fixed-window"))
	}
	for _, o := range offences {
		if table.Pardon("7", o, nanos(41)) {
			t.Errorf("offence %d is pardoned twice", o.ID)
		}
	}
	if table.PardonAll("7", offences, nanos(41)) != nil || table.PardonAll("8", offences, nanos(41)) != nil {
		t.Error("pardoned twice, or somebody never seen")
	}
}

// If part of a series was pardoned before, PardonAll pardons the rest.
func TestPardonAll_Overlap(t *testing.T) {
	table, offences := newSpamTable(t)
	table.PardonAll("7", offences[:20], nanos(40))
	taken := table.PardonAll("7", offences, nanos(40))
	if taken == nil || taken.Offences != len(offences)-20 || taken.Strikes != 2 || table.standing(40).Strikes != 0 {
		t.Errorf("%+v, %+v", taken, table.standing(40))
	}
}

// Unpardon restores what the pardon removed, but only once.
func TestUnpardon(t *testing.T) {
	table, offences := newSpamTable(t)
	before := table.standing(40)
	taken := table.PardonAll("7", offences, nanos(40))
	if !table.Unpardon("7", taken, nanos(41)) || table.Unpardon("7", taken, nanos(41)) {
		t.Error("it isn't undone, or is twice")
	}
	after := table.standing(40)
	if after.Strikes != before.Strikes || after.SilentUntil != before.SilentUntil || after.LapseAt != before.LapseAt || table.usage(t, 40, "fixed-window") != 40 {
		t.Errorf("%+v, want %+v", after, before)
	}
	if again := table.PardonAll("7", offences, nanos(42)); again == nil || again.Strikes != 4 {
		t.Errorf("pardoned after it was undone: %+v", again)
	}
}

func TestUnpardon_Refused(t *testing.T) {
	for name, change := range map[string]func(table *Table){
		"another strike": func(table *Table) { table.send(50, 1) },
		"a reset":        func(table *Table) { table.Reset("7") },
		"another pardon": func(table *Table) { table.Pardon("7", Offence{ID: 1000}, nanos(50)) },
		"other limits": func(table *Table) {
			table.Change(compileSets(t, Strikes{}, bucket(2, time.Hour))[PerUser], nanos(50))
		},
		"a counted message": func(table *Table) {
			table.Grant("7", "burst", 1, nanos(50))
			if d := table.send(50, 1); !d.Allowed {
				t.Fatalf("%+v", d)
			}
		},
	} {
		table, offences := newSpamTable(t)
		taken := table.PardonAll("7", offences, nanos(40))
		change(table)
		before := table.standing(51)
		if table.Unpardon("7", taken, nanos(51)) {
			t.Errorf("%s, and it is undone", name)
		}
		if after := table.standing(51); after.Strikes != before.Strikes {
			t.Errorf("%s: %+v, want %+v", name, after, before)
		}
	}
}

// After the pardon, the row is dropped, because it equals a new user's row. Unpardon adds the row
// again.
func TestUnpardon_Dropped(t *testing.T) {
	table := newTable(t, bucket(1, time.Second))
	table.send(0, 1)
	d := table.send(0, 1)
	taken := table.PardonAll("7", []Offence{offence(1, d, 0)}, nanos(1))
	for i := range 5000 { // in every part of the table
		table.judge(strconv.Itoa(1000+i), Request{At: nanos(300), Cost: 1})
	}
	if table.dump("7") != nil {
		t.Fatal("the row is there still")
	}
	if !table.Unpardon("7", taken, nanos(301)) || table.standing(301).Strikes != 1 {
		t.Errorf("%+v", table.standing(301))
	}
	if !table.Pardon("7", offence(1, d, 0), nanos(302)) || table.standing(302).Strikes != 0 {
		t.Errorf("pardoned again: %+v", table.standing(302))
	}
}

// PardonAll has the same result as pardoning each message, the last one first.
func TestPardonAll_EqualsPardoningEach(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		algorithm := rapid.SampledFrom(algorithms).Draw(rt, "algorithm").name
		limits := drawLimits(rt, algorithm)
		for i := range limits {
			limits[i].Scope, limits[i].Text, limits[i].Strikes = PerUser, SameText{}, false
		}
		strikes := Strikes{Every: 10 * time.Second, Forget: time.Minute, Ladder: []int64{0, 20 * nanosPerSecond, UntilRetry}}
		whole, each := newTableWithStrikes(t, strikes, limits...), newTableWithStrikes(t, strikes, limits...)
		now := epoch.UnixNano()
		var offences []Offence
		for i := range rapid.IntRange(1, 40).Draw(rt, "messages") {
			now += rapid.SampledFrom([]int64{0, 1, 1e9, 4e9, 12e9, 70e9}).Draw(rt, "step")
			q := Request{At: now, Cost: rapid.Int64Range(1, 3).Draw(rt, "cost")}
			d := whole.judge("7", q)
			each.judge("7", q)
			if !d.Allowed {
				offences = append(offences, offence(i, d, rapid.SampledFrom([]int64{0, 20e9}).Draw(rt, "silence")))
			}
		}
		offences = lastN(offences, rapid.IntRange(0, remembered).Draw(rt, "of them"))
		whole.PardonAll("7", offences, now)
		for _, o := range slices.Backward(offences) {
			each.Pardon("7", o, now)
		}
		if got, want := whole.dump("7"), each.dump("7"); !slices.Equal(withoutVersion(got), withoutVersion(want)) {
			rt.Errorf("%d at once: %x\neach: %x", len(offences), got, want)
		}
	})
}

// withoutVersion returns a row without its version counter.
func withoutVersion(row []uint64) []uint64 {
	row = slices.Clone(row)
	if len(row) > 0 {
		row[wordMeta] &= 1<<versionShift - 1
	}
	return row
}

// After a restart a series of pardons is kept as one entry, however many messages it covers.
func TestPardonAll_RememberedAfterRestart(t *testing.T) {
	first, offences := newSpamTable(t)
	first.Pardon("7", offences[0], nanos(40))
	first.PardonAll("7", offences, nanos(40))
	first.send(60, 1)
	second := newTableWithStrikes(t, Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute}, bucket(1, time.Hour), window("fixed-window", 50, time.Hour).withCountThrottled())
	second.mustRestore(t, rowsOf(first.allDirty()), nanos(61))
	if second.PardonAll("7", offences, nanos(62)) != nil || second.standing(62).Strikes != 1 {
		t.Errorf("%+v", second.standing(62))
	}
}

// TestPardonAll_OnlySharedUsage pardons a message that counts only in a limit shared with others,
// after its author's row, which holds nothing, has been dropped.
func TestPardonAll_OnlySharedUsage(t *testing.T) {
	shared := window("fixed-window", 2, time.Hour).withScope(PerChannel).withCountThrottled()
	sets := compileSets(t, Strikes{}, shared)
	table, room := NewTable(sets[PerUser], 1<<30, new(Dropped)), NewTable(sets[PerChannel], 1, new(Dropped))
	for i := range 3 {
		var d Decision
		q := Request{At: nanos(float64(i)), Cost: 1 + int64(i%2)}
		table.Judge(strconv.Itoa(i), &q, &d, Place{Table: room})
		if d.Allowed != (i == 0) {
			t.Fatalf("message %d: allowed is %v", i, d.Allowed)
		}
	}
	other := Place{Table: room}
	table.sweep(nanos(70), []string{"10", "11", "12", "13"})
	if table.has("1") {
		t.Fatal("the row that holds nothing is there")
	}
	taken := table.PardonAll("1", []Offence{{ID: 1, At: nanos(1), Counted: 1}}, nanos(71), other)
	if taken == nil || taken.Offences != 1 {
		t.Fatalf("taken: %+v", taken)
	}
	if _, levels, _ := room.Explain("", &Request{At: nanos(71), Cost: 1}); levels[0].Used != 1 {
		t.Errorf("%d are used, want 1", levels[0].Used)
	}
	if table.PardonAll("1", []Offence{{ID: 1, At: nanos(1), Counted: 1}}, nanos(71), other) != nil {
		t.Error("pardoned twice")
	}
}
