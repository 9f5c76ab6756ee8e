package chatguard

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func pause(p Policy) Policy {
	p.Mode = Observe
	return p
}

// A pause lasts through every change of the policy. When the pause is removed, the stated policy is
// in force again.
func TestOverlay(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	policy := observingPolicy()
	policy.Mode = Enforce
	guard, err := New(policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	spend := func(want bool) {
		t.Helper()
		v, err := guard.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "7"}, SentAt: now})
		if err != nil || v.Allowed != want {
			t.Errorf("allowed %v, %v; want %v", v.Allowed, err, want)
		}
	}
	set := func(overlay func(Policy) Policy) {
		t.Helper()
		if err := guard.At(now).SetOverlay("1", overlay); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		spend(true)
	}
	spend(false)
	set(pause)
	spend(true)
	if guard.ChannelPolicy("1").Mode != Enforce || guard.InForce("1").Mode != Observe || guard.InForce("2").Mode != Enforce {
		t.Error("the overlay shows in Policy, or not in InForce, or elsewhere")
	}
	// Neither the channel's policy nor the one for all channels ends the pause.
	policy.Limits[0].Burst++
	if err := guard.At(now).SetChannelPolicy("1", policy); err != nil {
		t.Fatal(err)
	}
	spend(true)
	policy.Limits[0].Burst++
	if err := guard.At(now).SetPolicy(policy); err != nil {
		t.Fatal(err)
	}
	spend(true)
	if got := guard.ChannelPolicy("1"); got.Limits[0].Burst != policy.Limits[0].Burst-1 || got.Mode != Enforce {
		t.Errorf("stated: %+v", got)
	}
	set(nil)
	spend(false) // the fourth token, from the larger burst, was used during the pause
}

// Strikes from before a pause still count after it, and no strikes are given during it. Practice
// strikes lapse as usual.
func TestOverlay_StrikesOutlivePause(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	policy := observingPolicy()
	policy.Limits, policy.Penalties.StrikeEvery = policy.Limits[:1], 0
	policy.Limits[0].Burst, policy.Limits[0].Refill = 1, time.Hour
	guard, err := New(policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	strikes := func(want int, wouldBe string) {
		t.Helper()
		v, err := guard.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "7"}, SentAt: now})
		if penalty := v.Penalty.String(); v.Observed {
			if penalty = v.WouldBe.String(); penalty != wouldBe {
				t.Errorf("would be %s, want %s", penalty, wouldBe)
			}
		}
		if err != nil || v.Strikes != want {
			t.Errorf("%d strikes, %v; want %d", v.Strikes, err, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	strikes(0, "none")
	strikes(1, "delete")
	policy.Mode = Enforce
	must(guard.At(now).SetChannelPolicy("1", policy))
	strikes(1, "") // the practice strike has lapsed
	strikes(2, "")
	must(guard.At(now).SetOverlay("1", pause))
	strikes(2, "warn")
	strikes(2, "warn")
	must(guard.At(now).SetOverlay("1", nil))
	strikes(3, "")
	policy.Mode = Observe
	must(guard.At(now).SetChannelPolicy("1", policy))
	must(guard.At(now).SetOverlay("1", pause))
	strikes(4, "timeout 30s")
	policy.Mode = Enforce
	must(guard.At(now).SetChannelPolicy("1", policy)) // while paused
	must(guard.At(now).SetOverlay("1", nil))
	strikes(1, "")
}

// Setting an overlay that makes the current policy invalid changes nothing. While an overlay is set,
// a new policy that it makes invalid is refused.
func TestOverlay_Refused(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	base := observingPolicy()
	base.Limits = append(base.Limits, Limit{Name: "total", Algorithm: UserWindow, Per: PerUserEverywhere, Messages: 9, Every: time.Hour})
	guard, err := New(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, overlay := range map[string]func(Policy) Policy{
		"with the overlay applied": func(p Policy) Policy { p.Limits[0].Burst = 0; return p },
		`"total"`:                  func(p Policy) Policy { p.Limits = p.Limits[:2]; return p },
	} {
		if err := guard.At(now).SetOverlay("1", overlay); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	raid := Limit{Name: "raid", Algorithm: TokenBucket, Per: PerChannel, Burst: 5, Refill: time.Second}
	if err := guard.At(now).SetOverlay("1", func(p Policy) Policy { p.Limits = append(p.Limits, raid); return p }); err != nil {
		t.Fatal(err)
	}
	clash := guard.ChannelPolicy("1")
	clash.Limits = slices.Concat(clash.Limits, []Limit{raid})
	for _, channel := range []string{"1", ""} {
		if guard.ValidateChannelPolicy(channel, clash) == nil || guard.At(now).SetChannelPolicy(channel, clash) == nil {
			t.Errorf("channel %q: a limit that the overlay adds, too, was taken", channel)
		}
	}
	if len(guard.InForce("1").Limits) != 4 || len(guard.ChannelPolicy("1").Limits) != 3 {
		t.Error("a refused policy has changed something")
	}
}
