package limits

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"
)

// sendIn judges a message of user 7, who is in a zone.
func (t *Table) sendIn(zone string, at float64, n int64) Decision {
	return t.judge("7", Request{At: nanos(at), Cost: n, Zone: TimezoneOf(zone)})
}

// expectIn sends as many messages in a zone as pass, and checks their number, and when the next one
// passes.
func (t *Table) expectIn(tb testing.TB, zone string, at float64, n int64, next float64) {
	tb.Helper()
	passed := int64(0)
	for t.sendIn(zone, at, 1).Allowed {
		passed++
	}
	if d := t.sendIn(zone, at, 1); passed != n || d.RetryAt != nanos(next) {
		tb.Errorf("%s, at %v h: %d pass, and the next one at %v h; want %d, and %v h", zone, at/hour, passed, float64(d.RetryAt-nanos(0))/3600e9, n, next/hour)
	}
}

// TestTimezoneOf_KnowsGosZones checks the list of names. To update it, write Go's names into
// zone_names.txt.
func TestTimezoneOf_KnowsGosZones(t *testing.T) {
	zoned := strings.Fields(zoneNames)
	if !slices.IsSorted(zoned) {
		t.Error("zone_names.txt isn't sorted")
	}
	for _, name := range slices.Sorted(maps.Keys(allZones(t))) {
		if zone := TimezoneOf(name); zone.String() != name || zoneIn(withZone(7, zone)) != zone || withZone(7, zone)&zoneCount != 7 {
			t.Errorf("zone_names.txt lacks %q, or its number is wrong", name)
		}
	}
	for _, name := range zoned {
		if _, err := NewCalendar(name, ""); err != nil {
			t.Error(err)
		}
	}
	if bits.Len(uint(len(zoned)+1)) > 64-zoneShift {
		t.Errorf("%d zones can't be numbered", len(zoned))
	}
}

func TestTimezoneOf_Unknown(t *testing.T) {
	for _, name := range []string{
		"", "Local", "Europe/Berln", "europe/berlin", "EUROPE/BERLIN", " Europe/Berlin", "Europe/Berlin\n", "Europe/Berlin\x00", "Europe", "Europe/", "/Europe/Berlin",
		"../x", "../../etc/passwd", "posix/Europe/Berlin", "localtime", "+01:00", "GMT+5", "\xff", strings.Repeat("Europe/Berlin", 800), "Asia/Tokyo\nAsia/Tokyo",
	} {
		if zone := TimezoneOf(name); zone != nil {
			t.Errorf("%.40q is a zone: %v", name, zone)
		}
	}
	var none *Timezone
	if none.String() != "" || zoneIn(withZone(5, none)) != nil {
		t.Error("no zone isn't read as it is written")
	}
}

// A new user is in the day of their own zone at once: at 21:00 in Tokyo, the whole allowance holds
// until midnight there.
func TestZone_NewUserAtOnce(t *testing.T) {
	table := newTable(t, dailyLimit(10, "UTC", ""))
	table.expectIn(t, "Asia/Tokyo", 12*hour, 10, 15*hour)
	table.expectIn(t, "Asia/Tokyo", 15*hour, 10, 39*hour)
	table.expectIn(t, "Asia/Tokyo", 39*hour, 10, 63*hour)
	if d := table.judge("8", Request{At: nanos(39 * hour), Cost: 1}); d.ResetAt != nanos(48*hour) {
		t.Errorf("another user's day ends at %d", d.ResetAt)
	}
}

// Within a day, another zone changes nothing. At its end, the next day is transitional.
func TestZone_AtTheEndOfTheDay(t *testing.T) {
	table := newTable(t, dailyLimit(48, "UTC", ""))
	table.expectIn(t, "", 12*hour, 48, 24*hour)
	table.expectIn(t, "Asia/Tokyo", 16*hour, 0, 24*hour) // it is tomorrow in Tokyo
	if d := table.sendIn("Asia/Tokyo", 23*hour, 31); d.Allowed || d.RetryAt != nanos(39*hour) {
		t.Errorf("31 pass at %d, want in the first whole day in Tokyo", d.RetryAt)
	}
	table.expectIn(t, "Asia/Tokyo", 24*hour, 30, 39*hour) // 15/24 for the 15 h until midnight there
	table.expectIn(t, "", 38*hour, 0, 39*hour)
	table.expectIn(t, "Asia/Tokyo", 39*hour, 48, 63*hour)
}

// A day is remembered for 24 h after its end. After that, nothing of it matters any more.
func TestZone_AfterSilence(t *testing.T) {
	for _, test := range []struct {
		at, next float64
		n        int64
	}{
		{38 * hour, 39 * hour, 30},
		{39 * hour, 63 * hour, 48},
		{48 * hour, 63 * hour, 48},
		{62 * hour, 63 * hour, 48},
	} {
		table := newTable(t, dailyLimit(48, "UTC", ""))
		table.expectIn(t, "", 12*hour, 48, 24*hour)
		table.expectIn(t, "Asia/Tokyo", test.at, test.n, test.next)
	}
	table := newTable(t, dailyLimit(48, "Asia/Tokyo", "")) // whose next day would be transitional until 48 h
	table.expectIn(t, "", 0, 48, 15*hour)
	table.expectIn(t, "UTC", 39*hour-1, 48, 48*hour)
	table = newTable(t, dailyLimit(48, "Asia/Tokyo", ""))
	table.expectIn(t, "", 0, 48, 15*hour)
	table.expectIn(t, "Asia/Kolkata", 39*hour, 48, 42.5*hour)
}

func TestZone_WeekAndMonth(t *testing.T) {
	table := newTable(t, periodLimit(7, "week"), periodLimit(31, "month").withName("monthly"))
	table.expectIn(t, "Asia/Tokyo", 6*day+14*hour, 7, 6*day+15*hour)
	table.expectIn(t, "Asia/Tokyo", 6*day+15*hour, 7, 13*day+15*hour)
	level := table.level(t, 6*day+16*hour, "monthly")
	if want := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).Add(-9 * time.Hour).UnixNano(); level.ResetAt != want {
		t.Errorf("the month ends at %d, want %d", level.ResetAt, want)
	}
}

// The zone of an override takes precedence. Numbers of an override and of a role keep their effect.
func TestZone_BesideOverride(t *testing.T) {
	own := func(zone string) Own {
		return Own{Timezone: zone, Numbers: map[string]Numbers{"daily": {Messages: 20}}}
	}
	table := newTable(t, dailyLimit(10, "UTC", ""))
	table.mustSetOwn(t, 0, own(""))
	table.expectIn(t, "Asia/Tokyo", 12*hour, 20, 15*hour)
	table.expectIn(t, "Asia/Tokyo", 15*hour, 20, 39*hour)
	table.expectIn(t, "Asia/Kolkata", 39*hour, 20, 66.5*hour) // 42.5 h is less than 12 h away
	table = newTable(t, dailyLimit(10, "UTC", ""))
	table.mustSetOwn(t, 0, own("America/Lima"))
	table.expectIn(t, "Asia/Tokyo", 2*hour, 20, 5*hour)
	table.expectIn(t, "Asia/Tokyo", 5*hour, 20, 29*hour)
	table = newTable(t, dailyLimit(10, "UTC", "").withRole("vip", Numbers{Messages: 12}))
	d := table.judge("7", Request{At: nanos(12 * hour), Cost: 12, Roles: rolesOf("vip"), Zone: TimezoneOf("Asia/Tokyo")})
	if !d.Allowed || d.ResetAt != nanos(15*hour) {
		t.Errorf("%+v", d)
	}
}

// A grant lasts until the end of the user's day. Once that has ended, it is the limits' day.
func TestZone_Grant(t *testing.T) {
	table := newTable(t, dailyLimit(10, "UTC", ""))
	table.expectIn(t, "Asia/Tokyo", 12*hour, 10, 15*hour)
	for at, want := range map[float64]float64{13 * hour: 15 * hour, 16 * hour: 48 * hour} {
		if until, err := table.Grant("7", "daily", 1, nanos(at)); err != nil || until != nanos(want) {
			t.Errorf("granted at %v h until %d, %v", at/hour, until, err)
		}
	}
}

// A user's zone has no effect on limits that several users share.
func TestZone_SharedLimits(t *testing.T) {
	sets := compileSets(t, Strikes{}, dailyLimit(10, "UTC", ""), dailyLimit(5, "UTC", "").withName("all").withScope(PerChannel))
	own, shared := NewTable(sets[PerUser], 1<<30, new(Dropped)), NewTable(sets[PerChannel], 1<<30, new(Dropped))
	q := Request{At: nanos(16 * hour), Cost: 6, Zone: TimezoneOf("Asia/Tokyo"), UpTo: true}
	var d Decision
	if own.Judge("7", &q, &d, Place{Table: shared, User: theChannel}); d.Limit.Name() != "all" || d.Taken != 5 || d.ResetAt != nanos(24*hour) {
		t.Errorf("%+v", d)
	}
	if level := own.level(t, 16*hour, "daily"); level.ResetAt != nanos(39*hour) {
		t.Errorf("the user's day ends at %d", level.ResetAt)
	}
}

// Strangers can't fill the memory of a Set with zones, and names that nobody knows take none.
func TestZone_BoundedMemory(t *testing.T) {
	table := newTable(t, dailyLimit(10, "UTC", "").withRole("vip", Numbers{Messages: 12}).withRole("subscriber", Numbers{Messages: 11}))
	for _, roles := range []Roles{{}, rolesOf("vip"), rolesOf("subscriber")} {
		for _, name := range append(strings.Fields(zoneNames), "Europe/Berln") {
			if d := table.judge("7", Request{At: nanos(hour), Cost: 20, Roles: roles, Zone: TimezoneOf(name)}); d.Allowed {
				t.Fatalf("%s: %+v", name, d)
			}
		}
	}
	if n := len(*table.set.zoned.known.Load()); n != maxZoned {
		t.Errorf("%d are kept, want %d", n, maxZoned)
	}
	if none := newTable(t, bucket(3, time.Second)); none.sendIn("Asia/Tokyo", 0, 1).Limit == nil || none.set.zoned != nil {
		t.Error("limits without a calendar are kept for zones")
	}
}

func TestZone_DoesNotAllocate(t *testing.T) {
	table := newTable(t, bucket(1000, time.Nanosecond), dailyLimit(MaxMessages, "UTC", "").withRole("vip", Numbers{Messages: 2}))
	at := 12 * hour
	if n := testing.AllocsPerRun(100, func() {
		at++
		q := Request{At: nanos(at), Cost: 1, Zone: TimezoneOf("Asia/Tokyo"), Roles: rolesOf("vip")}
		var d Decision
		table.Judge("7", &q, &d) // most are throttled
		q.Zone, q.Roles = TimezoneOf("Europe/Berln"), Roles{}
		table.Judge("8", &q, &d)
		q.Zone = TimezoneOf("America/Lima")
		table.Judge("9", &q, &d)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What a table couldn't send yet keeps the user's zone, so that the store begins the same day.
func TestZone_Unsent(t *testing.T) {
	set := mustSet(t, dailyLimit(10, "UTC", "").withCountThrottled())
	table := NewTable(set, 1<<30, new(Dropped))
	table.CountUnsent()
	table.sendIn("Asia/Tokyo", 12*hour, 4)
	table.sendIn("Asia/Tokyo", 12*hour, 20) // counts the other 6
	unsent, ok := table.TakeUnsentOf("7")
	if !ok || unsent.N != 4 || unsent.Charged != 20 || unsent.Zone != TimezoneOf("Asia/Tokyo") {
		t.Fatalf("%+v", unsent)
	}
	if _, again := table.TakeUnsentOf("7"); again {
		t.Error("it is taken twice")
	}
	draft := NewDraft(set, nil, nanos(12*hour))
	draft.Spend(unsent.Spent)
	rule := &set.rules[0]
	if l := rule.level(rule, rule.state(draft.row), nanos(12*hour)); l.used != 10 || l.resetAt != nanos(15*hour) {
		t.Errorf("%+v", l)
	}
}

// The rows of an earlier version, which had a flag for a change of calendar, are read.
func TestZone_EarlierFlag(t *testing.T) {
	set := mustSet(t, dailyLimit(48, "Asia/Tokyo", ""))
	row := make([]uint64, set.width)
	start := nanos(0) / nanosPerSecond
	copy(set.rules[0].state(row), []uint64{uint64(start)<<lengthBits | secondsPerDay, 40 | unusedFlag})
	rule := &set.rules[0]
	if l := rule.level(rule, rule.state(row), nanos(23*hour)); !rule.isValid(rule, rule.state(row), 0) || l.used != 40 || l.resetAt != nanos(day) {
		t.Errorf("%+v", l)
	}
	if l := rule.level(rule, rule.state(row), nanos(day)); l.used != 0 || l.capacity != 30 || l.resetAt != nanos(39*hour) {
		t.Errorf("%+v", l)
	}
}
