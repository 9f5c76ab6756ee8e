package limits

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// years300 is about the longest duration that a time.Duration holds.
const years300 = math.MaxInt64 / time.Second * time.Second

func TestCompile_InvalidParameters(t *testing.T) {
	given := func(algorithm string, p Params) Limit {
		p.Name, p.Algorithm = "x", algorithm
		return Limit{Params: p}
	}
	type refusal struct {
		limit Limit
		want  string // after the limit's name
	}
	tests := []refusal{
		{given("token-bucket", Params{}), "burst is 0"},
		{given("token-bucket", Params{Burst: -1, Refill: 1}), "burst is -1"},
		{given("token-bucket", Params{Burst: math.MinInt64, Refill: 1}), "burst is -9223372036854775808"},
		{given("token-bucket", Params{Burst: 1 << 62, Refill: 1}), "burst is 4611686018427387904"},
		{given("token-bucket", Params{Burst: 1}), "refill is 0s"},
		{given("token-bucket", Params{Burst: 1, Refill: -time.Second}), "refill is -1s"},
		{given("token-bucket", Params{Burst: 1, Refill: years300}), "refill is 2562047h47m16s, want less than 146 years (1280000h)"},
		{given("token-bucket", Params{Burst: 1, Refill: 1 << 62}), "refill is 1281023h53m38.427387904s, want less than 146 years (1280000h)"},
		{given("token-bucket", Params{Burst: 1 << 30, Refill: 1 << 32}), "burst × refill is too long"},
		{given("token-bucket", Params{Burst: MaxMessages, Refill: 1<<62 - 1}), "burst × refill is too long"},
		{given("token-bucket", Params{Burst: 1, Refill: 1, Every: 1}), `no "every"`},
		{given("leaky-bucket", Params{Queue: 2}), "every is 0s"},
		{given("leaky-bucket", Params{Queue: 2, Every: -1}), "every is -1ns"},
		{given("leaky-bucket", Params{Queue: -1, Every: 1}), "queue is -1"},
		{given("leaky-bucket", Params{Queue: MaxMessages, Every: 1}), "queue is 2147483647"},
		{given("leaky-bucket", Params{Queue: 1 << 62, Every: 1}), "queue is 4611686018427387904"},
		{given("leaky-bucket", Params{Queue: 0, Every: years300}), "every is 2562047h47m16s, want less than 146 years (1280000h)"},
		{given("leaky-bucket", Params{Queue: 1, Every: 1 << 61}), "(queue + 1) × every is too long"},
		{given("leaky-bucket", Params{Every: 1, Burst: 1}), `no "burst"`},
		{given("sliding-log", Params{Messages: 1025, Every: 1}), "messages is 1025, want 1024 or less"},
		{given("sliding-window", Params{Messages: 5, Every: time.Minute, Slices: 61}), "slices is 61, want 60 or less"},
		{given("sliding-window", Params{Messages: 5, Every: time.Minute, Slices: -1}), "slices is -1, want 1 or more"},
		{given("sliding-window", Params{Messages: 5, Every: time.Minute, Slices: 7}), "every is 1m0s, which 7 slices don't divide into whole nanoseconds: want another number of slices"},
		{given("fixed-window", Params{Messages: 5, Every: time.Minute, Slices: 2}), "fixed-window has no \"slices\" (it takes messages, every)"},
		{given("daily-window", Params{}), "messages is 0"},
		{given("daily-window", Params{Messages: -1}), "messages is -1"},
		{given("daily-window", Params{Messages: 1 << 31}), "messages is 2147483648"},
		{given("daily-window", Params{Messages: 1, Timezone: "Mars/Olympus"}), `unknown timezone "Mars/Olympus"`},
		{given("daily-window", Params{Messages: 1, DefaultZone: "Mars/Olympus"}), `unknown timezone "Mars/Olympus"`},
		{given("daily-window", Params{Messages: 1, Timezone: "../etc/zone"}), `unknown timezone "../etc/zone"`},
		{given("daily-window", Params{Messages: 1, ResetAt: "25:00"}), `reset_at "25:00"`},
		{given("daily-window", Params{Messages: 1, ResetAt: "noon"}), `reset_at "noon"`},
		{given("daily-window", Params{Messages: 1, ResetAt: "-1:00"}), `reset_at "-1:00"`},
		{given("daily-window", Params{Messages: 1, Every: time.Hour}), `no "every"`},
		{given("", Params{}), `unknown algorithm ""`},
		{given("token-bucket", Params{Burst: 1, Refill: 1}).withRole("vip", Numbers{Burst: -1}), `for role "vip": burst is -1`},
		{given("token-bucket", Params{Burst: 2, Refill: 1}).withRole("vip", Numbers{Refill: 1 << 61}), `for role "vip": burst × refill is too long`},
		{given("token-bucket", Params{Burst: 1, Refill: 1}).withRole("new", Numbers{Messages: 5}), `for role "new": token-bucket has no "messages"`},
		{given("leaky-bucket", Params{Every: 1}).withRole("owner", Numbers{Queue: -5}), `for role "owner": queue is -5`},
		{given("sliding-log", Params{Messages: 1, Every: 1}).withRole("subscriber", Numbers{Messages: 1 << 40}), `for role "subscriber": messages is 1099511627776`},
		{given("daily-window", Params{Messages: 1}).withRole("subscriber", Numbers{Refill: 1}), `for role "subscriber": daily-window has no "refill"`},
		{given("fixed-window", Params{Messages: 1, Every: 1}).withScope(PerText + 1), "unknown scope 6"},
	}
	for _, windowed := range []string{"fixed-window", "user-window", "sliding-window", "sliding-log"} {
		tests = append(tests,
			refusal{given(windowed, Params{Every: 1}), "messages is 0"},
			refusal{given(windowed, Params{Messages: -1, Every: 1}), "messages is -1"},
			refusal{given(windowed, Params{Messages: 1 << 62, Every: 1}), "messages is 4611686018427387904"},
			refusal{given(windowed, Params{Messages: 1}), "every is 0s"},
			refusal{given(windowed, Params{Messages: 1, Every: -time.Minute}), "every is -1m0s"},
			refusal{given(windowed, Params{Messages: 1, Every: 1 << 60}), "every is 320255"},
			refusal{given(windowed, Params{Messages: 1, Every: years300}), "every is 2562047h47m16s"},
			refusal{given(windowed, Params{Messages: 1, Every: 1, Burst: 1}), `no "burst"`},
			refusal{given(windowed, Params{Messages: 1, Every: 1, ResetAt: "00:00"}), `no "reset_at"`},
		)
	}
	for _, test := range tests {
		_, err := Compile([]Limit{bucket(1, 1), test.limit}, testRoles, Strikes{})
		if err == nil || !strings.HasPrefix(err.Error(), `limit "x": `) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want limit \"x\": … %s", test.limit, err, test.want)
		}
	}
}

func TestCompile_InvalidNames(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, name := range []string{"a.b", "a b", "é", "+", `"`, "a\n", long} {
		if _, err := Compile([]Limit{bucket(1, 1).withName(name)}, testRoles, Strikes{}); err == nil {
			t.Errorf("a limit is called %q", name)
		}
	}
	if _, err := Compile([]Limit{bucket(1, 1), dailyLimit(1, "", "").withName("burst").withScope(PerChannel)}, testRoles, Strikes{}); err == nil || !strings.Contains(err.Error(), `limit "burst": another limit has this name`) {
		t.Errorf("two limits of different scopes have one name: %v", err)
	}
	for _, name := range []string{"a", "A-b_9", long[1:]} {
		if _, err := Compile([]Limit{bucket(1, 1).withName(name)}, testRoles, Strikes{}); err != nil {
			t.Error(err)
		}
	}
}

func TestCompile_LargestParameters(t *testing.T) {
	for _, limit := range []Limit{
		bucket(1, 1<<62-1), bucket(MaxMessages, 1<<31), leakyLimit(1<<62-1, 0), leakyLimit(1<<30, MaxMessages-1), dailyLimit(MaxMessages, "Pacific/Kiritimati", "23:59"),
		window("fixed-window", MaxMessages, 1<<60-1), window("user-window", MaxMessages, 1<<60-1), window("sliding-window", MaxMessages, 1<<60-1), window("sliding-log", maxLog, 1<<60-1),
	} {
		table := newTable(t, limit)
		capacity := table.level(t, 0, limit.Name).Capacity
		for _, at := range []int64{0, MaxTime - 1} {
			table.Reset("7")
			for i, want := range []bool{true, false, false} {
				q := Request{At: at, Cost: capacity}
				d := table.judge("7", q)
				if d.Allowed != want || !want && d.RetryAt <= at {
					t.Errorf("%s at %d, message %d: %+v", limit.Name, at, i, d)
				}
				if !want && (d.RetryAt == Never || d.RetryAt < MaxTime && !table.Peek("7", &Request{At: d.RetryAt, Cost: capacity}).Allowed) {
					t.Errorf("%s at %d: retry at %d", limit.Name, at, d.RetryAt)
				}
			}
		}
	}
}

// extremes are numbers at which something might overflow.
var extremes = []int64{
	math.MinInt64, -1 << 31, -1, 0, 1, 2, 3, 1023, 1024, 1025, 1e9, 60e9, 86400e9, 1<<31 - 1, 1 << 31, 1 << 32, 1<<60 - 1, 1 << 60, 1 << 61, 1<<62 - 1, 1 << 62, math.MaxInt64,
}

// paramField returns the field with that parameter's value.
func paramField(p *Params, name string) reflect.Value {
	return reflect.ValueOf(p).Elem().FieldByNameFunc(func(field string) bool {
		return strings.EqualFold(field, strings.ReplaceAll(name, "_", ""))
	})
}

func TestCompile_NeverPanics(t *testing.T) {
	number := rapid.OneOf(rapid.SampledFrom(extremes), rapid.Int64(), rapid.Int64Range(1, 100))
	length := rapid.Map(number, func(n int64) time.Duration { return time.Duration(n) })
	zone := rapid.SampledFrom([]string{"", "UTC", "Europe/Berlin", "Pacific/Apia", "America/Havana", "nowhere"})
	resetAt := rapid.SampledFrom([]string{"", "00:00", "02:30", "23:59", "99:99"})
	any := rapid.Custom(func(rt *rapid.T) Params {
		return Params{
			Name: rapid.SampledFrom([]string{"a", "b", "c", "", "!"}).Draw(rt, "name"), Algorithm: rapid.SampledFrom(algorithms).Draw(rt, "algorithm").name,
			Burst: number.Draw(rt, "burst"), Refill: length.Draw(rt, "refill"), ExtraBurst: number.Draw(rt, "extra burst"), ExtraRefill: length.Draw(rt, "extra refill"), Queue: number.Draw(rt, "queue"), Messages: number.Draw(rt, "messages"),
			Every: length.Draw(rt, "every"), Timezone: zone.Draw(rt, "zone"), ResetAt: resetAt.Draw(rt, "reset at"),
			Observes: rapid.Bool().Draw(rt, "observes"), CountThrottled: rapid.Bool().Draw(rt, "counts throttled"),
			Slices:  rapid.SampledFrom([]int64{0, 0, 1, 2, 3, 60, 61, -1}).Draw(rt, "slices"),
			Reserve: rapid.SampledFrom([]int64{0, 0, 0, 1, -1, 1000, math.MaxInt64}).Draw(rt, "reserve"),
		}
	})
	fitting := rapid.Map(any, func(p Params) Params { // without other algorithms' parameters
		a, _ := algorithmFor(&p)
		kept := Params{Name: p.Name, Algorithm: p.Algorithm, Observes: p.Observes, CountThrottled: p.CountThrottled, Reserve: p.Reserve}
		for _, param := range a.params {
			paramField(&kept, param.Name).Set(paramField(&p, param.Name))
		}
		return kept
	})
	limit := rapid.Custom(func(rt *rapid.T) Limit {
		l := Limit{Params: rapid.OneOf(any, fitting, fitting, fitting).Draw(rt, "params"), Scope: PerUser}
		if rapid.Bool().Draw(rt, "a role") {
			l.Roles = map[string]Numbers{rapid.SampledFrom([]string{"vip", "everyone", "unknown"}).Draw(rt, "name"): {
				Burst: rapid.SampledFrom([]int64{0, 0, 5, -1, math.MaxInt64}).Draw(rt, "role's burst"), Messages: rapid.SampledFrom([]int64{0, 0, 5, 1024}).Draw(rt, "role's messages"),
			}}
		}
		return l
	})
	instants := []int64{0, 1, MaxTime - 1, MaxTime - 2, nanos(0), nanos(0) + 1, nanos(0) - 61e9, nanos(1000 * day), 86400e9}
	rapid.Check(t, func(rt *rapid.T) {
		var tables []*Table
		var sets []*Set
		for range 2 {
			var limits []Limit
			for range rapid.IntRange(1, 3).Draw(rt, "limits") {
				l := limit.Draw(rt, "limit")
				if _, err := newTestSet([]Limit{l}, Strikes{}); err == nil {
					limits = append(limits, l.withName(string(rune('a'+len(limits)))))
				}
			}
			set, err := newTestSet(limits, Strikes{Every: length.Draw(rt, "strike every"), Forget: length.Draw(rt, "forget after"), Ladder: []int64{UntilRetry}})
			if err != nil {
				rt.Fatalf("limits that are possible one by one aren't together: %v", err)
			}
			sets = append(sets, set)
			tables = append(tables, NewTable(set, 1<<30, new(Dropped)))
		}
		table := tables[0]
		// atTheEnd is set if a time is close to MaxTime: a day that ends after MaxTime can't be
		// read back.
		atTheEnd := false
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			at := rapid.SampledFrom(instants).Draw(rt, "at")
			atTheEnd = atTheEnd || at >= MaxTime-2
			n := rapid.SampledFrom([]int64{1, 2, 1024, MaxMessages, MaxMessages + 1, 1 << 62, math.MaxInt64}).Draw(rt, "cost")
			switch rapid.IntRange(0, 9).Draw(rt, "action") {
			case 0:
				table.Change(rapid.SampledFrom(sets).Draw(rt, "set"), at)
			case 1:
				table.Refund("7", Refund{At: rapid.SampledFrom(instants).Draw(rt, "spent at"), N: n}, at)
			case 2:
				table.Grant("7", rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "limit"), min(n, MaxMessages), at)
			case 3:
				second := NewTable(sets[1], 1<<30, new(Dropped))
				for _, row := range table.allDirty().Rows {
					if err := second.Restore(row, at); err != nil && !atTheEnd {
						rt.Fatalf("state isn't taken back: %v", err)
					}
				}
				second.judge("7", Request{At: at, Cost: n})
			case 4:
				table.SetOwn("7", Own{Timezone: rapid.SampledFrom([]string{"", "Asia/Tokyo"}).Draw(rt, "own zone")}, at)
			default:
				q := Request{At: at, Cost: n, Roles: rapid.SampledFrom([]Roles{{}, rolesOf(), rolesOf("vip", "new"), wideRoles.Everyone().With("vip")}).Draw(rt, "roles"), UpTo: rapid.Bool().Draw(rt, "up to")}
				_, levels, _ := table.Explain("7", &q)
				for _, l := range levels {
					if l.Used < 0 || l.Remaining < 0 || l.NextAt < 0 || l.ResetAt < 0 {
						rt.Fatalf("%s at %d: %+v", l.Limit.Name(), at, l)
					}
				}
				peeked := table.Peek("7", &q)
				d := table.judge("7", q)
				if d.Allowed && (d.Taken < 1 || d.LeaveAt < at) || !d.Allowed && d.RetryAt <= at || d.Remaining < 0 || d.ResetAt < 0 {
					rt.Fatalf("at %d: %+v", at, d)
				}
				if peeked.Allowed != d.Allowed || peeked.RetryAt != d.RetryAt {
					rt.Fatalf("at %d: peeked %+v, decided %+v", at, peeked, d)
				}
			}
		}
	})
}

// TestLargestParameters checks exact waits for numbers that random sequences don't reach.
func TestLargestParameters(t *testing.T) {
	table := newTable(t, bucket(1, MaxTime-1)) // 146 years
	if d := table.judge("7", Request{At: MaxTime - 1, Cost: 1}); !d.Allowed {
		t.Fatal("the first message is throttled")
	}
	if d := table.judge("7", Request{At: MaxTime - 1, Cost: 1}); d.Allowed || d.RetryAt != 2*(MaxTime-1) {
		t.Errorf("retry at %d, want %d", d.RetryAt, int64(2*(MaxTime-1)))
	}
	table = newTable(t, window("sliding-log", maxLog, time.Hour))
	for i := range maxLog {
		run(t, table, []step{{at: float64(i), ok: true}})
	}
	run(t, table, []step{{at: maxLog, retry: 3600 - maxLog}, {at: 3600, ok: true}, {at: 3600, retry: 1}, {at: 3600, n: maxLog, retry: 3600}})
}
