package chatguard

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

func TestUserOverride_Set(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits[0].Roles = map[Role]Override{vip: {Burst: 9}}
		p.Limits = append(p.Limits, Limit{Name: "log", Algorithm: SlidingLog, Messages: 5, Every: time.Second, Mode: ModeObserve}, repeats("copies", PerText))
	}, nil)
	countPassed := func(user string, roles ...Role) (n int) {
		for mustCheck(t, g, messageFrom(user, 0, roles...)).Allowed && n < 20 {
			n++
		}
		return n
	}
	for _, test := range []struct {
		name     string
		override UserOverride
		roles    []Role
		want     int
	}{
		{"numbers beat the limit's", UserOverride{Limits: map[string]Override{"burst": {Burst: 1}}}, nil, 1},
		{"numbers beat a role's", UserOverride{Limits: map[string]Override{"burst": {Burst: 5}}}, []Role{vip}, 5},
		{"numbers beat an exemption", UserOverride{Limits: map[string]Override{"burst": {Burst: 4}}}, []Role{RoleModerator}, 4},
		{"an exemption of their own", UserOverride{Exempt: ExemptAlways}, nil, 20},
		{"never exempt", UserOverride{Exempt: ExemptNever}, []Role{broadcaster}, 3},
		{"a zone leaves the exemption", UserOverride{Timezone: "Asia/Tokyo"}, []Role{RoleModerator}, 20},
		{"nothing", UserOverride{}, nil, 3},
	} {
		must(t, g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: test.name}, test.override))
		if got := countPassed(test.name, test.roles...); got != test.want {
			t.Errorf("%s: %d messages at once, want %d", test.name, got, test.want)
		}
	}
	if got := countPassed("another", RoleModerator); got != 20 {
		t.Errorf("another moderator isn't exempt: %d", got)
	}
	for want, o := range map[string]UserOverride{
		`there is no limit "bursts"`:                                   {Limits: map[string]Override{"bursts": {Burst: 1}}},
		`the limit "copies" counts each text: choose a limit per user`: {Limits: map[string]Override{"copies": {Messages: 1}}},
		`limit "burst": burst is -1, want 1 or more`:                   {Limits: map[string]Override{"burst": {Burst: -1}}},
		`limit "daily": daily-window has no "refill" (it takes messages, timezone, reset_at, period, first_day)`: {
			Limits: map[string]Override{"daily": {Refill: time.Second}}},
		`unknown timezone "Mars" (want an IANA name such as Europe/Berlin)`:                                                       {Timezone: "Mars"},
		`unknown exemption "often" (known: always, never)`:                                                                        {Exempt: "often"},
		`limit "log": each user's log has room for 5 messages: to allow one user more, give a role or the limit itself that many`: {Limits: map[string]Override{"log": {Messages: 6}}},
	} {
		if err := g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}, o); err == nil || err.Error() != "chatguard: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestUserOverride_ExemptUntil(t *testing.T) {
	now := monday
	g := newEnforcingGuard(t, nil, &Options{Now: func() time.Time { return now }})
	o := UserOverride{Exempt: ExemptAlways, ExemptUntil: monday.Add(10 * time.Minute), Timezone: "Asia/Tokyo"}
	must(t, g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}, o))
	const spelt = `{"exempt":"always","exempt_until":"2026-01-05T12:10:00Z","timezone":"Asia/Tokyo"}`
	for _, step := range []struct {
		at     float64
		exempt bool
		spelt  string
	}{{0, true, spelt}, {599.9, true, spelt}, {600, false, `{"timezone":"Asia/Tokyo"}`}} {
		now = monday.Add(time.Duration(step.at * float64(time.Second)))
		e := explain(t, g, messageFrom("7", step.at))
		current, err := g.UserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"})
		must(t, err)
		if v := mustCheck(t, g, messageFrom("7", step.at)); v.Exempt != step.exempt || e.Exempt != step.exempt {
			t.Errorf("at %v s: exempt is %v, explained as %v", step.at, v.Exempt, e.Exempt)
		}
		if data, err := json.Marshal(current); err != nil || string(data) != step.spelt {
			t.Errorf("at %v s: %s, %v", step.at, data, err)
		}
	}
	for want, o := range map[string]UserOverride{
		"an exemption must end in the future":                                                       {Exempt: ExemptNever, ExemptUntil: monday},
		"exempt_until needs an exemption: set exempt to always or never, or leave exempt_until out": {ExemptUntil: monday.Add(1)},
		"an exemption must end by February 2116: leave exempt_until out if it has no end":           {Exempt: ExemptAlways, ExemptUntil: monday.AddDate(100, 0, 0)},
	} {
		if err := g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}, o); err == nil || err.Error() != "chatguard: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestUserOverrides_List(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = append(p.Limits, Limit{Name: "total", Algorithm: UserWindow, Per: PerUserEverywhere, Messages: 9, Every: time.Hour})
	}, &Options{Now: func() time.Time { return monday }})
	set := func(channel, user string, o UserOverride, at time.Time) {
		t.Helper()
		key := Key{ChannelID: channel, UserID: user}
		if channel == "" {
			key.Per = PerUserEverywhere
		}
		must(t, g.at(at).SetUserOverride(t.Context(), key, o))
	}
	five, zone := UserOverride{Limits: map[string]Override{"burst": {Burst: 5}}}, UserOverride{Timezone: "Asia/Tokyo"}
	ten := UserOverride{Limits: map[string]Override{"total": {Messages: 10}}}
	set("1", "7", five, monday)
	set("1", "not-a-number", zone, monday)
	// it has ended
	set("1", "8", UserOverride{Exempt: ExemptAlways, ExemptUntil: monday.Add(-time.Second)}, monday.Add(-time.Hour))
	set("1", "9", five, monday)
	set("1", "9", UserOverride{}, monday)
	set("2", "7", zone, monday)
	set("", "7", ten, monday)
	if _, err := g.at(monday).Grant(t.Context(), Key{ChannelID: "1", UserID: "10"}, "burst", 5); err != nil { // not an override
		t.Fatal(err)
	}
	for channel, want := range map[string]map[string]UserOverride{
		"1": {"7": five, "not-a-number": zone}, "2": {"7": zone}, "3": {}, "": {"7": ten},
	} {
		got, err := g.UserOverrides(t.Context(), channel)
		if !maps.EqualFunc(got, want, func(a, b UserOverride) bool { return reflect.DeepEqual(a, b) }) || err != nil {
			t.Errorf("channel %q: %v, %v, want %v", channel, got, err, want)
		}
	}
	if got, err := newEnforcingGuard(t, nil, nil).UserOverrides(t.Context(), ""); len(got) != 0 || err != nil {
		t.Errorf("without limits per user everywhere: %v, %v", got, err)
	}
}

func TestGrant(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	until, err := g.at(monday).Grant(t.Context(), Key{ChannelID: "1", UserID: "7"}, "", 5)
	if want := monday.Add(12 * time.Hour); err != nil || !until.Equal(want) {
		t.Fatalf("until %v, error %v, want midnight %v", until, err, want)
	}
	if _, err := g.at(monday).Grant(t.Context(), Key{ChannelID: "1", UserID: "7"}, "burst", 2); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if v := mustCheck(t, g, messageFrom("7", 0)); !v.Allowed {
			t.Fatalf("3 + 2 messages: %+v", v)
		}
	}
	if v := mustCheck(t, g, messageFrom("7", 0)); v.Allowed || v.RetryAfter != 4*time.Second {
		t.Errorf("the sixth: %+v", v)
	}
	for want, grant := range map[error]func() error{
		ErrNoLimit: func() error {
			_, err := g.at(monday).Grant(t.Context(), Key{ChannelID: "1", UserID: "7"}, "other", 1)
			return err
		},
		ErrGrant: func() error {
			_, err := g.at(monday).Grant(t.Context(), Key{ChannelID: "1", UserID: "7"}, "", 0)
			return err
		},
		errTime: func() error {
			_, err := g.at(time.Time{}).Grant(t.Context(), Key{ChannelID: "1", UserID: "7"}, "", 1)
			return err
		},
	} {
		if err := grant(); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
	if _, err := g.at(monday).Grant(t.Context(), Key{UserID: "7", Per: PerUserEverywhere}, "", 1); !errors.Is(err, ErrNoLimit) {
		t.Errorf("without limits everywhere: %v", err)
	}
}

// countingLimit returns a limit that counts throttled messages.
func countingLimit(name string, per Scope, messages int) Limit {
	return Limit{Name: name, Algorithm: UserWindow, Per: per, Messages: messages, Every: time.Hour, CountThrottled: true}
}

// usage returns the author's usage of each limit.
func usage(t *testing.T, g *Guard, m Message) (used []int) {
	t.Helper()
	for _, l := range explain(t, g, m).limits {
		used = append(used, int(l.Used))
	}
	return used
}

func TestPardon(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = append(p.Limits[:1], countingLimit("own", PerUser, 9), countingLimit("abroad", PerUserEverywhere, 9), countingLimit("all", PerChannel, 9), countingLimit("server", PerEverywhere, 9))
		p.Penalties.StrikeEvery = 0
	}, nil)
	var passed Verdict
	for range 3 {
		passed = mustCheck(t, g, messageFrom("7", 0))
	}
	late := mustCheck(t, g, messageFrom("7", -1)) // it counts at 0
	if second := mustCheck(t, g, messageFrom("7", 0)); second.Strikes != 2 || late.Late != time.Second || late.Counted != 1 {
		t.Fatalf("got %+v and %+v", late, second)
	}
	if got, want := usage(t, g, messageFrom("7", 0)), []int{3, 5, 5, 5, 5}; !slices.Equal(got, want) {
		t.Fatalf("used %v, want %v", got, want)
	}
	for i, want := range []bool{true, false} {
		done, err := g.at(monday.Add(time.Second)).Pardon(t.Context(), late)
		if err != nil || done != want {
			t.Errorf("pardon %d: done is %v, error %v", i+1, done, err)
		}
		if got, want := usage(t, g, messageFrom("7", 0)), []int{3, 4, 4, 4, 4}; !slices.Equal(got, want) {
			t.Errorf("after pardon %d: used %v, want %v", i+1, got, want)
		}
		if e := explain(t, g, messageFrom("7", 0)); e.strikes != 1 {
			t.Errorf("after pardon %d: %d strikes, want 1", i+1, e.strikes)
		}
	}
	if _, err := g.at(monday).Pardon(t.Context(), passed); !errors.Is(err, ErrNotThrottled) {
		t.Errorf("pardon of an allowed message: %v", err)
	}
}

func TestPardon_RefundsCounted(t *testing.T) {
	full := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = p.Limits[:1]
		p.Limits[0].CountThrottled = true
	}, nil)
	for range 3 {
		mustCheck(t, full, messageFrom("7", 0))
	}
	v := mustCheck(t, full, messageFrom("7", 0)) // no room left for it to count
	if done, err := full.at(monday).Pardon(t.Context(), v); !done || err != nil {
		t.Errorf("done is %v, error %v", done, err)
	}
	if v := mustCheck(t, full, messageFrom("7", 0)); v.Allowed {
		t.Errorf("a pardon has bought a message: %+v", v)
	}
	watched := newEnforcingGuard(t, func(p *Policy) {
		trial := countingLimit("trial", PerUser, 1)
		trial.Mode = ModeObserve
		p.Limits = []Limit{countingLimit("own", PerUser, 2), trial}
	}, nil)
	mustCheck(t, watched, messageFrom("7", 0))
	shown := mustCheck(t, watched, messageFrom("7", 0))
	if !shown.Observed {
		t.Fatalf("got %+v", shown)
	}
	if _, err := watched.at(monday).Pardon(t.Context(), shown); err != nil {
		t.Fatal(err)
	}
	if v := mustCheck(t, watched, messageFrom("7", 0)); v.Allowed {
		t.Errorf("the pardon of a message that was shown has bought another: %+v", v)
	}
}

func TestTake(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	m := messageFrom("7", 0)
	m.Cost = 5
	taken, v, err := g.CheckUpTo(context.Background(), m)
	if err != nil || taken != 3 || !v.Allowed {
		t.Errorf("took %d of 5 with 3 tokens: %+v, %v", taken, v, err)
	}
	taken, v, err = g.CheckUpTo(context.Background(), m)
	if err != nil || taken != 0 || v.Allowed || v.RetryAfter != 4*time.Second || v.Never {
		t.Errorf("took %d of an empty bucket: %+v, %v", taken, v, err)
	}
	m.User.Roles = Roles{RoleModerator}
	if taken, _, _ = g.CheckUpTo(context.Background(), m); taken != 5 {
		t.Errorf("an exempt user takes %d of 5", taken)
	}
	observing := newEnforcingGuard(t, func(p *Policy) { p.Mode = ModeObserve }, nil)
	if taken, _, _ = observing.CheckUpTo(context.Background(), inChannel("1", Message{ChannelID: "1", User: User{ID: "7"}, SentAt: monday, Cost: 5})); taken != 5 {
		t.Errorf("who only observes gives %d of 5", taken)
	}
	watched := newEnforcingGuard(t, func(p *Policy) {
		trial := countingLimit("trial", PerUser, 1)
		trial.Mode = ModeObserve
		p.Limits = []Limit{countingLimit("own", PerUser, 2), trial}
	}, nil)
	m.User.Roles = nil
	if taken, v, _ = watched.CheckUpTo(context.Background(), m); taken != 2 || !v.Observed {
		t.Errorf("beside a limit that observes: took %d of 5 with room for 2: %+v", taken, v)
	}
	if _, _, err = g.CheckUpTo(context.Background(), Message{ChannelID: "1"}); !errors.Is(err, errNoUser) {
		t.Errorf("without a user: %v", err)
	}
}

// After a change of policy, a user's own numbers may not fit a limit any more. The numbers of the
// user's roles apply then, and everything that shows the user's limits says so. When the limit
// changes back, the user's own numbers apply again.
func TestUserOverride_NoLongerFits(t *testing.T) {
	log := Limit{Name: "log", Algorithm: SlidingLog, Messages: 8, Every: time.Minute}
	for name, smaller := range map[string]Limit{
		"a shorter log":     {Name: "log", Algorithm: SlidingLog, Messages: 3, Every: time.Minute},
		"another algorithm": {Name: "log", Algorithm: TokenBucket, Burst: 3, Refill: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{log} }, nil)
			own := UserOverride{Limits: map[string]Override{"log": {Messages: 7}}}
			if err := g.at(monday).SetUserOverride(t.Context(), messageFrom("7", 0).Key(), own); err != nil {
				t.Fatal(err)
			}
			for i := range 6 {
				mustCheck(t, g, messageFrom("another", float64(i))) // its log keeps its room
			}
			check := func(at float64, messages int, isOwn bool) {
				t.Helper()
				log := explain(t, g, messageFrom("7", at)).limits[0]
				own, err := g.UserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"})
				if err != nil || log.Capacity != int64(messages) || log.Own != isOwn || own.Limits["log"].Messages != 7 {
					t.Errorf("explained as %+v, %v, want %d messages, own %v", log, err, messages, isOwn)
				}
				for i := range messages {
					v := mustCheck(t, g, messageFrom("7", at))
					if q := (inner{g}).Quotas(&v).Find(v.Tightest); !v.Allowed || q == nil || q.Messages != messages {
						t.Errorf("message %d of %d: %+v, quota %+v", i, messages, v, q)
					}
				}
				if mustCheck(t, g, messageFrom("7", at)).Allowed {
					t.Errorf("more than %d messages are allowed", messages)
				}
			}
			change := func(at time.Duration, l Limit) {
				p := g.Policy()
				p.Limits = []Limit{l}
				if err := g.at(monday.Add(at)).SetPolicy(p); err != nil {
					t.Fatal(err)
				}
			}
			check(10, 7, true)
			change(time.Hour, smaller)
			check(3700, 3, false)
			change(2*time.Hour, log)
			check(7300, 7, true)
		})
	}
}

// A pardon undoes all effects of a series of messages, in every place that counted them, and
// Unpardon restores them.
func TestPardonAll(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = append(p.Limits[:1], countingLimit("own", PerUser, 90), countingLimit("abroad", PerUserEverywhere, 90), countingLimit("all", PerChannel, 90))
		p.Limits[0].Refill = time.Hour
	}, nil)
	var throttled []Verdict
	for i := range 40 {
		if v := mustCheck(t, g, messageFrom("7", float64(i))); !v.Allowed {
			throttled = append(throttled, v)
		}
	}
	now := monday.Add(40 * time.Second)
	check := func(when string, strikes, counted int) {
		t.Helper()
		if e := explain(t, g, messageFrom("7", 40)); e.strikes != strikes {
			t.Errorf("%s: %d strikes, want %d", when, e.strikes, strikes)
		}
		if got, want := usage(t, g, messageFrom("7", 40))[1:], []int{counted, counted, counted}; !slices.Equal(got, want) {
			t.Errorf("%s: used %v, want %v", when, got, want)
		}
	}
	check("spammed", 4, 40)
	p, err := g.at(now).PardonAll(t.Context(), throttled)
	if err != nil || p.Offences != 37 || p.Strikes != 4 {
		t.Errorf("%+v, %v", p, err)
	}
	check("pardoned", 0, 3)
	mustCheck(t, g, messageFrom("8", 40)) // this message counts in the limit that everyone shares
	if err := g.at(now).Unpardon(t.Context(), throttled[0].Key(), p); err != nil {
		t.Error(err)
	}
	if got, want := usage(t, g, messageFrom("7", 40))[1:], []int{40, 40, 41}; !slices.Equal(got, want) {
		t.Errorf("undone: used %v, want %v", got, want)
	}
	if err := g.at(now).Unpardon(t.Context(), throttled[0].Key(), p); !errors.Is(err, limits.ErrPardonStale) {
		t.Errorf("undone twice: %v", err)
	}
}

func TestPardonAll_Refused(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	var throttled []Verdict
	for _, user := range []string{"7", "8"} {
		for range 3 {
			mustCheck(t, g, messageFrom(user, 0))
		}
		throttled = append(throttled, mustCheck(t, g, messageFrom(user, 0)))
	}
	if p, err := g.at(monday).PardonAll(t.Context(), throttled); err == nil || p.Offences != 0 {
		t.Errorf("two users: %+v, %v", p, err)
	}
	if p, err := g.at(monday).PardonAll(t.Context(), []Verdict{throttled[0], {ChannelID: throttled[0].ChannelID, UserID: "7", Allowed: true}}); !errors.Is(err, ErrNotThrottled) || p.Offences != 0 {
		t.Errorf("one that was allowed: %+v, %v", p, err)
	}
	if e := explain(t, g, messageFrom("7", 0)); e.strikes != 1 {
		t.Errorf("refused, and %d strikes count", e.strikes)
	}
	none, err := g.at(monday).PardonAll(t.Context(), nil)
	if err := errors.Join(err, g.at(monday).Unpardon(t.Context(), Key{}, none)); err != nil || none.Offences != 0 {
		t.Errorf("nothing: %+v, %v", none, err)
	}
}
