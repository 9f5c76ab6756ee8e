package limits

import (
	"strconv"
	"testing"
)

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

func TestZoneChange_AtLeastHalfADay(t *testing.T) {

	table := newTable(t, dailyLimit(48, "UTC", ""))
	run(t, table, []step{{at: hour, ok: true}})
	table.mustChange(t, 2*hour, dailyLimit(48, "UTC", "06:00"))
	// 06:00 is only 6 h away, so the transitional day ends at the next 06:00
	run(t, table, []step{{at: 24 * hour, n: 48, ok: true}, {at: 24 * hour, retry: 30 * hour}})
	table = newTable(t, dailyLimit(1, "UTC", ""))
	run(t, table, []step{{at: hour, ok: true}})
	table.mustChange(t, 2*hour, dailyLimit(1, "UTC", "18:00"))
	// for a single message, the transitional day has at least 24 h
	run(t, table, []step{{at: 18 * hour, retry: 6 * hour}, {at: 24 * hour, ok: true}, {at: 24 * hour, retry: 42 * hour}})
}

func TestZoneChange_ChangedBack(t *testing.T) {
	table := newTable(t, dailyLimit(2, "UTC", ""))
	run(t, table, []step{{at: 0, n: 2, ok: true}})
	table.mustChange(t, 1, dailyLimit(2, "Europe/Berlin", ""))
	table.mustChange(t, 2, dailyLimit(2, "UTC", ""))
	run(t, table, []step{{at: 3, retry: 86397}, {at: 86400, n: 2, ok: true}, {at: 86400, retry: 86400}})
}

func TestZoneChange_RestartsGainNothing(t *testing.T) {
	// Every hour, a restart changes to the next zone to the west. Then the user sends as many
	// messages as pass.
	zones := []string{"Asia/Tokyo", "Asia/Dhaka", "Europe/Berlin", "Atlantic/Azores", "America/Lima", "America/Denver", "Pacific/Apia"}
	const messages = 100
	table := newTable(t, dailyLimit(messages, zones[0], ""))
	sent := 0
	for i := range 24 {
		at := float64(i) * hour
		for table.spendOne(at) {
			sent++
		}
		next := newTable(t, dailyLimit(messages, zones[(i+1)%len(zones)], ""))
		next.mustRestore(t, table.allDirty().Rows, nanos(at))
		next.DirtyAll() // so that the next restart gets all rows
		table = next
	}
	if most := 3 * messages; sent > most || sent < messages {
		t.Errorf("%d messages in a day of restarts, want %d at most", sent, most)
	}
}

func TestZoneChange_SameWithoutRow(t *testing.T) {
	// A new zone must not give more messages to a user whose row was dropped.
	table := newTable(t, dailyLimit(48, "UTC", ""))
	table.judge("8", Request{At: nanos(12 * hour), Cost: 1})
	table.mustChange(t, 12*hour, dailyLimit(48, "Europe/Berlin", ""))
	run(t, table, []step{
		{at: 23.5 * hour, n: 48, ok: true}, {at: 23.5 * hour, retry: 0.5 * hour},
		{at: day, n: 46, ok: true}, {at: day, retry: 23 * hour}, {at: day + 23*hour, n: 48, ok: true}, {at: day + 23*hour, retry: day},
	})
}

func TestZoneChange_AnySpanIsBounded(t *testing.T) {
	// At most messages × (S ÷ 24 h + 2) pass, however often a user's zone changes.
	zones := []string{"UTC", "Asia/Tokyo", "Pacific/Apia", "America/Denver", "Pacific/Kiritimati", "Europe/Berlin", "Pacific/Pago_Pago"}
	for _, messages := range []int64{1, 2, 24} {
		for _, each := range []float64{1, 5, 7, 11, 13, 25} { // hours between changes
			table := newTable(t, dailyLimit(messages, "UTC", ""))
			sent := int64(0)
			const span = 20 * day
			for at, i := 0.0, 0; at <= span; at, i = at+hour/2, i+1 {
				if int(at/hour)%int(each) == 0 {
					table.mustSetOwn(t, at, Own{Timezone: zones[i%len(zones)]})
				}
				sent += table.judge("7", Request{At: nanos(at), Cost: messages, UpTo: true}).Taken
			}
			if most := messages * (20 + 2); sent > most || sent < messages*20/3 {
				t.Errorf("%d a day, a change every %v h: %d messages in 20 days, want %d at most", messages, each, sent, most)
			}
		}
	}
}

func TestZoneChange_UnseenUsersGainNothing(t *testing.T) {
	const hour, day = 3600.0, 86400.0
	table := newTable(t, dailyLimit(48, "UTC", ""))
	run(t, table, []step{{at: day - 1, n: 48, ok: true}}) // the last second of the day
	for i := range 2000 {                                 // others make the table scan its rows
		table.judge(strconv.Itoa(1000+i), Request{At: nanos(day + 120), Cost: 1})
	}
	var p place
	table.fillPlace("7", &p)
	if p.find(); p.found {
		t.Fatal("the row of a user whose day is over is still there")
	}
	// It is 0:02 UTC. The current day continues to its end, although it is 9:02 in Tokyo, and the
	// next day begins at 15:00 UTC.
	table.mustChange(t, day+120, dailyLimit(48, "Asia/Tokyo", ""))
	run(t, table, []step{
		{at: day + 121, n: 48, ok: true},
		{at: day + 15*hour, retry: 9 * hour},
		{at: 2 * day, n: 31, retry: 15 * hour}, // 15 h of 24 h: 30 of 48
		{at: 2 * day, n: 30, ok: true},
		{at: 2*day + 15*hour, n: 48, ok: true},
	})
}
