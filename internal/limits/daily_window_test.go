package limits

import "testing"

func TestDailyWindow(t *testing.T) {
	runAll(t, []scenario{
		{"a day's number, then none until midnight", dailyLimit(2, "UTC", ""), []step{
			{at: 10 * hour, ok: true}, {at: 11 * hour, ok: true}, {at: 12 * hour, retry: 12 * hour}, {at: day, ok: true},
		}},
		{"the day is the zone's", dailyLimit(1, "Europe/Berlin", ""), []step{
			{at: 22 * hour, ok: true}, {at: 22.5 * hour, retry: 0.5 * hour}, {at: 23 * hour, ok: true},
		}},
		{"it ends at reset_at", dailyLimit(1, "UTC", "06:30"), []step{
			{at: 6 * hour, ok: true}, {at: 6.25 * hour, retry: 0.25 * hour}, {at: 6.5 * hour, ok: true},
		}},
		{"a cost above the number never passes", dailyLimit(2, "UTC", ""), []step{{at: 0, n: 3, retry: -1}, {at: 0, n: 2, ok: true}}},
		{"a late message of yesterday counts today", dailyLimit(1, "UTC", ""), []step{
			{at: day, ok: true}, {at: day - 1, retry: day + 1},
		}},
		{"a jump back keeps the count", dailyLimit(2, "UTC", ""), []step{
			{at: 2*day + 1, n: 2, ok: true}, {at: day + hour, retry: 23 * hour}, {at: 2 * day, ok: true},
		}},
		{"a day after a jump back that isn't full", dailyLimit(2, "UTC", ""), []step{
			{at: 2*day + 1, ok: true}, {at: day + hour, ok: true}, {at: day + hour, retry: 23 * hour}, {at: 2 * day, n: 2, ok: true},
		}},
		{"a late message of yesterday finds room today", dailyLimit(2, "UTC", ""), []step{
			{at: day, ok: true}, {at: day - 1, ok: true}, {at: day - 1, retry: day + 1}, {at: 2 * day, n: 2, ok: true},
		}},
		{"a day that contains the present is kept after a jump back", dailyLimit(2, "UTC", ""), []step{
			{at: 20 * hour, n: 2, ok: true}, {at: 2 * hour, retry: 22 * hour},
		}},
		{"empty days in between change nothing", dailyLimit(2, "Europe/Berlin", "04:00"), []step{
			// 04:00 is now 02:00 UTC
			{at: 5 * hour, n: 2, ok: true}, {at: 100*day + 1*hour, n: 2, ok: true}, {at: 100*day + 1*hour, retry: 1 * hour},
		}},
	})
}

func TestDailyWindow_23And25HourDays(t *testing.T) {
	short, long := instant(t, "2026-03-29T00:00:00+01:00"), instant(t, "2026-10-25T00:00:00+02:00")
	run(t, newTable(t, dailyLimit(24, "Europe/Berlin", "")), []step{
		{at: short - 1, n: 24, ok: true}, {at: short - 1, retry: 1},
		{at: short, n: 24, ok: true}, {at: short, retry: 23 * hour}, {at: short + 23*hour, n: 24, ok: true},
		{at: long - 1, n: 24, ok: true}, {at: long - 1, retry: 1},
		{at: long, n: 24, ok: true}, {at: long, retry: 25 * hour}, {at: long + 25*hour, n: 24, ok: true},
	})
}

func TestDailyWindow_RepeatedOrSkippedStart(t *testing.T) {
	skipped, repeated := instant(t, "2026-03-29T03:00:00+02:00"), instant(t, "2026-10-25T02:30:00+02:00")
	run(t, newTable(t, dailyLimit(1, "Europe/Berlin", "02:30")), []step{
		{at: skipped - 1, ok: true}, {at: skipped - 1, retry: 1}, {at: skipped, ok: true}, {at: skipped, retry: 23.5 * hour},
		{at: repeated - 1, ok: true}, {at: repeated - 1, retry: 1}, {at: repeated, ok: true},
		{at: repeated + hour, retry: 24 * hour}, // the second 02:30
	})
}
