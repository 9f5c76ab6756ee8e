package dashboard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/internal/inner"
)

func TestRestart_ContinuesLastProcess(t *testing.T) {
	path := newPath(t)
	p := start(t, path)
	both := []dashboard.Channel{{ID: room}, {ID: "silent"}}
	s := newSite(t, p.guard, dashboard.Options{Store: p.store, Channels: func() []dashboard.Channel { return both }})
	s.say("spammer", 2)
	s.setBurst("anna", 2)
	s.say("spammer", 2)
	s.ask("POST", "/api/v1/channels/silent/pause", "anna", "", 200)
	if said := s.ask("POST", api+"/raid", "anna", `{"for":"1h"}`, 200); !strings.Contains(said, `"saved":true`) {
		t.Errorf("raid mode: %s", said)
	}
	s.end()
	p.end()

	p = start(t, path)
	if v := say(t, p.guard, "spammer", 1); v.Allowed || v.Limit != "burst" {
		t.Errorf("what was spent: %+v", v)
	}
	inForce := inner.Of(p.guard).InForce(room)
	if p.guard.ChannelPolicy(room).Limits[0].Burst != 2 || !slices.ContainsFunc(inForce.Limits, func(l chatguard.Limit) bool { return l.Name == "raid" }) {
		t.Errorf("in force %+v", inForce)
	}
	s = newSite(t, p.guard, dashboard.Options{Store: p.store})
	said := s.ask("GET", "/api/v1/channels", "ben", "", 200)
	if !strings.Contains(said, `"raid_until"`) || !strings.Contains(said, `{"id":"silent","login":"silent","timezone":"UTC","paused_by":"site:anna"`) {
		t.Errorf("channels %s", said)
	}
	if who := s.throttledUsers("ben"); !slices.Equal(who, []string{"spammer drop done"}) {
		t.Errorf("throttled %q", who)
	}
	if said := s.ask("GET", "/api/v1/journal", "ben", "", 200); strings.Count(said, `"action":"drop"`) != 3 {
		t.Errorf("journal %s", said)
	}
	s.ask("DELETE", api+"/policy", "anna", "", 200)
	if burst := p.guard.ChannelPolicy(room).Limits[0].Burst; burst != 1 {
		t.Errorf("back to the program's burst, and it is %d", burst)
	}
}

// TestRestart_LaterProgramPolicyWins checks that a policy that the program sets later wins, even if
// people had changed the previous policy.
func TestRestart_LaterProgramPolicyWins(t *testing.T) {
	p := start(t, newPath(t))
	s := newSite(t, p.guard, dashboard.Options{Store: p.store})
	s.say("spammer", 1)
	set := func(channel string, burst int, more ...chatguard.Limit) {
		t.Helper()
		policy := chatguard.DefaultPolicy()
		policy.Limits[0].Burst, policy.Limits = burst, append(policy.Limits, more...)
		if err := setPolicy(p.guard, channel, policy); err != nil {
			t.Fatal(err)
		}
	}
	wantDifference := func(want string) {
		t.Helper()
		if said := s.ask("GET", api+"/policy/differences", "ben", "", 200); strings.TrimSpace(said) != `{"changes":[`+want+`]}` {
			t.Errorf("differences %s, want %s", said, want)
		}
	}
	set(room, 4)
	s.setBurst("anna", 2)
	wantDifference(`{"key":"limit.burst.burst","from":4,"to":2}`)
	set(room, 7)
	wantDifference("")
	s.setBurst("anna", 3)
	wantDifference(`{"key":"limit.burst.burst","from":7,"to":3}`)
	set("", 9, chatguard.Limit{Name: "all", Algorithm: chatguard.TokenBucket, Burst: 100, Refill: time.Second, Per: chatguard.PerUserEverywhere})
	// the room keeps its own, with the new limit
	wantDifference(`{"key":"limit.burst.burst","from":7,"to":3}`)
	s.ask("DELETE", api+"/policy", "anna", "", 200)
	if limits := p.guard.ChannelPolicy(room).Limits; limits[0].Burst != 7 || limits[len(limits)-1].Name != "all" {
		t.Errorf("back to %+v", limits)
	}
}

// TestRestart_NoStoreReadsNothing checks a dashboard without a Store, for a Guard whose state
// another store saves. The dashboard does not affect that state.
func TestRestart_NoStoreReadsNothing(t *testing.T) {
	path := newPath(t)
	p := start(t, path)
	stop := run(t, p.store)
	s := newSite(t, p.guard, dashboard.Options{})
	s.say("spammer", 1)
	s.ask("POST", api+"/pause", "anna", "", 200)
	s.ask("POST", api+"/resume", "anna", "", 200)
	s.end()
	stop()
	p.end()
	p = start(t, path)
	if v := say(t, p.guard, "spammer", 1); v.Allowed {
		t.Errorf("what was spent is forgotten: %+v", v)
	}
}

// setPolicy sets the policy of a channel, or of all channels if channel is empty.
func setPolicy(guard *chatguard.Guard, channel string, policy chatguard.Policy) error {
	if channel == "" {
		return guard.SetPolicy(policy)
	}
	return guard.SetChannelPolicy(channel, policy)
}
