package limits

import "testing"

func TestZoneChange_GainsNothing(t *testing.T) {
	// The UTC day continues to its end. Berlin's next midnight is 23 h after that, so 23/24 of the
	// allowance apply to these 23 h.
	table := newTable(t, dailyLimit(48, "UTC", ""))
	run(t, table, []step{{at: 12 * hour, n: 48, ok: true}})
	table.mustChange(t, 12*hour, dailyLimit(48, "Europe/Berlin", ""))
	run(t, table, []step{
		{at: 12 * hour, retry: 12 * hour},
		{at: 23.5 * hour, retry: 0.5 * hour}, // midnight in Berlin has passed
		{at: 23.5 * hour, n: 48, retry: 23.5 * hour},
		{at: day, n: 46, ok: true}, {at: day, retry: 23 * hour},
		{at: day + 23*hour, n: 48, ok: true}, {at: day + 23*hour, retry: day},
	})
}

func TestZoneChange_SingleMessage(t *testing.T) {
	table := newTable(t, dailyLimit(1, "UTC", ""))
	run(t, table, []step{{at: hour, ok: true}})
	table.mustChange(t, 2*hour, dailyLimit(1, "UTC", "18:00"))
	// for a single message, the transitional day has at least 24 h
	run(t, table, []step{{at: 18 * hour, retry: 6 * hour}, {at: 24 * hour, ok: true}, {at: 24 * hour, retry: 42 * hour}})
}

func TestZoneChange_NewUser(t *testing.T) {
	// The new zone's day holds at once for a user without usage.
	table := newTable(t, dailyLimit(48, "UTC", ""))
	table.judge("8", Request{At: nanos(12 * hour), Cost: 1})
	table.mustChange(t, 12*hour, dailyLimit(48, "Europe/Berlin", ""))
	run(t, table, []step{
		{at: 22.5 * hour, n: 48, ok: true}, {at: 22.5 * hour, retry: 0.5 * hour},
		{at: 23 * hour, n: 48, ok: true}, {at: day, retry: 23 * hour},
	})
}

func TestZoneChange_Reset(t *testing.T) {
	// Berlin's day of 25 h ends where a day in Lima ends, and the Lima day before ends within it.
	const start = 292*day + 22*hour
	table := newTable(t, dailyLimit(48, "Europe/Berlin", ""))
	run(t, table, []step{{at: start, n: 48, ok: true}})
	table.mustChange(t, start, dailyLimit(48, "America/Lima", "18:00"))
	table.Reset("7")
	run(t, table, []step{
		{at: start, n: 48, ok: true}, {at: start + 1*hour, retry: 24 * hour},
		{at: start + 25*hour, n: 48, ok: true}, {at: start + 25*hour, retry: 24 * hour},
	})
}
