package limits

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// forgets reports whether the table considers the row forgotten.
func (t *Table) forgets(tb interface {
	Helper()
	Fatal(...any)
}, row StateRow, at int64) bool {
	tb.Helper()
	over, err := t.Forgotten(row, at)
	if err != nil {
		tb.Fatal(err)
	}
	return over
}

// storedRow returns the user's unconfirmed row of that name.
func (t *Table) storedRow(tb testing.TB, limit string) StateRow {
	tb.Helper()
	b := t.allDirty()
	defer b.Release()
	i := slices.IndexFunc(b.Rows, func(r StateRow) bool { return r.Limit == limit })
	if i < 0 {
		tb.Fatalf("no row %q is to be stored", limit)
	}
	return b.Rows[i]
}

func TestForgotten_LimitRows(t *testing.T) {
	longer := sevenLimits()
	for i := range longer {
		longer[i].Refill, longer[i].Every = 2*longer[i].Refill, 2*longer[i].Every
	}
	other := dailyLimit(3, "UTC", "").withName("burst") // same name, another algorithm
	for held, table := range map[string]*Table{
		"the same":           newTable(t, sevenLimits()...),
		"twice as long":      newTable(t, longer...),
		"removed":            newTable(t),
		"another of a name":  newTable(t, other),
		"somebody's own day": newTable(t, sevenLimits()...),
	} {
		if held == "somebody's own day" {
			must(t, table.SetOwn("8", Own{Timezone: "Asia/Tokyo"}, nanos(0)))
		}
		for i, at := range []float64{5, 5, 60, 2 * day, 61, 120, 61} { // a day is remembered for another one
			limit := sevenLimits()[i]
			first := newTable(t, limit)
			first.send(1, 1)
			row := first.storedRow(t, limit.Name)
			if table.forgets(t, row, nanos(at)-1) || !table.forgets(t, row, nanos(at)) {
				t.Errorf("%s, %s: not forgotten just at %v s", held, limit.Name, at)
			}
		}
	}
}

func TestForgotten_DayOfAnotherCalendar(t *testing.T) {
	first := newTable(t, dailyLimit(48, "UTC", ""))
	first.send(hour, 1)
	check := func(row StateRow, at float64) {
		t.Helper()
		for name, table := range map[string]*Table{"the same": first, "another zone": newTable(t, dailyLimit(48, "Asia/Tokyo", "")), "removed": newTable(t)} {
			if table.forgets(t, row, nanos(at)-1) || !table.forgets(t, row, nanos(at)) {
				t.Errorf("%s: not forgotten just a day after its day has ended", name)
			}
		}
	}
	check(first.storedRow(t, "daily"), 2*day)
	first.mustChange(t, 2*hour, dailyLimit(48, "Europe/Berlin", ""))
	check(first.storedRow(t, "daily"), 2*day)
	first.send(25*hour, 1) // in the transitional day, which ends at 47 h
	check(first.storedRow(t, "daily"), 71*hour)
}

func TestForgotten_Standing(t *testing.T) {
	const never = 1e6
	ladder := []int64{0, 2 * 3600 * nanosPerSecond}
	for name, test := range map[string]struct {
		held  Strikes
		sends []float64
		want  float64
	}{
		"a strike":             {Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute, Ladder: ladder}, []float64{0}, 1800},
		"a silence":            {Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute, Ladder: ladder}, []float64{0, 20}, 20 + 2*hour},
		"strikes that stay":    {Strikes{Every: 10 * time.Second, Ladder: ladder}, []float64{0}, never},
		"strikes for practice": {Strikes{Every: 10 * time.Second, Practice: true}, []float64{5}, 5},
	} {
		first := newTableWithStrikes(t, test.held, bucket(3, time.Second))
		for _, at := range test.sends {
			first.send(at, 4)
		}
		row := first.storedRow(t, standingRow)
		held := test.held
		held.Practice = false
		table := newTableWithStrikes(t, held, bucket(3, time.Second))
		if table.forgets(t, row, nanos(test.want)-1) || table.forgets(t, row, nanos(test.want)) != (test.want != never) {
			t.Errorf("%s: not forgotten just at %v s", name, test.want)
		}
		if over, err := (*Set)(nil).Forgotten(row, nanos(never)); over != test.held.Practice || err != nil {
			t.Errorf("%s: where nobody says that strikes lapse, forgotten is %v, error %v", name, over, err)
		}
	}
}

func TestForgotten_OverridesAndGrants(t *testing.T) {
	for name, test := range map[string]struct {
		give    func(table *Table)
		at      float64
		forgets bool
	}{
		"a grant":              {func(table *Table) { table.Grant("7", "burst", 1, nanos(0)) }, day - 1e-6, false},
		"a grant that is over": {func(table *Table) { table.Grant("7", "burst", 1, nanos(0)) }, day, true},
		"an override":          {func(table *Table) { table.mustSetOwn(t, 0, ownBurst(9)) }, 1000 * day, false},
		"no override any more": {func(table *Table) {
			table.mustSetOwn(t, 0, ownBurst(9))
			table.mustSetOwn(t, 0, Own{})
		}, 0, true},
		"a pardon where a strike stands": {func(table *Table) { table.Pardon("7", Offence{ID: 1}, nanos(0)) }, 1800 - 1e-6, false},
		"a pardon alone":                 {func(table *Table) { table.Pardon("7", Offence{ID: 1}, nanos(0)) }, 1800, true},
	} {
		table := newTable(t, bucket(3, time.Second))
		table.send(0, 4)
		test.give(table)
		row := table.storedRow(t, givenRow)
		table.allDirty().Confirm()
		if got := table.forgets(t, row, nanos(test.at)); got != test.forgets {
			t.Errorf("%s: forgotten is %v", name, got)
		}
	}
}

func TestRestore_SkipsForgotten(t *testing.T) {
	first := newTable(t, bucket(3, 4*time.Second), dailyLimit(3, "UTC", ""))
	first.send(0, 4) // a strike, until 1800
	first.send(1, 1)
	rows := rowsOf(first.allDirty())
	for at, want := range map[float64]string{64.9: " burst daily ", 65: " daily ", 1859.9: " daily ", 1860: "daily ", 2*day + 59.9: "daily ", 2*day + 60: ""} {
		second := newTable(t, bucket(3, 4*time.Second), dailyLimit(3, "UTC", ""))
		got := ""
		for _, row := range rows {
			before := second.dump("7")
			must(t, second.Restore(row, nanos(at)))
			if !reflect.DeepEqual(before, second.dump("7")) {
				got += row.Limit + " "
			}
		}
		if got != want {
			t.Errorf("at %v s: %q come back, want %q", at, got, want)
		}
	}
}

// dump returns the words of a user's row, or nil if there is none.
func (t *Table) dump(user string) []uint64 {
	var p place
	t.fillPlace(user, &p)
	if p.find(); !p.found {
		return nil
	}
	return slices.Clone(p.shard.row(p.slot))
}

func TestPardon_RememberedAfterRestart(t *testing.T) {
	strikes := Strikes{Every: time.Second} // they never lapse
	first := newTableWithStrikes(t, strikes, bucket(3, time.Second))
	first.send(0, 4)
	d := first.send(5, 4)
	offence := Offence{ID: 1, At: d.At, Series: d.Series, NewStrike: true}
	first.Pardon("7", offence, nanos(6))
	second := newTableWithStrikes(t, strikes, bucket(3, time.Second))
	rows := rowsOf(first.allDirty())
	second.mustRestore(t, rows, nanos(30*day))
	second.allDirty().Confirm()
	for _, row := range rows {
		if got, want := second.forgets(t, row, nanos(30*day)), row.Limit == "burst"; got != want {
			t.Errorf("row %q: forgotten is %v", row.Limit, got)
		}
	}
	if second.Pardon("7", offence, nanos(30*day)) || second.standing(30*day).Strikes != 1 {
		t.Error("an offence is pardoned twice")
	}
}
