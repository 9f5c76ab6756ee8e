package dashboard_test

import (
	"bytes"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/sqlitestore"
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
	inForce := p.guard.InForce(room)
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

// TestRestart_UndoReturnsToProgramPolicy checks that an undo restores the program's current policy,
// either the channel's own or that of all channels.
func TestRestart_UndoReturnsToProgramPolicy(t *testing.T) {
	for name, channel := range map[string]string{"its own": room, "that of all": ""} {
		t.Run(name, func(t *testing.T) {
			p := start(t, newPath(t))
			own := p.guard.Policy()
			set := func(burst int) {
				own.Limits[0].Burst = burst
				if err := setPolicy(p.guard, channel, own); err != nil {
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
			if burst := p.guard.ChannelPolicy(room).Limits[0].Burst; burst != want {
				t.Errorf("back to %d, want %d", burst, want)
			}
			set(6)
			if channel == room {
				want = 6
			} // Otherwise the undo made the policy the room's own, so set doesn't change it.
			if burst := p.guard.ChannelPolicy(room).Limits[0].Burst; burst != want {
				t.Errorf("set later, and it is %d, want %d", burst, want)
			}
			if told := get[differences](s, api+"/policy/differences", "ben").Changes; len(told) != 0 {
				t.Errorf("back, and it differs in %+v", told)
			}
		})
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

// TestRestart_InvalidChangeIsReplaced checks that an invalid change is replaced and logged.
func TestRestart_InvalidChangeIsReplaced(t *testing.T) {
	path := newPath(t)
	p := start(t, path)
	s := newSite(t, p.guard, dashboard.Options{Store: p.store})
	s.say("spammer", 1)
	s.setBurst("anna", 2)
	s.end()
	p.end()
	for says, refuse := range map[string]func(*chatguard.Guard, chatguard.Policy) error{
		"a live change no longer fits the program's policy": func(guard *chatguard.Guard, policy chatguard.Policy) error {
			policy.Limits[0].Name = "other"
			return guard.SetChannelPolicy(room, policy)
		},
		"live changes can't be used; the program's policy applies": func(guard *chatguard.Guard, _ chatguard.Policy) error {
			return guard.At(

				time.Now()).SetOverlay(room, func(p chatguard.Policy) chatguard.Policy {
				if p.Limits[0].Burst == 2 {
					p.Limits[0].Burst = -1
				}
				return p
			})

		},
	} {
		guard, lines := newGuard(t), new(bytes.Buffer)
		if err := refuse(guard, guard.Policy()); err != nil {
			t.Fatal(err)
		}
		before := guard.ChannelPolicy(room)
		p := startWith(t, path, guard, sqlitestore.Options{Logger: slog.New(slog.NewTextHandler(lines, nil))})
		if now := guard.ChannelPolicy(room); !reflect.DeepEqual(now, before) {
			t.Errorf("in force %+v", now)
		}
		if err := errors.Join(guard.SetOverlay(room, nil), guard.At(time.Now()).SetChannelPolicy(room, setBurst(before, 2))); err != nil {
			t.Fatal(err)
		}
		s := newSite(t, guard, dashboard.Options{Store: p.store})
		s.say("spammer", 1)
		if said := s.ask("GET", api+"/policy/differences", "ben", "", 200); strings.TrimSpace(said) != `{"changes":[]}` {
			t.Errorf("the program's own is told to differ: %s", said)
		}
		s.end()
		p.end()
		if !strings.Contains(lines.String(), says) {
			t.Errorf("the log doesn't say %q:\n%s", says, lines)
		}
	}
}

func setBurst(p chatguard.Policy, burst int) chatguard.Policy {
	p.Limits[0].Burst = burst
	return p
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
