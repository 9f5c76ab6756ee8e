package chatguard

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

func TestExplanation_JSON(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = p.Limits[:1]
		p.Penalties.Ladder = []Penalty{{Action: Timeout, Duration: time.Minute}, {Action: Ban}}
	}, nil)
	check := func(when string, m Message, want string) {
		t.Helper()
		e, err := g.Explain(m)
		must(t, err)
		got, err := json.Marshal(e)
		var compact bytes.Buffer
		if err != nil || json.Compact(&compact, []byte(want)) != nil || string(got) != compact.String() {
			t.Errorf("%s (%v):\ngot  %s\nwant %s", when, err, got, compact.String())
		}
	}
	check("fresh", messageFrom("7", 0), `{
		"verdict": {"at": "2026-01-05T12:00:00Z", "channel": "1", "user_id": "7", "allowed": true, "limit": "", "remaining": 2, "retry_after_ms": 0,
			"delay_ms": 0, "reset_at": "2026-01-05T12:00:04Z", "never": false, "observed": false, "penalty": "none", "tightest": "burst", "spent": 1},
		"limits": [{"name": "burst", "algorithm": "token-bucket", "per": "user", "observes": false, "used": 0, "capacity": 3, "granted": 0,
			"remaining": 3, "next_at": "2026-01-05T12:00:00Z", "reset_at": "2026-01-05T12:00:00Z", "role": "everyone", "own": false}],
		"strikes": 0, "rung": 0, "next": "timeout 1m", "override": {}}`)

	for range 4 {
		mustCheck(t, g, messageFrom("7", 0))
	}
	must(t, g.At(monday).SetUserOverride(Key{ChannelID: "1", UserID: "7"}, UserOverride{Limits: map[string]Override{"burst": {Refill: 8 * time.Second}}}))
	check("struck", messageFrom("7", 1), `{
		"verdict": {"at": "2026-01-05T12:00:01Z", "channel": "1", "user_id": "7", "allowed": false, "limit": "burst", "remaining": 0,
			"retry_after_ms": 7000, "delay_ms": 0, "reset_at": "2026-01-05T12:00:24Z", "never": false, "observed": false, "penalty": "timeout 1m",
			"strikes": 1, "series": 1},
		"limits": [{"name": "burst", "algorithm": "token-bucket", "per": "user", "observes": false, "used": 3, "capacity": 3, "granted": 0,
			"remaining": 0, "next_at": "2026-01-05T12:00:08Z", "reset_at": "2026-01-05T12:00:24Z", "role": "everyone", "own": true}],
		"strikes": 1, "lapse_at": "2026-01-05T12:30:00Z", "silent_until": "2026-01-05T12:01:00Z", "rung": 1, "next": "ban",
		"override": {"limits": {"burst": {"refill": "8s"}}}}`)
}

func TestExplain_RoleAndMode(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits[0].Roles = map[Role]Override{VIP: {Burst: 4}}
		p.Limits[1].Mode = Observe
	}, nil)
	e, err := g.Explain(messageFrom("7", 0, VIP, Subscriber))
	must(t, err)
	if burst, daily := e.Limits[0], e.Limits[1]; burst.Role != VIP || burst.Observes || daily.Role != Everyone || !daily.Observes {
		t.Errorf("%+v", e.Limits)
	}
}

// TestIsExempt checks that IsExempt agrees with Peek, for roles, kinds of messages and overrides.
func TestIsExempt(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.ExemptMessages = []MessageKind{Bits} }, nil)
	for user, o := range map[string]UserOverride{
		"always":  {Exempt: AlwaysExempt},
		"never":   {Exempt: NeverExempt},
		"numbers": {Limits: map[string]Override{"burst": {Burst: 5}}},
		"ended":   {Exempt: AlwaysExempt, ExemptUntil: monday.Add(time.Second)},
	} {
		must(t, g.At(monday).SetUserOverride(Key{ChannelID: "1", UserID: user}, o))
	}
	exempt := 0
	for _, user := range []string{"none", "always", "never", "numbers", "ended"} {
		for _, channel := range []string{"1", "2"} {
			for _, roles := range []Roles{0, RolesOf(Moderator)} {
				for _, kind := range []MessageKind{0, Bits, Reward} {
					for seconds := range 2 {
						m := messageFrom(user, float64(seconds))
						m.ChannelID, m.User.Roles, m.Kind = channel, roles, kind
						v, err := g.Peek(m)
						must(t, err)
						if got := g.IsExempt(m); got != v.Exempt {
							t.Errorf("%+v is exempt: %t, want %t", m, got, v.Exempt)
						} else if got {
							exempt++
						}
					}
				}
			}
		}
	}
	if exempt != 70 || g.Memory().Users != 4 || g.IsExempt(Message{ChannelID: "1", User: User{Roles: RolesOf(Moderator)}}) {
		t.Errorf("%d are exempt, %d users are remembered", exempt, g.Memory().Users)
	}
}
