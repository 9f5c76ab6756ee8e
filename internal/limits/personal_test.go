package limits

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func (t *Table) mustSetOwn(tb testing.TB, at float64, own Own) {
	tb.Helper()
	if err := t.SetOwn("7", own, nanos(at)); err != nil {
		tb.Fatal(err)
	}
}

func ownBurst(n int64) Own { return Own{Numbers: map[string]Numbers{"burst": {Burst: n}}} }

func TestOwn_BeatsRolesAndExemption(t *testing.T) {
	limit := bucket(2, time.Hour).withRole("vip", Numbers{Burst: 5})
	const all = 99 // messages allowed in a row, of 99
	for _, test := range []struct {
		name         string
		own          Own
		plain, vip   int
		exemptByRole int
	}{
		{"nothing", Own{}, 2, 5, all},
		{"numbers", ownBurst(3), 3, 3, 3},
		{"numbers of another limit", Own{Numbers: map[string]Numbers{"other": {Messages: 1000}}}, 2, 5, 2},
		{"exempt", Own{Exemption: Exempt}, all, all, all},
		{"exempt, with numbers", Own{Exemption: Exempt, Numbers: ownBurst(3).Numbers}, all, all, all},
		{"not exempt", Own{Exemption: NotExempt}, 2, 5, 2},
		{"a zone", Own{Timezone: "Asia/Tokyo"}, 2, 5, all},
	} {
		for i, q := range []Request{{}, {Roles: rolesOf("vip")}, {Exempt: true}} {
			table := newTable(t, limit, window("fixed-window", 1000, time.Hour).withName("other"))
			table.mustSetOwn(t, 0, test.own)
			q.At, q.Cost = nanos(0), 1
			allowed := 0
			for allowed < all && table.judge("7", q).Allowed {
				allowed++
			}
			if want := []int{test.plain, test.vip, test.exemptByRole}[i]; allowed != want {
				t.Errorf("%s, roles %v, exempt %v: %d messages, want %d", test.name, q.Roles, q.Exempt, allowed, want)
			}
		}
	}
}

func TestOwn_Log(t *testing.T) {
	log := window("sliding-log", 2, time.Hour)
	log.Roles = map[string]Numbers{"vip": {Messages: 5}}
	table := newTable(t, log, bucket(100, time.Second))
	if err := table.SetOwn("7", Own{Numbers: map[string]Numbers{"sliding-log": {Messages: 6}}}, nanos(0)); err == nil ||
		!strings.Contains(err.Error(), "has room for 5 messages") {
		t.Errorf("a longer log than there is room for: %v", err)
	}
	table.judge("8", Request{At: nanos(0), Cost: 2})
	run(t, table, []step{{at: 0, ok: true}, {at: 1, ok: true}, {at: 1, retry: 3599}})
	table.mustSetOwn(t, 1, Own{Numbers: map[string]Numbers{"sliding-log": {Messages: 5}}})
	run(t, table, []step{{at: 2, n: 3, ok: true}, {at: 3, retry: 3597}, {at: 3, n: 2, retry: 3598}})
	if d := table.judge("8", Request{At: nanos(3), Cost: 1}); d.Allowed || d.RetryAt != nanos(3600) {
		t.Errorf("another user: %+v", d)
	}
	table.mustSetOwn(t, 3, Own{}) // five messages count: four must expire
	run(t, table, []step{{at: 3, retry: 3599}, {at: 3602, n: 2, ok: true}})
}

func TestOwn_Zone(t *testing.T) {
	// The UTC day continues to its end. The next midnight in Tokyo is 15 h later, so 15/24 of the
	// allowance apply to these 15 h. A user without usage is in the Tokyo day at once.
	for _, seen := range []bool{true, false} {
		table := newTable(t, dailyLimit(48, "UTC", ""))
		if seen {
			run(t, table, []step{{at: hour, n: 8, ok: true}})
		}
		table.mustSetOwn(t, 2*hour, Own{Timezone: "Asia/Tokyo"})
		if seen {
			run(t, table, []step{
				{at: 16 * hour, n: 41, retry: 23 * hour}, {at: 16 * hour, n: 40, ok: true}, {at: 16 * hour, retry: 8 * hour},
				{at: 24 * hour, n: 30, ok: true}, {at: 24 * hour, retry: 15 * hour},
			})
		} else {
			run(t, table, []step{{at: 16 * hour, n: 48, ok: true}, {at: 24 * hour, retry: 15 * hour}})
		}
		run(t, table, []step{{at: 39 * hour, n: 48, ok: true}, {at: 39 * hour, retry: 24 * hour}})
		if d := table.judge("8", Request{At: nanos(39 * hour), Cost: 48}); !d.Allowed || d.ResetAt != nanos(48*hour) {
			t.Errorf("another user's day ends at %d", d.ResetAt)
		}
	}
}

func TestOwn_Invalid(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second))
	table.mustSetOwn(t, 0, ownBurst(2))
	numbers := func(limit string, n Numbers) Own { return Own{Numbers: map[string]Numbers{limit: n}} }
	for _, test := range []struct {
		own  Own
		want []string
	}{
		{numbers("burst", Numbers{Burst: -1}), []string{`limit "burst"`, "burst is -1"}},
		{numbers("burst", Numbers{Refill: years300}), []string{`limit "burst"`, "want less than 146 years"}},
		{numbers("burst", Numbers{Messages: 3}), []string{`limit "burst"`, `no "messages"`}},
		{numbers("other", Numbers{Burst: 3}), []string{`no limit "other"`}},
		{Own{Timezone: "Mars/Olympus"}, []string{`"Mars/Olympus"`}},
		{Own{Timezone: "Local"}, []string{`"Local"`}},
	} {
		err := table.SetOwn("7", test.own, nanos(0))
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: error %v, want one with %s", test.own, err, want)
			}
		}
		if own := table.OwnOf("7", nanos(0)); !reflect.DeepEqual(own, ownBurst(2)) {
			t.Fatalf("%+v changed what the user has to %+v", test.own, own)
		}
	}
}

func TestOwn_InvalidAfterChangeIsKept(t *testing.T) {
	table := newTable(t, bucket(1, time.Hour))
	table.mustSetOwn(t, 0, ownBurst(5))
	table.mustChange(t, 0, window("fixed-window", 2, time.Hour).withName("burst"))
	run(t, table, []step{{at: 0, n: 2, ok: true}, {at: 0, retry: hour}})
	table.mustChange(t, 0, bucket(1, time.Hour))
	run(t, table, []step{{at: 0, n: 5, ok: true}, {at: 0, retry: hour}})
}

func TestOwn_IsACopy(t *testing.T) {
	table := newTable(t, bucket(1, time.Hour))
	own := ownBurst(3)
	table.mustSetOwn(t, 0, own)
	own.Numbers["burst"] = Numbers{Burst: 99}
	table.OwnOf("7", nanos(0)).Numbers["burst"] = Numbers{Burst: 99}
	if got := table.OwnOf("7", nanos(0)); !reflect.DeepEqual(got, ownBurst(3)) {
		t.Errorf("%+v", got)
	}
	if own := table.OwnOf("8", nanos(0)); !own.IsZero() || table.Users() != 1 || !table.HasOwn() {
		t.Errorf("%+v, %d users", own, table.Users())
	}
}

func TestOwn_SurvivesRestart(t *testing.T) {
	log := window("sliding-log", 2, time.Hour)
	log.Roles = map[string]Numbers{"vip": {Messages: 6}}
	limits := []Limit{bucket(3, time.Hour), dailyLimit(10, "UTC", ""), log}
	own := Own{Exemption: NotExempt, Timezone: "Asia/Tokyo", Numbers: map[string]Numbers{"burst": {Burst: 4, Refill: 2 * time.Hour}, "sliding-log": {Messages: 6}}}
	for _, user := range []string{"7", "anna"} {
		first := newTable(t, limits...)
		must(t, first.SetOwn(user, own, nanos(0)))
		first.Grant(user, "burst", 2, nanos(0))
		if d := first.judge(user, Request{At: nanos(0), Cost: 5, Exempt: true}); !d.Allowed {
			// four and one granted
			t.Fatalf("%+v", d)
		}
		first.judge(user, Request{At: nanos(1), Cost: 9})
		first.Pardon(user, Offence{ID: 5, At: nanos(1), Counted: 9, NewStrike: true}, nanos(1))
		second := newTable(t, limits...)
		for _, row := range rowsOf(first.allDirty()) { // sorted by name, as from a store
			must(t, second.Restore(row, nanos(2)))
		}
		if got := second.OwnOf(user, nanos(2)); !reflect.DeepEqual(got, own) {
			t.Errorf("%s has %+v, want %+v", user, got, own)
		}
		if second.Pardon(user, Offence{ID: 5, At: nanos(1), Counted: 9, NewStrike: true}, nanos(2)) {
			t.Errorf("%s is pardoned twice", user)
		}
		for i, want := range []bool{true, false} { // one granted message is left
			if d := second.judge(user, Request{At: nanos(2), Cost: 1, Exempt: true}); d.Allowed != want || !want && d.RetryAt != nanos(2*hour) {
				t.Errorf("message %d of %s: %+v", i, user, d)
			}
		}
	}
}
