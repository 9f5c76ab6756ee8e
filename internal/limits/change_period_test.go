package limits

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The tests begin on Monday, 5 January 2026.

func periodLimit(messages int64, period string) Limit {
	l := dailyLimit(messages, "UTC", "")
	l.Period = period
	return l
}

func TestPeriod_WorkedExamples(t *testing.T) {
	run(t, newTable(t, periodLimit(3, "week")), []step{
		{at: 0, ok: true}, {at: day, ok: true}, {at: 6.9 * day, ok: true}, {at: 6.9 * day, retry: 0.1 * day},
		{at: 7 * day, n: 3, ok: true}, {at: 8 * day, retry: 6 * day}, {at: 8 * day, n: 4, retry: -1},
	})
	run(t, newTable(t, periodLimit(3, "month")), []step{ // the month ends after 27 days, the next one after 55
		{at: 0, n: 3, ok: true}, {at: 0, retry: 27 * day}, {at: 27 * day, n: 3, ok: true}, {at: 54.5 * day, retry: 0.5 * day}, {at: 55 * day, ok: true},
	})
}

func TestPeriodChange_DayToWeek(t *testing.T) {
	// Wednesday becomes part of a week of 5 days, until Monday: 70 × 5/7 = 50.
	table := newTable(t, periodLimit(20, ""))
	run(t, table, []step{{at: 2.5 * day, n: 15, ok: true}})
	table.mustChange(t, 2.5*day, periodLimit(70, "week"))
	if l := table.level(t, 2.5*day, "daily"); l.Used != 15 || l.Capacity != 50 {
		t.Errorf("%d of %d are used", l.Used, l.Capacity)
	}
	run(t, table, []step{{at: 2.5 * day, n: 35, ok: true}, {at: 6.5 * day, retry: 0.5 * day}, {at: 7 * day, n: 70, ok: true}, {at: 8 * day, retry: 6 * day}})
}

func TestPeriodChange_LateInTheWeek(t *testing.T) {
	// Sunday's next Monday is less than half a week away, so the second one counts.
	table := newTable(t, periodLimit(20, "day"))
	run(t, table, []step{{at: 6.5 * day, n: 15, ok: true}})
	table.mustChange(t, 6.5*day, periodLimit(70, "week"))
	run(t, table, []step{{at: 6.5 * day, n: 55, ok: true}, {at: 6.5 * day, retry: 7.5 * day}, {at: 14 * day, n: 70, ok: true}})
}

func TestPeriodChange_FromTheFirstDay(t *testing.T) {
	// What a user has used on the 1st counts in a whole month, even if that month is short.
	table := newTable(t, periodLimit(20, "day"))
	run(t, table, []step{{at: 27 * day, n: 15, ok: true}}) // 1 February
	table.mustChange(t, 27.5*day, periodLimit(310, "month"))
	run(t, table, []step{{at: 27.5 * day, n: 295, ok: true}, {at: 28 * day, retry: 27 * day}, {at: 55 * day, n: 310, ok: true}})
}

func TestPeriodChange_SingleMessage(t *testing.T) {
	// half of a single message would round down to none
	table := newTable(t, periodLimit(1, "day"))
	run(t, table, []step{{at: 2 * day, ok: true}})
	table.mustChange(t, 2*day, periodLimit(1, "week"))
	run(t, table, []step{{at: 3 * day, retry: 11 * day}, {at: 14 * day, ok: true}, {at: 14 * day, retry: 7 * day}})
}

func TestPeriodChange_WeekToDay(t *testing.T) {
	// On Wednesday, 2/7 of the week have passed.
	tests := []struct {
		name  string
		used  int64
		steps []step
	}{
		{"a little", 5, []step{{at: 2.5 * day, n: 15, ok: true}, {at: 2.5 * day, retry: 0.5 * day}, {at: 3 * day, n: 20, ok: true}}},
		{"as much as the week's share", 35, []step{{at: 2.5 * day, retry: 0.5 * day}, {at: 3 * day, n: 20, ok: true}}},
		// 70 − 20 = 50 count on Wednesday, 30 on Thursday, 10 on Friday
		{"the whole week", 70, []step{{at: 2.5 * day, retry: 1.5 * day}, {at: 3.5 * day, n: 11, retry: 1.5 * day}, {at: 4 * day, n: 10, ok: true}, {at: 4 * day, retry: day}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			table := newTable(t, periodLimit(70, "week"))
			run(t, table, []step{{at: 1.5 * day, n: test.used, ok: true}})
			table.mustChange(t, 2.5*day, periodLimit(20, "day"))
			run(t, table, test.steps)
		})
	}
}

func TestPeriodChange_NoLongerThanBefore(t *testing.T) {
	// At one message a day, 100 messages would take months. The week ends on Monday.
	table := newTable(t, periodLimit(100, "week"))
	run(t, table, []step{{at: 0, n: 100, ok: true}})
	table.mustChange(t, 1.5*day, periodLimit(1, "day"))
	run(t, table, []step{{at: 1.5 * day, retry: 5.5 * day}, {at: 7 * day, ok: true}, {at: 7 * day, retry: day}})
}

func TestPeriodChange_MonthToWeek(t *testing.T) {
	// 300 in January; on the 15th, the week from the 12th has 11/31 of the month before it.
	table := newTable(t, periodLimit(310, "month"))
	run(t, table, []step{{at: 0, n: 300, ok: true}})
	table.mustChange(t, 10*day, periodLimit(70, "week"))
	// 190 count in this week, 120 in the next, 50 in the one after that, which contains the end of
	// the month
	run(t, table, []step{{at: 10 * day, retry: 11 * day}, {at: 21 * day, n: 20, ok: true}, {at: 21 * day, retry: 7 * day}})
}

func TestPeriodChange_ThereAndBack(t *testing.T) {
	// A change to days and back gives nothing: the rest of the week stays used.
	table := newTable(t, periodLimit(70, "week"))
	run(t, table, []step{{at: 0, n: 70, ok: true}})
	table.mustChange(t, 1.5*day, periodLimit(10, "day"))
	table.mustChange(t, 1.6*day, periodLimit(70, "week"))
	run(t, table, []step{{at: 1.7 * day, retry: 5.3 * day}, {at: 7 * day, n: 70, ok: true}})
}

func TestPeriodChange_FirstDay(t *testing.T) {
	// The week continues to Monday. Thursday is only 3 days later, so a transitional week ends on
	// the Thursday after it.
	table := newTable(t, periodLimit(70, "week"))
	run(t, table, []step{{at: 0, n: 70, ok: true}})
	thursday := periodLimit(70, "week")
	thursday.FirstDay = "thursday"
	table.mustChange(t, day, thursday)
	run(t, table, []step{{at: 4 * day, retry: 3 * day}, {at: 7 * day, n: 70, ok: true}, {at: 8 * day, retry: 9 * day}, {at: 17 * day, n: 70, ok: true}})
}

func TestPeriodChange_SameWithoutRow(t *testing.T) {
	// A change must not give more messages to a user whose row was dropped.
	table := newTable(t, periodLimit(20, "day"))
	table.judge("8", Request{At: nanos(2 * day), Cost: 1})
	table.mustChange(t, 2.5*day, periodLimit(70, "week"))
	run(t, table, []step{{at: 2.5 * day, n: 51, retry: 4.5 * day}, {at: 2.5 * day, n: 50, ok: true}, {at: 3 * day, retry: 4 * day}})
}

// A week that has ended isn't forgotten when days replace it: it is still Sunday in the Azores, but
// the week contained that Sunday.
func TestPeriodChange_EndedPeriodAndZone(t *testing.T) {
	table := newTable(t, periodLimit(70, "week"))
	table.expectIn(t, "", 7*day-600, 70, 7*day)
	table.mustChange(t, 7*day+600, periodLimit(10, "day"))
	table.expectIn(t, "Atlantic/Azores", 7*day+1800, 10, 8*day)
	table.expectIn(t, "Atlantic/Azores", 7*day+hour, 0, 8*day)
}

func TestPeriodChange_Reset(t *testing.T) {
	table := newTable(t, periodLimit(20, "day"))
	run(t, table, []step{{at: 2 * day, n: 20, ok: true}})
	table.mustChange(t, 2.5*day, periodLimit(70, "week"))
	table.Reset("7")
	run(t, table, []step{{at: 3 * day, n: 50, ok: true}, {at: 3 * day, retry: 4 * day}})
}

// TestPeriodChange_Stored checks that a row that was stored, or shared, under another period is
// read as it is converted in a table.
func TestPeriodChange_Stored(t *testing.T) {
	for _, periods := range [][2]string{{"", "week"}, {"day", "month"}, {"week", "day"}, {"month", "week"}, {"month", ""}, {"month", "month"}} {
		before, after := mustSet(t, periodLimit(40, periods[0])), mustSet(t, periodLimit(30, periods[1]))
		now := nanos(9.5 * day)
		first := NewTable(before, 1<<30, new(Dropped))
		first.judge("7", Request{At: now, Cost: 35})
		draft := NewDraft(before, nil, now)
		draft.Spend(Spent{At: now, N: 35})
		data := draft.Row(Stamp{Seq: 1}, now).Bytes()
		second := NewTable(after, 1<<30, new(Dropped))
		must(t, second.Restore(first.storedRow(t, "daily"), now))
		first.Change(after, now)
		row, err := ReadRow(after, now, data)
		must(t, err)
		want := first.level(t, 9.5*day, "daily")
		if got := second.level(t, 9.5*day, "daily"); got.Used != want.Used || got.Capacity != want.Capacity || got.ResetAt != want.ResetAt {
			t.Errorf("%s: restored %+v, want %+v", periods, got, want)
		}
		rule := &after.rules[0]
		if got := rule.level(rule, rule.state(row.words), now); got.used != want.Used || got.capacity != want.Capacity || got.resetAt != want.ResetAt {
			t.Errorf("%s: read %+v, want %+v", periods, got, want)
		}
	}
}

func TestPeriodChange_OfADayWithoutLength(t *testing.T) {
	// such a state can only come from a damaged store
	rule, old := mustSet(t, periodLimit(30, "day")).rules[0], mustSet(t, periodLimit(30, "week")).rules[0]
	state := []uint64{uint64(nanos(0)/nanosPerSecond) << lengthBits, 5}
	rule.convert(&old, &rule, state, make([]uint64, 2), nanos(-1))
}

// The limit's period, zone and reset_at, the user's own zone and that of their messages change at
// random times. All periods allow as many messages a day. In any span S, at most a day's messages ×
// S, and two months' more, pass.
func TestPeriodChange_RandomChangesGainNothing(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "Pacific/Kiritimati", "America/Lima"}
	rapid.Check(t, func(rt *rapid.T) {
		perDay := int64(rapid.SampledFrom([]int{1, 2, 7}).Draw(rt, "messages a day"))
		draw := func(from ...string) string { return rapid.SampledFrom(from).Draw(rt, "text") }
		drawLimit := func() Limit {
			l := dailyLimit(perDay, draw(zones...), draw("", "02:30", "23:30"))
			switch l.Period = draw("day", "day", "week", "month"); l.Period {
			case "week":
				l.FirstDay, l.Messages = draw("", "sunday", "thursday"), 7*perDay
			case "month":
				l.Messages = 28 * perDay
			}
			return l
		}
		table := newTable(t, drawLimit())
		oftenness := rapid.IntRange(0, 20).Draw(rt, "third days between changes")
		idleness := rapid.IntRange(0, 60).Draw(rt, "third days between messages")
		var passed []int64
		silentUntil := 0
		for i := range 400 {
			at := time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC).UnixNano() + int64(i)*int64(8*time.Hour)
			if i >= silentUntil {
				if d := table.judge("7", Request{At: at, Cost: 100 * perDay, UpTo: true, Zone: TimezoneOf(draw(append(zones, "")...))}); d.Allowed {
					for range d.Taken {
						passed = append(passed, at)
					}
				}
				if rapid.IntRange(0, 9).Draw(rt, "falls silent") == 0 {
					silentUntil = i + idleness
				}
			}
			if rapid.IntRange(0, oftenness).Draw(rt, "changes") > 0 {
				continue
			}
			at += rapid.Int64Range(0, int64(7*time.Hour)).Draw(rt, "when")
			if rapid.IntRange(0, 3).Draw(rt, "whose") == 0 {
				if err := table.SetOwn("7", Own{Timezone: draw(append(zones, "")...)}, at); err != nil {
					rt.Fatal(err)
				}
				continue
			}
			set, err := newTestSet([]Limit{drawLimit()}, Strikes{})
			if err != nil {
				rt.Fatal(err)
			}
			table.Change(set, at)
		}
		for i, first := range passed {
			for k, last := range passed[i:] {
				if got, span := int64(k+1), last-first; (got-2*28*perDay)*aDay > perDay*span {
					rt.Fatalf("%d pass in %v, from %s on: %d a day", got, time.Duration(span), time.Unix(0, first).UTC(), perDay)
				}
			}
		}
	})
}

// If the unit changes after a period has ended, the next one begins at that end and lasts for half
// of the new unit or more, whatever zones the new limit and the user's messages have.
func TestPeriodChange_OnePeriodFollows(t *testing.T) {
	zones := []string{"UTC", "Atlantic/Azores", "Asia/Tokyo", "Pacific/Kiritimati", "America/Lima"}
	lengths := map[string]int64{"day": aDay, "week": 7 * aDay, "month": 31 * aDay}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(from ...string) string { return rapid.SampledFrom(from).Draw(rt, "text") }
		send := func(table *Table, at int64) Decision {
			return table.judge("7", Request{At: at, Cost: 100, UpTo: true, Zone: TimezoneOf(draw(append(zones, "")...))})
		}
		periods := rapid.Permutation([]string{"day", "week", "month"}).Draw(rt, "periods")
		limit := dailyLimit(20, draw(zones...), draw("", "06:00"))
		limit.Period = periods[0]
		table := newTable(t, limit)
		end := send(table, nanos(0)+rapid.Int64Range(0, 60*aDay).Draw(rt, "first message")).ResetAt
		half := lengths[periods[1]] / 2
		at := end + rapid.Int64Range(0, min(half, lengths[periods[0]])-1).Draw(rt, "change")
		if limit.Messages, limit.Period = 10, periods[1]; rapid.Bool().Draw(rt, "another zone") {
			limit.Timezone, limit.ResetAt = draw(zones...), draw("", "06:00")
		}
		set, err := newTestSet([]Limit{limit}, Strikes{})
		if err != nil {
			rt.Fatal(err)
		}
		table.Change(set, at)
		passed := int64(0)
		for ; at < end+half; at += rapid.Int64Range(1, half/4).Draw(rt, "step") {
			passed += send(table, at).Taken
		}
		if passed > 10 {
			rt.Errorf("%d pass, want at most 10", passed)
		}
	})
}
