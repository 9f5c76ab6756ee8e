package chatguard

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// startOf returns a valid limit of an algorithm.
func startOf(a limits.AlgorithmInfo) Limit {
	l := Limit{Name: "x", Algorithm: Algorithm(a.Name)}
	for _, p := range a.Parameters {
		if p.Kind == limits.Count || p.Kind == limits.Length {
			setKey(&l, p.Name, p.Suggested)
		}
	}
	return l
}

// fieldOf returns the field of a struct with that key in TOML.
func fieldOf(structure any, key string) reflect.Value {
	v := reflect.ValueOf(structure).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("toml") == key {
			return v.Field(i)
		}
	}
	panic("no field has the key " + key)
}

func setKey(structure any, key string, n int64) { fieldOf(structure, key).SetInt(n) }

// Whatever bound a parameter exceeds, for everyone, a role or a user, the error names the
// parameter.
func TestPolicyError_EachParameter(t *testing.T) {
	for _, a := range limits.Algorithms() {
		for _, p := range a.Parameters {
			t.Run(a.Name+"/"+p.Name, func(t *testing.T) {
				l := startOf(a)
				switch p.Kind {
				case limits.Zone, limits.Clock, limits.Choice:
					fieldOf(&l, p.Name).SetString("Mars")
					wantMistake(t, l, PolicyError{Limit: "x", Parameter: p.Name, Value: "Mars"})
				default:
					testBounds(t, l, p)
				}
			})
		}
	}
}

// testBounds gives a parameter values beside its bounds.
func testBounds(t *testing.T, l Limit, p limits.Parameter) {
	for _, n := range []int64{p.Least - 1, p.Most + 1} {
		if n == 0 {
			n = -1 // 0 means that the value isn't set
		}
		value := reflect.New(fieldOf(&l, p.Name).Type()).Elem()
		value.SetInt(n)
		want := PolicyError{Limit: "x", Parameter: p.Name, Value: textOf(value.Interface())}
		wrong := l
		setKey(&wrong, p.Name, n)
		wantMistake(t, wrong, want)
		if !p.Overridable || p.Name == "queue" && n == NoQueue {
			continue
		}
		var o Override
		setKey(&o, p.Name, n)
		want.Problem = mistakeIn(t, overridden(l, o)).Problem
		if err := mustNew(t, Policy{Limits: []Limit{l}}, nil).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}, UserOverride{Limits: map[string]Override{"x": o}}); *asMistake(t, err) != want {
			t.Errorf("a user's override: %+v, want %+v", err, want)
		}
		want.Role = vip
		wantMistake(t, overridden(l, o), want)
	}
}

// overridden returns the limit with other numbers for a role.
func overridden(l Limit, o Override) Limit {
	l.Roles = map[Role]Override{vip: o}
	return l
}

func asMistake(t *testing.T, err error) *PolicyError {
	t.Helper()
	e, ok := errors.AsType[*PolicyError](err)
	if !ok {
		t.Fatalf("not a PolicyError: %v", err)
	}
	if got, want := err.Error(), "chatguard: "+e.Error(); got != want || !strings.HasSuffix(want, e.Problem) {
		t.Errorf("the error is %q, and its PolicyError %q with the problem %q", got, want, e.Problem)
	}
	return e
}

func mistakeIn(t *testing.T, l Limit) *PolicyError {
	t.Helper()
	return asMistake(t, Policy{Limits: []Limit{l}}.Validate())
}

// wantMistake fails the test unless the limit is refused for this. Its Problem isn't compared.
func wantMistake(t *testing.T, l Limit, want PolicyError) {
	t.Helper()
	got := *mistakeIn(t, l)
	want.Problem = got.Problem
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// Each key of a policy and of a limit is named by the mistake that it causes.
func TestPolicyError_EachKey(t *testing.T) {
	log := func(name string) Limit {
		return Limit{Name: name, Algorithm: SlidingLog, Messages: 1024, Every: time.Hour}
	}
	type mistake struct {
		change func(*Policy)
		limit  string
		value  string
	}
	mistakes := map[string]mistake{
		"mode":             {func(p *Policy) { p.Mode = 2 }, "", "mode(2)"},
		"exempt":           {func(p *Policy) { p.Exempt = []Role{vip, vip} }, "", "vip"},
		"exempt_messages":  {func(p *Policy) { p.ExemptKinds = []string{"bits", "bits"} }, "", "bits"},
		"roles":            {func(p *Policy) { p.Roles = []Role{"a b"} }, "", "a b"},
		"timezone":         {func(p *Policy) { p.Timezone = "Mars" }, "", "Mars"},
		"limits":           {func(p *Policy) { p.Limits = make([]Limit, 33) }, "", "33"},
		"penalties.ladder": {func(p *Policy) { p.Penalties.Ladder = make([]Penalty, 33) }, "", "33"},
		"penalties.ladder[1]": {func(p *Policy) {
			p.Penalties.Ladder = []Penalty{{}, {Action: ActionTimeout, Duration: 1500 * time.Millisecond}}
		}, "", "timeout 1.5s"},
		"penalties.strike_every": {func(p *Policy) { p.Penalties.StrikeEvery = -time.Minute }, "", "-1m"},
		"penalties.forget_after": {func(p *Policy) { p.Penalties.ForgetAfter = -1 }, "", "-1ns"},

		"limit.name":         {func(p *Policy) { p.Limits[0].Name = "a b" }, "a b", "a b"},
		"limit.title":        {func(p *Policy) { p.Limits[0].Title = "/ban" }, "burst", "/ban"},
		"limit.algorithm":    {func(p *Policy) { p.Limits[0].Algorithm = "dice" }, "burst", "dice"},
		"limit.mode":         {func(p *Policy) { p.Limits[0].Mode = 2 }, "burst", "mode(2)"},
		"limit.per":          {func(p *Policy) { p.Limits[0].Per = 9 }, "burst", "9"},
		"limit.roles":        {func(p *Policy) { p.Limits[0].Roles = map[Role]Override{"a b": {}} }, "burst", "a b"},
		"limit.refill":       {func(p *Policy) { p.Limits[0].Refill = 4 }, "burst", "4ns"},
		"limit.similar":      {func(p *Policy) { p.Limits[0].Similar = true }, "burst", "true"},
		"limit.from_length":  {func(p *Policy) { p.Limits[0].Per, p.Limits[0].FromLength = PerText, 501 }, "burst", "501"},
		"limit.count_emotes": {func(p *Policy) { p.Limits[0].CountEmotes = true }, "burst", "true"},
		"limit.strikes":      {func(p *Policy) { p.Limits[0].Per, p.Limits[0].Strikes = PerUserText, true }, "burst", "true"},
		"limit.messages":     {func(p *Policy) { p.Limits = []Limit{log("a"), log("b"), log("c"), log("d")} }, "d", "1024"},
	}
	for key, test := range mistakes {
		p := DefaultPolicy()
		test.change(&p)
		got := *asMistake(t, p.Validate())
		_, after, isLimit := strings.Cut(key, "limit.")
		if !isLimit {
			after = key
		}
		if want := (PolicyError{Limit: test.limit, Parameter: after, Value: test.value, Problem: got.Problem}); got != want {
			t.Errorf("%s: got %+v\nwant %+v", key, got, want)
		}
		if _, err := New(p, nil); *asMistake(t, err) != got {
			t.Errorf("%s: New returns %v", key, err)
		}
		g := newEnforcingGuard(t, nil, nil)
		if *asMistake(t, g.SetPolicy(p)) != got || *asMistake(t, g.SetChannelPolicy("1", p)) != got {
			t.Errorf("%s: the methods of a Guard return other mistakes", key)
		}
	}
	harmless := []string{"penalties", "limit.count_throttled"}
	for _, a := range limits.Algorithms() { // their bounds are tested above
		for _, p := range a.Parameters {
			harmless = append(harmless, "limit."+p.Name)
		}
	}
	for _, key := range slices.Concat(jsonKeys[Policy](""), jsonKeys[Penalties]("penalties."), jsonKeys[Limit]("limit.")) {
		if _, ok := mistakes[key]; !ok && !slices.Contains(harmless, key) {
			t.Errorf("no mistake in %q is tested", key)
		}
	}
}

// jsonKeys returns the keys of a struct, each after a prefix.
func jsonKeys[T any](prefix string) (keys []string) {
	for field := range reflect.TypeFor[T]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, prefix+key)
	}
	return keys
}

// Limits with no name, and those that no channel may change, are named as far as they can be.
func TestPolicyError_WholeLimit(t *testing.T) {
	p := DefaultPolicy()
	p.Limits[1].Name = ""
	if got := asMistake(t, p.Validate()); got.Limit != "" || got.Parameter != "name" || got.Problem != "limit 2 has no name" {
		t.Errorf("a limit without a name: %+v", got)
	}
	p = DefaultPolicy()
	p.Limits[0].Per = PerUserEverywhere
	g := mustNew(t, p, nil)
	if got := asMistake(t, g.SetChannelPolicy("1", DefaultPolicy())); got.Limit != "burst" || got.Parameter != "" {
		t.Errorf("a channel without the limit of all channels: %+v", got)
	}
	p = p.Clone()
	p.Limits[1].Per = PerEverywhere
	if got := asMistake(t, g.SetChannelPolicy("1", p)); got.Limit != "daily" || got.Parameter != "per" || got.Value != "everywhere" {
		t.Errorf("a channel with another limit of all channels: %+v", got)
	}
}

func TestPolicyError_UserOverride(t *testing.T) {
	g := newEnforcingGuard(t, nil, &Options{Now: func() time.Time { return monday }})
	for _, test := range []struct {
		override UserOverride
		want     PolicyError
	}{
		{UserOverride{Timezone: "Mars"}, PolicyError{Parameter: "timezone", Value: "Mars"}},
		{UserOverride{Exempt: "often"}, PolicyError{Parameter: "exempt", Value: "often"}},
		{UserOverride{Exempt: ExemptAlways, ExemptUntil: monday}, PolicyError{Parameter: "exempt_until", Value: "2026-01-05T12:00:00Z"}},
		{UserOverride{ExemptUntil: monday.Add(1)}, PolicyError{Parameter: "exempt_until", Value: "2026-01-05T12:00:00Z"}},
		{UserOverride{Exempt: ExemptAlways, ExemptUntil: monday.AddDate(200, 0, 0)}, PolicyError{Parameter: "exempt_until", Value: "2226-01-05T12:00:00Z"}},
		{UserOverride{Limits: map[string]Override{"bursts": {}}}, PolicyError{Parameter: "limits", Value: "bursts"}},
		{UserOverride{Limits: map[string]Override{"burst": {Messages: 2}}}, PolicyError{Limit: "burst", Parameter: "messages", Value: "2"}},
	} {
		got := *asMistake(t, g.SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}, test.override))
		if test.want.Problem = got.Problem; got != test.want {
			t.Errorf("%+v: got %+v\nwant %+v", test.override, got, test.want)
		}
	}
}
