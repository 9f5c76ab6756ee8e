package chatguard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// TestKey_Invalid checks that no method takes an empty ID for something else.
func TestKey_Invalid(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	long := strings.Repeat("x", maxID+1)
	for k, want := range map[Key]error{
		{}:                             errNoChannel,
		{ChannelID: "1"}:               errNoUser,
		{UserID: "7"}:                  errNoChannel,
		{ChannelID: long, UserID: "7"}: errLongID,
		{ChannelID: "1", UserID: long}: errLongID,
		{Per: PerChannel}:              errNoChannel,
		{Per: PerUserEverywhere}:       errNoUser,
		{Per: PerChannel, UserID: "7"}: errKey,
		{Per: PerUserEverywhere, ChannelID: "1", UserID: "7"}: errKey,
		{Per: 9, ChannelID: "1", UserID: "7"}:                 errKey,
		{Per: PerChannel, ChannelID: "1"}:                     ErrNoLimit,
		{Per: PerUserEverywhere, UserID: "7"}:                 ErrNoLimit,
		{Per: PerEverywhere}:                                  ErrNoLimit,
		{Per: PerEverywhere, UserID: "7"}:                     errKey,
		{Per: PerEverywhere, ChannelID: "1"}:                  errKey,
	} {
		if _, err := g.Grant(t.Context(), k, "", 1); !errors.Is(err, want) {
			t.Errorf("Grant to %s: %v, want %v", k, err, want)
		}
		if err := g.Reset(t.Context(), k); !errors.Is(err, want) {
			t.Errorf("Reset of %s: %v, want %v", k, err, want)
		}
		if k.Per.isShared() {
			want = errKey // only users have overrides
		}
		if err := g.SetUserOverride(t.Context(), k, UserOverride{}); !errors.Is(err, want) {
			t.Errorf("SetUserOverride of %s: %v, want %v", k, err, want)
		}
		if _, err := g.UserOverride(t.Context(), k); !errors.Is(err, want) {
			t.Errorf("UserOverride of %s: %v, want %v", k, err, want)
		}
	}
	if err := g.SetChannelPolicy("", DefaultPolicy()); !errors.Is(err, errNoChannel) {
		t.Errorf("SetChannelPolicy without a channel: %v", err)
	}
}

// inChannel returns the message with another channel.
func inChannel(channel string, m Message) Message {
	m.ChannelID = channel
	return m
}

func perChannelLimit(n int) Limit {
	return Limit{Name: "all", Algorithm: TokenBucket, Per: PerChannel, Burst: n, Refill: time.Hour}
}

func everywhereLimit(n int) Limit {
	return Limit{Name: "abroad", Algorithm: UserWindow, Per: PerUserEverywhere, Messages: n, Every: time.Hour}
}

func overallLimit(n int) Limit {
	return Limit{Name: "server", Algorithm: FixedWindow, Per: PerEverywhere, Messages: n, Every: time.Hour}
}

func TestScope_Shares(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = []Limit{{Name: "own", Algorithm: TokenBucket, Burst: 3, Refill: time.Hour}, perChannelLimit(4), everywhereLimit(5), overallLimit(8)}
	}, nil)
	for i, step := range []struct {
		channel, user string
		limit         string // the one that throttles
	}{
		{"1", "7", ""}, {"1", "7", ""}, {"1", "7", ""}, {"1", "7", "own"},
		{"1", "8", ""}, {"1", "8", "all"}, {"1", "9", "all"},
		{"2", "7", ""}, {"2", "7", ""}, {"2", "7", "abroad"}, {"2", "8", ""},
		{"3", "9", ""}, {"3", "9", "server"}, {"1", "8", "all"}, {"4", "10", "server"},
	} {
		v := mustCheck(t, g, inChannel(step.channel, messageFrom(step.user, 0)))
		if v.Limit != step.limit || v.Allowed != (step.limit == "") {
			t.Errorf("step %d: throttled by %q, want %q: %+v", i, v.Limit, step.limit, v)
		}
	}
}

func TestScope_SharedLimitGivesNoStrike(t *testing.T) {
	for _, test := range []struct {
		limit  Limit
		ladder []Penalty
		want   Action
	}{
		{perChannelLimit(1), []Penalty{{Action: ActionBan}}, ActionDelete}, {perChannelLimit(1), []Penalty{{Action: ActionDrop}}, ActionDrop}, {perChannelLimit(1), nil, ActionDrop},
		{overallLimit(1), []Penalty{{Action: ActionBan}}, ActionDelete},
	} {
		g := newEnforcingGuard(t, func(p *Policy) {
			p.Limits = []Limit{test.limit}
			p.Penalties.Ladder = test.ladder
		}, nil)
		mustCheck(t, g, messageFrom("7", 0))
		for range 3 {
			if v := mustCheck(t, g, messageFrom("8", 0)); v.Strikes != 0 || v.NewStrike || v.Penalty.Action != test.want {
				t.Errorf("ladder %v: %+v, want %s and no strike", test.ladder, v, test.want)
			}
		}
	}
}

func TestSetPolicy_EverywhereLimitsForAllChannels(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = append(p.Limits, everywhereLimit(5)) }, nil)
	mustCheck(t, g, messageFrom("7", 0))
	mustCheck(t, g, inChannel("2", messageFrom("7", 0)))

	own := g.ChannelPolicy("2")
	own.Limits[0].Burst = 9
	must(t, g.at(monday).SetChannelPolicy("2", own))
	for want, change := range map[string]func(*Policy){
		`limit "abroad": it applies to all channels, and can't be changed or left out in a single channel`: func(p *Policy) { p.Limits[2].Messages = 6 },
		`limit "daily": it applies to all channels, and can't be added in a single channel`: func(p *Policy) {
			p.Limits[1].Per = PerUserEverywhere
		},
		`limit "burst": it applies to all channels, and can't be added in a single channel`: func(p *Policy) {
			p.Limits[0].Per = PerEverywhere
		},
	} {
		p := own.Clone()
		change(&p)
		for _, err := range []error{(inner{g}).ValidateChannelPolicy("2", p), g.at(monday).SetChannelPolicy("2", p)} {
			if err == nil || err.Error() != "chatguard: "+want {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}

	base := g.Policy()
	base.Limits[0].Burst, base.Limits[2].Messages = 2, 3
	must(t, g.at(monday).SetPolicy(base))
	if got := g.ChannelPolicy("1").Limits[0].Burst; got != 2 {
		t.Errorf("a channel without a policy of its own has burst %d, want the new 2", got)
	}
	if p := g.ChannelPolicy("2"); p.Limits[0].Burst != 9 || p.Limits[2].Messages != 3 {
		t.Errorf("a channel with a policy of its own has %+v", p.Limits)
	}
	if v := mustCheck(t, g, inChannel("2", messageFrom("7", 0))); !v.Allowed || v.Remaining != 0 {
		t.Errorf("the third of 3: %+v", v)
	}
	if v := mustCheck(t, g, inChannel("3", messageFrom("7", 0))); v.Limit != "abroad" {
		t.Errorf("the fourth of 3: %+v", v)
	}

	clash := g.ChannelPolicy("2")
	clash.Limits = append(clash.Limits, Limit{Name: "late", Algorithm: TokenBucket, Burst: 1, Refill: time.Second})
	must(t, g.at(monday).SetChannelPolicy("2", clash))
	base.Limits[0].Burst, base.Limits[2].Name = 7, "late"
	if err := g.at(monday).SetPolicy(base); err == nil || !strings.Contains(err.Error(), `channel "2": limit "late"`) {
		t.Errorf("error %v, want one that names the channel and the limit", err)
	}
	if got := g.ChannelPolicy("1").Limits[0].Burst; got != 2 {
		t.Errorf("what was refused is half in force: burst %d", got)
	}
}

// A limit of everyone in all channels keeps what was used through each change that leaves it in
// force, and is refunded, granted and reset like any other.
func TestScope_Everywhere(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{overallLimit(3)} }, nil)
	used := func() int64 {
		t.Helper()
		e := explain(t, g, inChannel("9", messageFrom("someone", 0)))
		if len(e.limits) != 1 || e.limits[0].Scope != limits.PerEverywhere {
			t.Fatalf("%+v", e.limits)
		}
		return e.limits[0].Used
	}
	first := mustCheck(t, g, messageFrom("7", 0))
	mustCheck(t, g, inChannel("2", messageFrom("8", 0)))
	if err := g.at(monday).Refund(t.Context(), first); err != nil || used() != 1 {
		t.Errorf("%v, %d used, want 1 after a refund", err, used())
	}
	g.ForgetChannel("2")
	base := g.Policy()
	base.Limits[0].Messages = 2
	if err := g.at(monday).SetPolicy(base); err != nil || used() != 1 {
		t.Errorf("%v, %d used, want 1 after a change", err, used())
	}
	mustCheck(t, g, messageFrom("9", 0))
	v := mustCheck(t, g, messageFrom("9", 0))
	if v.Limit != "server" || v.RetryAfter != time.Hour || quotas(g, v) != `"server";q=2;w=3600` {
		t.Errorf("%+v, %s", v, quotas(g, v))
	}
	if _, err := g.at(monday).Grant(t.Context(), Key{Per: PerEverywhere}, "server", 1); err != nil || !mustCheck(t, g, inChannel("3", messageFrom("9", 0))).Allowed {
		t.Errorf("a grant: %v", err)
	}
	if v := mustCheck(t, g, messageFrom("9", 0)); v.Allowed {
		t.Errorf("beyond the grant: %+v", v)
	}
	if err := g.at(monday).Reset(t.Context(), Key{Per: PerEverywhere}); err != nil || used() != 0 {
		t.Errorf("%v, %d used after a reset", err, used())
	}
	base.Limits = nil
	if err := g.at(monday).SetPolicy(base); err != nil || !mustCheck(t, g, messageFrom("9", 0)).Allowed {
		t.Errorf("without the limit: %v", err)
	}
}

func TestRestore_Scopes(t *testing.T) {
	limits := func(p *Policy) { p.Limits = []Limit{perChannelLimit(2), everywhereLimit(2), overallLimit(3)} }
	g := newEnforcingGuard(t, limits, nil)
	mustCheck(t, g, messageFrom("7", 0))
	mustCheck(t, g, messageFrom("7", 0))
	mustCheck(t, g, inChannel("3", messageFrom("9", 0)))
	again := newEnforcingGuard(t, limits, nil)
	for _, row := range dirtyRows(g) {
		must(t, again.State().Restore(row, monday))
	}
	if v := mustCheck(t, again, messageFrom("8", 0)); v.Limit != "all" {
		t.Errorf("what the channel used is lost: %+v", v)
	}
	if v := mustCheck(t, again, inChannel("2", messageFrom("7", 0))); v.Limit != "abroad" {
		t.Errorf("what the user used everywhere is lost: %+v", v)
	}
	if v := mustCheck(t, again, inChannel("2", messageFrom("8", 0))); v.Limit != "server" {
		t.Errorf("what everyone used everywhere is lost: %+v", v)
	}
	without := newEnforcingGuard(t, nil, nil)
	for _, row := range dirtyRows(g) {
		if err := without.State().Restore(row, monday); err != nil {
			t.Errorf("a row of a scope without limits: %v", err)
		}
	}
}

func TestScope_PolicyOrder(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = []Limit{{Name: "a", Algorithm: UserWindow, Messages: 1, Every: time.Hour}, everywhereLimit(1)}
	}, nil)
	own := g.ChannelPolicy("1")
	slices.Reverse(own.Limits)
	must(t, g.at(monday).SetChannelPolicy("1", own))
	for channel, first := range map[string]string{"1": "abroad", "2": "a"} {
		user := "of channel " + channel
		mustCheck(t, g, inChannel(channel, messageFrom(user, 0)))
		if v := mustCheck(t, g, inChannel(channel, messageFrom(user, 0))); v.Limit != first {
			t.Errorf("channel %s: %s is named of two that wait as long, want %s", channel, v.Limit, first)
		}
		if e := explain(t, g, inChannel(channel, messageFrom(user, 0))); e.limits[0].Limit.Name() != first {
			t.Errorf("channel %s: explained as %+v", channel, e.limits)
		}
	}
}

func TestVerdict_ObservedNextStrike(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = []Limit{
			{Name: "own", Algorithm: SlidingLog, Messages: 2, Every: 20 * time.Second},
			{Name: "trial", Algorithm: TokenBucket, Burst: 1, Refill: time.Hour, Mode: ModeObserve},
		}
		p.Penalties.Ladder = []Penalty{{Action: ActionDelete}, {Action: warn}, {Action: ActionBan}}
	}, nil)
	for _, at := range []float64{0, 0, 1, 11} { // two strikes
		mustCheck(t, g, messageFrom("7", at))
	}
	if v := mustCheck(t, g, messageFrom("7", 20)); !v.Observed || v.Strikes != 2 || v.WouldBe.Action != ActionDelete {
		t.Errorf("within strike_every: %+v", v)
	}
	if v := mustCheck(t, g, messageFrom("7", 21)); !v.Observed || v.Strikes != 2 || v.WouldBe.Action != ActionBan || v.NewStrike {
		t.Errorf("after it: %+v", v)
	}
}

func TestVerdict_DelayOnlyIfEnforced(t *testing.T) {
	queue := func(p *Policy) {
		p.Limits = []Limit{{Name: "slow", Algorithm: LeakyBucket, Every: time.Second, Queue: 2}}
	}
	watched := newEnforcingGuard(t, func(p *Policy) {
		queue(p)
		p.Limits = append(p.Limits, Limit{Name: "trial", Algorithm: TokenBucket, Burst: 1, Refill: time.Hour, Mode: ModeObserve})
	}, nil)
	mustCheck(t, watched, messageFrom("7", 0))
	if v := mustCheck(t, watched, messageFrom("7", 0)); !v.Observed || v.Delay != time.Second {
		t.Errorf("a limit that observes takes the queue's delay away: %+v", v)
	}
	observing := newEnforcingGuard(t, func(p *Policy) {
		queue(p)
		p.Mode = ModeObserve
	}, nil)
	mustCheck(t, observing, messageFrom("7", 0))
	if v := mustCheck(t, observing, messageFrom("7", 0)); !v.Allowed || v.Delay != 0 {
		t.Errorf("who only observes throttles nothing: %+v", v)
	}
}

func TestCheckAll_EqualsCheck(t *testing.T) {
	change := func(p *Policy) {
		p.Limits = append(p.Limits, Limit{Name: "slow", Algorithm: LeakyBucket, Every: time.Second, Queue: 5, CountThrottled: true})
	}
	for name, more := range map[string][]Limit{"per user": nil, "all scopes": {perChannelLimit(60), everywhereLimit(20), overallLimit(95)}} {
		one := newEnforcingGuard(t, func(p *Policy) { change(p); p.Limits = append(p.Limits, more...) }, nil)
		all := newEnforcingGuard(t, func(p *Policy) { change(p); p.Limits = append(p.Limits, more...) }, nil)
		var messages []Message
		for i := range 200 {
			m := inChannel(string(rune('1'+i/50%2)), messageFrom([]string{"7", "8", "anna", "10", ""}[i*i%5], float64(i/20)))
			if i%7 == 0 {
				m.User.Roles = Roles{RoleModerator}
			}
			m.Cost = i%3 - i%41/40*5
			messages = append(messages, m)
		}
		verdicts := make([]Verdict, len(messages))
		err := all.CheckAll(context.Background(), messages, verdicts)
		for i, m := range messages {
			v, alone := one.Check(context.Background(), m)
			if v.EntryID = verdicts[i].EntryID; !sameVerdict(v, verdicts[i]) {
				t.Fatalf("%s: message %d: %+v, and alone %+v", name, i, verdicts[i], v)
			}
			if alone != nil && !strings.Contains(err.Error(), alone.Error()) {
				t.Errorf("%s: message %d: %v isn't named in %v", name, i, alone, err)
			}
		}
	}
}
