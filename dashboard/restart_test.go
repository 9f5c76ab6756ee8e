package dashboard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/internal/journal"
)

func TestARestartGoesOnWhereTheLastProcessEnded(t *testing.T) {
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
	inForce := p.guard.InForce(room)
	if p.guard.Policy(room).Limits[0].Burst != 2 || !slices.ContainsFunc(inForce.Limits, func(l chatguard.Limit) bool { return l.Name == "raid" }) {
		t.Errorf("in force %+v", inForce)
	}
	s = newSite(t, p.guard, dashboard.Options{Store: p.store})
	said := s.ask("GET", "/api/v1/channels", "ben", "", 200)
	if !strings.Contains(said, `"raid_until"`) || !strings.Contains(said, `{"id":"silent","login":"silent","paused_by":"anna"}`) {
		t.Errorf("channels %s", said)
	}
	if who := s.throttled("ben"); !slices.Equal(who, []string{"spammer drop done"}) {
		t.Errorf("throttled %q", who)
	}
	if said := s.ask("GET", "/api/v1/journal", "ben", "", 200); strings.Count(said, `"action":"drop"`) != 3 {
		t.Errorf("journal %s", said)
	}
	s.ask("DELETE", api+"/policy", "anna", "", 200)
	if burst := p.guard.Policy(room).Limits[0].Burst; burst != 1 {
		t.Errorf("back to the program's burst, and it is %d", burst)
	}
}

// TestTheProgramsPolicyIsWhatOneGoesBackTo: the channel's own or that of all channels, as it is by then.
func TestTheProgramsPolicyIsWhatOneGoesBackTo(t *testing.T) {
	for name, channel := range map[string]string{"its own": room, "that of all": ""} {
		t.Run(name, func(t *testing.T) {
			p := start(t, newPath(t))
			own := p.guard.Policy("")
			set := func(burst int) {
				own.Limits[0].Burst = burst
				if err := p.guard.SetPolicy(channel, own, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			s := newSite(t, p.guard, dashboard.Options{Store: p.store})
			s.say("spammer", 1)
			set(4)
			s.setBurst("anna", 2)
			s.setBurst("anna", 3)
			want := 4
			if channel == "" {
				want = 5
				set(5)
			}
			type differences struct{ Changes []journal.Change }
			told := get[differences](s, api+"/policy/differences", "ben").Changes
			if len(told) != 1 || told[0].Key != "limit.burst.burst" || told[0].From != float64(want) || told[0].To != 3.0 {
				t.Errorf("differences %+v, want from %d", told, want)
			}
			s.ask("DELETE", api+"/policy", "anna", "", 200)
			if burst := p.guard.Policy(room).Limits[0].Burst; burst != want {
				t.Errorf("back to %d, want %d", burst, want)
			}
			set(6)
			if told := get[differences](s, api+"/policy/differences", "ben").Changes; channel == room && len(told) != 0 {
				t.Errorf("back, and it differs in %+v", told)
			}
		})
	}
}

// TestADashboardWithoutAStoreTakesNothingFromOne that its Guard has all the same.
func TestADashboardWithoutAStoreTakesNothingFromOne(t *testing.T) {
	path := newPath(t)
	p := start(t, path)
	s := newSite(t, p.guard, dashboard.Options{})
	s.say("spammer", 1)
	s.ask("POST", api+"/pause", "anna", "", 200)
	s.ask("POST", api+"/resume", "anna", "", 200)
	s.end()
	p.end()
	p = start(t, path)
	if v := say(t, p.guard, "spammer", 1); v.Allowed {
		t.Errorf("what was spent is forgotten: %+v", v)
	}
}
