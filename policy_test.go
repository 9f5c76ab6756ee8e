package chatguard

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestPolicy_JSON(t *testing.T) {
	p := observingPolicy()
	p.Limits[0].Roles = map[Role]Override{subscriber: {Burst: 5}, vip: {Refill: 1500 * time.Millisecond}}
	p.Penalties.Ladder = append(p.Penalties.Ladder, Penalty{Action: ActionTimeout, UntilRefill: true}, Penalty{Action: ActionBan})
	p.ExemptKinds = []string{"bits", "resub"}
	data, err := json.Marshal(p)
	must(t, err)
	want := `{"mode":"observe","roles":["broadcaster","lead_moderator","moderator","vip","subscriber","everyone","first_timer"],"exempt":["broadcaster","lead_moderator","moderator"],"exempt_messages":["bits","resub"],"timezone":"UTC","limits":[` +
		`{"name":"burst","algorithm":"token-bucket","burst":3,"roles":{"subscriber":{"burst":5},"vip":{"refill":"1.5s"}},"refill":"4s"},` +
		`{"name":"daily","algorithm":"daily-window","messages":300,"reset_at":"00:00"}],` +
		`"penalties":{"ladder":["delete","delete","warn","timeout 30s","timeout 10m","timeout refill","ban"],"strike_every":"10s","forget_after":"30m"}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	var back Policy
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("read back %+v, %v", back, err)
	}
	for _, bad := range []string{
		`{"limits":[{"name":"x","brust":3}]}`, `{"limits":[{"refill":4}]}`, `{"limits":[{"roles":["vip"]}]}`, `{"roles":"vip"}`, `{"exempt":[7]}`, `{"mode":"maybe"}`,
		`{"penalties":{"ladder":["timeout 1m1.5s"]}}`, `{"penalties":{"ladder":["delete 5s"]}}`, `{"penalties":{"forget":"1s"}}`,
	} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestPolicy_JSONEmptyLists(t *testing.T) {
	const want = `{"mode":"enforce","roles":[],"exempt":[],"exempt_messages":[],"timezone":"","limits":[],"penalties":{"ladder":[],"strike_every":"0s","forget_after":"0s"}}`
	for _, p := range []Policy{{}, {Exempt: []Role{}, Limits: []Limit{}, Penalties: Penalties{Ladder: []Penalty{}}}} {
		if data, err := json.Marshal(p); err != nil || string(data) != want {
			t.Errorf("got  %s, %v\nwant %s", data, err, want)
		}
	}
}

// An emoji of a title may be joined from several. Nothing else that shows nothing is allowed.
func TestPolicy_TitleEmoji(t *testing.T) {
	for title, ok := range map[string]bool{
		"slow 👨\u200d👩\u200d👧 chat": true, "👩🏽\u200d🚀🏳\ufe0f\u200d🌈": true, "❤\ufe0f 1\ufe0f\u20e3 ^_^": true,
		"a\u200db": false, "\u200d": false, "👨\u200d": false, "\u200d👨": false, "👨\u200d\u200d👧": false, "👨\u200d ": false, "+\u200d+": false,
		"👨\u202e\u200d👧": false, "👨\u200d\u202e👧": false, "👨\u2066": false, "👨\u200b👧": false, "👨\u200d\xff": false, "👨\u200d\n": false,
	} {
		p := DefaultPolicy()
		p.Limits[0].Title = title
		if err := p.Validate(); (err == nil) != ok {
			t.Errorf("%q: %v, want ok %v", title, err, ok)
		}
	}
}

func TestPolicy_Validate(t *testing.T) {
	for want, change := range map[string]func(*Policy){
		`limit "burst": refill is 4ns, want 1µs or more: is the unit missing, as in 4*time.Second?`: func(p *Policy) { p.Limits[0].Refill = 4 },
		`limit "window": every is 60ns, want 1µs or more: is the unit missing, as in 60*time.Second?`: func(p *Policy) {
			p.Limits = append(p.Limits, FixedWindowLimit("window", 5, 60))
		},
		`limit "burst": a title is up to 64 characters`: func(p *Policy) { p.Limits[0].Title = strings.Repeat("ü", 65) },
		`limit "burst": a title is one line without control characters, and without a space at either end`: func(p *Policy) {
			p.Limits[0].Title = "in a row\u202e"
		},
		`limit "burst": a title doesn't begin with / or a full stop, because a chat would take it for a command`: func(p *Policy) {
			p.Limits[0].Title = "/ban you"
		},
		`limit "burst": burst is 0, want 1 or more`:                                              func(p *Policy) { p.Limits[0].Burst = 0 },
		`limit "burst": for role "vip": burst is -1, want 1 or more`:                             func(p *Policy) { p.Limits[0].Roles = map[Role]Override{vip: {Burst: -1}} },
		`limit "burst": for role "vip": token-bucket has no "messages" (it takes burst, refill)`: func(p *Policy) { p.Limits[0].Roles = map[Role]Override{vip: {Messages: 1}} },
		`limit "burst": unknown role "vpi" (known: vip, moderator)`: func(p *Policy) {
			p.Roles, p.Exempt, p.Limits[0].Roles = []Role{vip, RoleModerator}, nil, map[Role]Override{"vpi": {}}
		},
		`limit "burst": it has numbers for subscriber and vip: list all roles in the policy's roles, highest first`: func(p *Policy) {
			p.Roles, p.Limits[0].Roles = nil, map[Role]Override{vip: {}, subscriber: {}}
		},
		`exempt: unknown role "king" (known: vip, moderator)`:                                          func(p *Policy) { p.Roles, p.Exempt = []Role{vip, RoleModerator}, []Role{"king"} },
		`roles: vip is listed twice`:                                                                   func(p *Policy) { p.Roles = append(p.Roles, vip) },
		`roles: there are 65 names, want 64 or fewer`:                                                  func(p *Policy) { p.Roles = manyRoles(65) },
		`roles: "a b" is not a name of 1 to 64 letters (a to z, A to Z), digits and characters of -_:`: func(p *Policy) { p.Roles = []Role{"a b"} },
		`the policy has 65 roles, want 64 or fewer`: func(p *Policy) {
			p.Roles, p.Exempt, p.Limits[0].Roles = nil, manyRoles(64), map[Role]Override{vip: {}}
		},
		`exempt: vip is listed twice`:                                       func(p *Policy) { p.Exempt = []Role{vip, RoleModerator, vip} },
		`penalties: the ladder has 33 steps, want 32 or fewer`:              func(p *Policy) { p.Penalties.Ladder = make([]Penalty, 33) },
		`unknown mode 2`:                                                    func(p *Policy) { p.Mode = 2 },
		`unknown timezone "Mars" (want an IANA name such as Europe/Berlin)`: func(p *Policy) { p.Timezone = "Mars" },
		`penalties: strike_every is -1s, want 0s or more`:                   func(p *Policy) { p.Penalties.StrikeEvery = -time.Second },
		`penalties: step 1 of the ladder: warn: only a timeout has a duration, and only one`: func(p *Policy) {
			p.Penalties.Ladder[0] = Penalty{Action: warn, UntilRefill: true}
		},
		`penalties: step 1 of the ladder: action "Warn": want ` + actionNames: func(p *Policy) {
			p.Penalties.Ladder[0] = Penalty{Action: "Warn"}
		},
		`penalties: step 2 of the ladder: a timeout of 8760h0m1s: want whole seconds from 1s to 365d, or refill`: func(p *Policy) {
			p.Penalties.Ladder[1] = Penalty{Action: ActionTimeout, Duration: maxTimeout + time.Second}
		},
	} {
		p := observingPolicy()
		change(&p)
		if err := p.Validate(); err == nil || err.Error() != "chatguard: "+want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if _, err := New(p, nil); err == nil {
			t.Errorf("a Guard works by a policy with %s", want)
		}
	}
	longest := observingPolicy()
	longest.Exempt, longest.Penalties.Ladder = testRoles, make([]Penalty, 32)
	for _, p := range []Policy{{}, longest} {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestLimit_Title(t *testing.T) {
	for title, isRight := range map[string]bool{
		"": true, "per day": true, strings.Repeat("ü", 64): true, "1日ごと！": true, "<b>{limit}</b>": true,
		strings.Repeat("a", 65): false, "two\nlines": false, "\x00": false, " spaced": false, "spaced ": false, "\u200b": false, "\xff": false, "/me": false, ".me": false,
	} {
		p := DefaultPolicy().Clone()
		p.Limits[0].Title = title
		var mistake *PolicyError
		if err := p.Validate(); (err == nil) != isRight || (err != nil && (!errors.As(err, &mistake) || mistake.Parameter != "title" || mistake.Limit != p.Limits[0].Name)) {
			t.Errorf("%q: %v", title, err)
		}
	}
}

// A limit with another title is the same limit.
func TestLimit_TitleKeepsUsage(t *testing.T) {
	policy := Policy{Limits: []Limit{FixedWindowLimit("hourly", 2, time.Hour)}}
	g := mustNew(t, policy, nil)
	m := Message{ChannelID: "7", User: User{ID: "1"}, SentAt: time.Unix(7200, 0)}
	_, err := g.Check(t.Context(), m)
	must(t, err)
	policy.Limits[0].Title = "per hour"
	must(t, g.SetPolicy(policy))
	if v, err := g.Check(t.Context(), m); err != nil || v.Remaining != 0 || g.Policy().Limits[0].Title != "per hour" {
		t.Errorf("%v, %v", v, err)
	}
}

// manyRoles returns n roles.
func manyRoles(n int) []Role {
	roles := make([]Role, n)
	for i := range roles {
		roles[i] = Role("role" + strconv.Itoa(i))
	}
	return roles
}

func TestPolicy_IsACopy(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	p := g.ChannelPolicy("1")
	p.Limits[0].Burst, p.Exempt[0], p.Penalties.Ladder[0] = 99, subscriber, Penalty{Action: ActionBan}
	if got := g.ChannelPolicy("1"); got.Limits[0].Burst != 3 || got.Exempt[0] != broadcaster || got.Penalties.Ladder[0].Action != ActionDelete {
		t.Error("changing the copy changes the policy in force")
	}
}

func TestPolicy_NoLimitsAllows(t *testing.T) {
	g := mustNew(t, Policy{Mode: ModeEnforce}, nil)
	if v := mustCheck(t, g, messageFrom("7", 0)); !v.Allowed || v.Remaining != -1 {
		t.Errorf("got %+v", v)
	}
}

func TestPenalty_UntilRefillIsBounded(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = []Limit{{Name: "once", Algorithm: TokenBucket, Burst: 1, Refill: 1000 * time.Hour}}
		p.Penalties.Ladder = []Penalty{{Action: ActionTimeout, UntilRefill: true}}
	}, nil)
	mustCheck(t, g, messageFrom("7", 0))
	if v := mustCheck(t, g, messageFrom("7", 1)); v.Penalty.Duration != 14*day {
		t.Errorf("%s, want 14 days", v.Penalty)
	}
	if v := mustCheck(t, g, messageFrom("7", 1000*3600-0.25)); v.Penalty.Duration != time.Second {
		t.Errorf("%s, want 1 s", v.Penalty)
	}
}

// TestLimit_Constructors checks that each constructor returns a valid limit of its algorithm.
func TestLimit_Constructors(t *testing.T) {
	for want, l := range map[Algorithm]Limit{
		TokenBucket:   TokenBucketLimit("l", 3, time.Second),
		LeakyBucket:   LeakyBucketLimit("l", time.Second, 3),
		FixedWindow:   FixedWindowLimit("l", 3, time.Minute),
		DailyWindow:   DailyWindowLimit("l", 3),
		UserWindow:    UserWindowLimit("l", 3, time.Minute),
		SlidingWindow: SlidingWindowLimit("l", 3, time.Minute),
		SlidingLog:    SlidingLogLimit("l", 3, time.Minute),
	} {
		g := mustNew(t, Policy{Limits: []Limit{l}}, nil)
		v, err := g.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "7"}})
		if l.Algorithm != want || err != nil || !v.Allowed || v.Remaining < 2 {
			t.Errorf("%s: %+v, %v", want, v, err)
		}
	}
}

func pause(p Policy) Policy {
	p.Mode = ModeObserve
	return p
}

// A pause lasts through every change of the policy. When the pause is removed, the stated policy is
// in force again.
func TestOverlay(t *testing.T) {
	policy := observingPolicy()
	policy.Mode = ModeEnforce
	guard := mustNew(t, policy, nil)
	spend := func(want bool) {
		t.Helper()
		v, err := guard.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "7"}, SentAt: monday})
		if err != nil || v.Allowed != want {
			t.Errorf("allowed %v, %v; want %v", v.Allowed, err, want)
		}
	}
	set := func(overlay func(Policy) Policy) {
		t.Helper()
		must(t, guard.at(monday).SetOverlay("1", overlay))
	}
	for range 3 {
		spend(true)
	}
	spend(false)
	set(pause)
	spend(true)
	if guard.ChannelPolicy("1").Mode != ModeEnforce || (inner{guard}).InForce("1").Mode != ModeObserve || (inner{guard}).InForce("2").Mode != ModeEnforce {
		t.Error("the overlay shows in Policy, or not in InForce, or elsewhere")
	}
	if (inner{guard}).Mode("1") != ModeObserve || (inner{guard}).Mode("2") != ModeEnforce || (inner{guard}).Timezone("1") != (inner{guard}).InForce("1").Timezone || (inner{guard}).Timezone("1") == "" {
		t.Error("Mode or Timezone is not that of InForce")
	}
	// Neither the channel's policy nor the one for all channels ends the pause.
	policy.Limits[0].Burst++
	must(t, guard.at(monday).SetChannelPolicy("1", policy))
	spend(true)
	policy.Limits[0].Burst++
	must(t, guard.at(monday).SetPolicy(policy))
	spend(true)
	if got := guard.ChannelPolicy("1"); got.Limits[0].Burst != policy.Limits[0].Burst-1 || got.Mode != ModeEnforce {
		t.Errorf("stated: %+v", got)
	}
	set(nil)
	spend(false) // the fourth token, from the larger burst, was used during the pause
}

// Strikes from before a pause still count after it, and no strikes are given during it. Practice
// strikes lapse as usual.
func TestOverlay_StrikesOutlivePause(t *testing.T) {
	policy := observingPolicy()
	policy.Limits, policy.Penalties.StrikeEvery = policy.Limits[:1], 0
	policy.Limits[0].Burst, policy.Limits[0].Refill = 1, time.Hour
	guard := mustNew(t, policy, nil)
	strikes := func(want int, wouldBe string) {
		t.Helper()
		v, err := guard.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "7"}, SentAt: monday})
		if would := v.WouldBe.String(); v.Observed && would != wouldBe {
			t.Errorf("would be %s, want %s", would, wouldBe)
		}
		if err != nil || v.Strikes != want {
			t.Errorf("%d strikes, %v; want %d", v.Strikes, err, want)
		}
	}
	strikes(0, "none")
	strikes(1, "delete")
	policy.Mode = ModeEnforce
	must(t, guard.at(monday).SetChannelPolicy("1", policy))
	strikes(1, "") // the practice strike has lapsed
	strikes(2, "")
	must(t, guard.at(monday).SetOverlay("1", pause))
	strikes(2, "warn")
	strikes(2, "warn")
	must(t, guard.at(monday).SetOverlay("1", nil))
	strikes(3, "")
	policy.Mode = ModeObserve
	must(t, guard.at(monday).SetChannelPolicy("1", policy))
	must(t, guard.at(monday).SetOverlay("1", pause))
	strikes(4, "timeout 30s")
	policy.Mode = ModeEnforce
	must(t, guard.at(monday).SetChannelPolicy("1", policy)) // while paused
	must(t, guard.at(monday).SetOverlay("1", nil))
	strikes(1, "")
}

// Setting an overlay that makes the current policy invalid changes nothing. While an overlay is
// set, a new policy that it makes invalid is refused.
func TestOverlay_Refused(t *testing.T) {
	base := observingPolicy()
	base.Limits = append(base.Limits, Limit{Name: "total", Algorithm: UserWindow, Per: PerUserEverywhere, Messages: 9, Every: time.Hour})
	guard := mustNew(t, base, nil)
	for name, overlay := range map[string]func(Policy) Policy{
		"with the overlay applied": func(p Policy) Policy { p.Limits[0].Burst = 0; return p },
		`"total"`:                  func(p Policy) Policy { p.Limits = p.Limits[:2]; return p },
	} {
		if err := guard.at(monday).SetOverlay("1", overlay); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	raid := Limit{Name: "raid", Algorithm: TokenBucket, Per: PerChannel, Burst: 5, Refill: time.Second}
	must(t, guard.at(monday).SetOverlay("1", func(p Policy) Policy { p.Limits = append(p.Limits, raid); return p }))
	clash := guard.ChannelPolicy("1")
	clash.Limits = slices.Concat(clash.Limits, []Limit{raid})
	for _, channel := range []string{"1", ""} {
		if (inner{guard}).ValidateChannelPolicy(channel, clash) == nil || guard.at(monday).SetChannelPolicy(channel, clash) == nil {
			t.Errorf("channel %q: a limit that the overlay adds, too, was taken", channel)
		}
	}
	if len(inner{guard}.InForce("1").Limits) != 4 || len(guard.ChannelPolicy("1").Limits) != 3 {
		t.Error("a refused policy has changed something")
	}
}

func TestGuard_PolicyHash(t *testing.T) {
	hashes := map[string]string{}
	for name, change := range map[string]func(*Policy){
		"nothing":  func(*Policy) {},
		"the mode": func(p *Policy) { p.Mode = 1 - p.Mode },
		"a burst":  func(p *Policy) { p.Limits[0].Burst += 2 },
		"a refill": func(p *Policy) { p.Limits[0].Refill += time.Second },
		"a role": func(p *Policy) {
			p.Limits[0].Roles = map[Role]Override{vip: {Burst: 9}}
		},
		"a penalty": func(p *Policy) { p.Penalties.StrikeEvery += time.Second },
	} {
		policy := DefaultPolicy().Clone()
		change(&policy)
		guard, err := New(policy, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		hash := guard.Shared().PolicyHash()
		if len(hash) != 16 || hash != guard.Shared().PolicyHash() {
			t.Errorf("%s: the hash is %q and then %q", name, hash, guard.Shared().PolicyHash())
		}
		if other, found := hashes[hash]; found {
			t.Errorf("policies that differ by %s and by %s have the same hash", name, other)
		}
		hashes[hash] = name
		if err := guard.SetChannelPolicy("lobby", DefaultPolicy()); err != nil {
			t.Fatal(name, err)
		}
		if guard.Shared().PolicyHash() != hash {
			t.Errorf("%s: a channel's policy changes the hash", name)
		}
	}
}

// Nodes with different keys of texts have different hashes. A random key isn't part of a hash.
func TestGuard_PolicyHashTextKey(t *testing.T) {
	repeats := Policy{Limits: []Limit{{Name: "repeats", Per: PerText, Algorithm: TokenBucket, Burst: 3, Refill: time.Minute}}}
	one, other := &Options{TextKey: [16]byte{1}}, &Options{TextKey: [16]byte{2}}
	for name, test := range map[string]struct {
		policy Policy
		a, b   *Options
		same   bool
	}{
		"the same key":              {DefaultPolicy(), one, one, true},
		"the same key, and repeats": {repeats, one, one, true},
		"other keys":                {DefaultPolicy(), one, other, false},
		"other keys, and repeats":   {repeats, one, other, false},
		"a key on one node":         {DefaultPolicy(), one, nil, false},
		"random keys":               {DefaultPolicy(), nil, nil, true},
		"random keys, and repeats":  {repeats, nil, nil, true},
		"a random key, and repeats": {repeats, one, nil, false},
	} {
		a, b := mustNew(t, test.policy, test.a).Shared().PolicyHash(), mustNew(t, test.policy, test.b).Shared().PolicyHash()
		if (a == b) != test.same || len(a) != 16 {
			t.Errorf("%s: the hashes are %s and %s", name, a, b)
		}
	}
}

// What a policy leaves out counts as the default, and titles decide nothing.
func TestGuard_PolicyHashDefaults(t *testing.T) {
	hashes := map[string]bool{}
	for _, daily := range []Limit{
		{Name: "daily", Algorithm: DailyWindow, Messages: 300},
		{Name: "daily", Algorithm: DailyWindow, Messages: 300, ResetAt: "00:00", Timezone: "UTC", Period: PeriodDay},
		{Name: "daily", Title: "messages a day", Algorithm: DailyWindow, Messages: 300},
	} {
		for _, zone := range []string{"", "UTC"} {
			guard := mustNew(t, Policy{Timezone: zone, Limits: []Limit{daily}}, nil)
			hashes[guard.Shared().PolicyHash()] = true
		}
	}
	if len(hashes) != 1 {
		t.Errorf("one policy has %d hashes", len(hashes))
	}
}

// Each action has one text, and each text one penalty.
func TestPenalty_Text(t *testing.T) {
	for text, want := range map[string]Penalty{
		"none": {}, "delete": {Action: ActionDelete}, "ban": {Action: ActionBan}, "drop": {Action: ActionDrop}, "warn": {Action: warn},
		"timeout 30s": {Action: ActionTimeout, Duration: 30 * time.Second}, "timeout refill": {Action: ActionTimeout, UntilRefill: true},
		"mute-voice_2": {Action: "mute-voice_2"}, strings.Repeat("a", 32): {Action: Action(strings.Repeat("a", 32))},
	} {
		var p Penalty
		if err := p.UnmarshalText([]byte(text)); err != nil || p != want || p.String() != text || p.validate() != nil {
			t.Errorf("%s: %#v, %v, written as %s", text, p, err, p)
		}
	}
	for _, text := range []string{"", "Mute", "mute ", "mute 30s", "none 1s", "m\u00fcte", "timeout", "timeout ", " ban", strings.Repeat("a", 33)} {
		if p := (Penalty{Action: "before"}); p.UnmarshalText([]byte(text)) == nil || p.Action != "before" {
			t.Errorf("%q is read as %#v", text, p)
		}
	}
	for _, a := range []Action{"none", "Mute", "mute all", "m\u00fcte", Action(strings.Repeat("a", 33))} {
		if (Penalty{Action: a}).validate() == nil {
			t.Errorf("%q is valid", a)
		}
	}
}

// An action of the program silences nobody, and is no harder than removing the message for a user
// who must not be punished.
func TestPenalty_OfTheProgram(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Penalties.Ladder = []Penalty{{Action: "shadow"}} }, nil)
	for i := range 5 {
		if v := mustCheck(t, g, messageFrom("7", float64(i)/100)); v.Allowed != (i < 3) || !v.Allowed && v.Penalty.Action != "shadow" {
			t.Errorf("message %d: %s, %s", i, v, v.Penalty)
		}
	}
	if v := mustCheck(t, g, messageFrom("7", 4.01)); !v.Allowed {
		t.Errorf("after the wait: %s", v)
	}
	p := g.ChannelPolicy("1").Penalties
	if got := p.mildest(); got != (Penalty{Action: ActionDelete}) {
		t.Errorf("the mildest is %s", got)
	}
}

// A timeout may be given in days, 365 at most.
func TestPenalty_Days(t *testing.T) {
	var p, again Penalty
	if err := p.UnmarshalText([]byte("timeout 365d")); err != nil || p != (Penalty{Action: ActionTimeout, Duration: maxTimeout}) {
		t.Errorf("%+v, %v", p, err)
	}
	if err := again.UnmarshalText([]byte(p.String())); err != nil || again != p {
		t.Errorf("%s is read as %+v, %v", p, again, err)
	}
	const want = "a timeout of 366d: want whole seconds from 1s to 365d, or refill"
	if err := p.UnmarshalText([]byte("timeout 366d")); err == nil || err.Error() != want {
		t.Errorf("366 days: %v", err)
	}
	var penalties Penalties
	if err := json.Unmarshal([]byte(`{"ladder":["delete","timeout 2d"],"strike_every":"0s","forget_after":"1d"}`), &penalties); err != nil ||
		penalties.Ladder[1].Duration != 48*time.Hour || penalties.ForgetAfter != 24*time.Hour {
		t.Errorf("%+v, %v", penalties, err)
	}
}

func TestFormatWait(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0 s", 0: "0 s", 1: "1 s", 4 * time.Second: "4 s", 4*time.Second + 1: "5 s", 119 * time.Second: "119 s", 120 * time.Second: "2 min",
		121 * time.Second: "3 min", 2 * time.Hour: "2 h 0 min", 3*time.Hour + 11*time.Minute + time.Second: "3 h 12 min",
		48 * time.Hour: "2 days", 49 * time.Hour: "3 days", math.MaxInt64: "106752 days",
	} {
		if got := FormatWait(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
