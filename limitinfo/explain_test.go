package limitinfo

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// noon is when the tests happen.
var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// newGuard returns a Guard with this policy, whose clock shows noon.
func newGuard(t *testing.T, policy chatguard.Policy) *chatguard.Guard {
	t.Helper()
	guard, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func messageAt(at time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: "1", User: chatguard.User{ID: "7"}, SentAt: at}
}

func mustExplain(t *testing.T, guard *chatguard.Guard, m chatguard.Message) Explanation {
	t.Helper()
	e, err := Explain(t.Context(), guard, m)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExplanation_JSON(t *testing.T) {
	policy := chatguard.DefaultPolicy()
	policy.Limits = policy.Limits[:1]
	policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionTimeout, Duration: time.Minute}, {Action: chatguard.ActionBan}}
	guard := newGuard(t, policy)
	check := func(when string, m chatguard.Message, want string) {
		t.Helper()
		got, err := json.Marshal(mustExplain(t, guard, m))
		var compact bytes.Buffer
		if err != nil || json.Compact(&compact, []byte(want)) != nil || string(got) != compact.String() {
			t.Errorf("%s (%v):\ngot  %s\nwant %s", when, err, got, compact.String())
		}
	}
	check("fresh", messageAt(noon), `{
		"verdict": {"at": "2026-01-05T12:00:00Z", "channel": "1", "user_id": "7", "allowed": true, "limit": "", "remaining": 2, "retry_after_ms": 0,
			"delay_ms": 0, "reset_at": "2026-01-05T12:00:04Z", "never": false, "observed": false, "penalty": "none", "tightest": "burst", "spent": 1},
		"limits": [{"name": "burst", "algorithm": "token-bucket", "per": "user", "observes": false, "used": 0, "capacity": 3, "granted": 0,
			"remaining": 3, "next_at": "2026-01-05T12:00:00Z", "reset_at": "2026-01-05T12:00:00Z", "role": "everyone", "own": false}],
		"strikes": 0, "next": "timeout 1m"}`)

	for range 4 {
		if _, err := guard.Check(t.Context(), messageAt(noon)); err != nil {
			t.Fatal(err)
		}
	}
	own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Refill: 8 * time.Second}}}
	if err := guard.SetUserOverride(t.Context(), messageAt(noon).Key(), own); err != nil {
		t.Fatal(err)
	}
	check("struck", messageAt(noon.Add(time.Second)), `{
		"verdict": {"at": "2026-01-05T12:00:01Z", "channel": "1", "user_id": "7", "allowed": false, "limit": "burst", "remaining": 0,
			"retry_after_ms": 7000, "delay_ms": 0, "reset_at": "2026-01-05T12:00:24Z", "never": false, "observed": false, "penalty": "timeout 1m",
			"strikes": 1, "series": 1},
		"limits": [{"name": "burst", "algorithm": "token-bucket", "per": "user", "observes": false, "used": 3, "capacity": 3, "granted": 0,
			"remaining": 0, "next_at": "2026-01-05T12:00:08Z", "reset_at": "2026-01-05T12:00:24Z", "role": "everyone", "own": true}],
		"strikes": 1, "lapse_at": "2026-01-05T12:30:00Z", "silent_until": "2026-01-05T12:01:00Z", "next": "ban"}`)
}

func TestExplain_RoleAndMode(t *testing.T) {
	policy := chatguard.DefaultPolicy()
	policy.Limits[0].Roles = map[chatguard.Role]chatguard.Override{"vip": {Burst: 4}}
	policy.Limits[1].Mode = chatguard.ModeObserve
	m := messageAt(noon)
	m.User.Roles = chatguard.Roles{"vip", "subscriber"}
	e := mustExplain(t, newGuard(t, policy), m)
	if burst, daily := e.Limits[0], e.Limits[1]; burst.Role != "vip" || burst.Observes || daily.Role != chatguard.RoleEveryone || !daily.Observes {
		t.Errorf("%+v", e.Limits)
	}
}

// A message that can't be judged has the error of Check, and changes nothing.
func TestExplain_Errors(t *testing.T) {
	guard := newGuard(t, chatguard.DefaultPolicy())
	m := messageAt(noon)
	m.User.ID = ""
	if _, err := Explain(t.Context(), guard, m); !errors.Is(err, chatguard.ErrInvalid) {
		t.Errorf("error %v, want %v", err, chatguard.ErrInvalid)
	}
	mustExplain(t, guard, messageAt(noon))
	if n := guard.Memory().Users; n != 0 {
		t.Errorf("%d users are remembered, want none", n)
	}
}
