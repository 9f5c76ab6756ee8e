package chatguard

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func newCascade() Limit { return CascadeLimit("burst", 3, 4*time.Second, 2, 20*time.Second) }

// newRoom is a limit of a room that keeps a reserve.
func newRoom() Limit {
	room := TokenBucketLimit("room", 10, time.Second)
	room.Per, room.Reserve = PerChannel, 4
	return room
}

func newGuardWithLimits(t testing.TB, limits ...Limit) *Guard {
	t.Helper()
	return newEnforcingGuard(t, func(p *Policy) { p.Limits = limits }, nil)
}

func TestVerdict_Low(t *testing.T) {
	g := newGuardWithLimits(t, newCascade(), newRoom())
	for range 3 {
		if v := mustCheck(t, g, messageFrom("anna", 0)); v.Priority != Normal || strings.Contains(string(v.AppendJSON(nil)), "priority") {
			t.Fatalf("%+v", v)
		}
	}
	v := mustCheck(t, g, messageFrom("anna", 0))
	if got, want := v.String(), "allowed at low priority, 1 left of burst"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := v.LogValue().String(); !strings.Contains(got, "priority=low") {
		t.Errorf("a log has %s", got)
	}
	text := string(v.AppendJSON(nil))
	var read Verdict
	if err := json.Unmarshal([]byte(text), &read); err != nil || read.Priority != Low || !strings.Contains(text, `"priority":"low"`) {
		t.Errorf("%s, read as %+v, %v", text, read, err)
	}
	for range 3 {
		mustCheck(t, g, messageFrom("berta", 0))
	}
	if v := mustCheck(t, g, messageFrom("berta", 0)); v.Priority != Low || v.Limit != "room" || v.Remaining != 3 || v.Strikes != 0 {
		t.Errorf("a low message that the room keeps its reserve from: %+v", v)
	}
	if err := new(Priority).UnmarshalText([]byte("high")); err == nil || err.Error() != `unknown priority "high" (known: normal, low)` {
		t.Error(err)
	}
}

func TestCascade_Quota(t *testing.T) {
	g := newGuardWithLimits(t, newCascade())
	v := mustCheck(t, g, messageFrom("7", 0))
	if got, want := g.Quotas(v).String(), `"burst";q=5;w=40`; got != want || v.Remaining != 4 || !v.ResetAt.Equal(monday.Add(4*time.Second)) {
		t.Errorf("quota %s, want %s; verdict %+v", got, want, v)
	}
	must(t, g.SetUserOverride(Key{ChannelID: "1", UserID: "7"}, UserOverride{Limits: map[string]Override{"burst": {ExtraBurst: 6, ExtraRefill: 10 * time.Second}}}))
	if got, want := g.Quotas(v).String(), `"burst";q=9;w=60`; got != want {
		t.Errorf("quota %s, want %s", got, want)
	}
}

// TestCascade_Refund gives back messages of both priorities. The second bucket gets back first what
// is missing from it.
func TestCascade_Refund(t *testing.T) {
	g := newGuardWithLimits(t, newCascade())
	var verdicts []Verdict
	for range 5 {
		verdicts = append(verdicts, mustCheck(t, g, messageFrom("7", 0)))
	}
	at := g.At(monday)
	for i, want := range []Priority{Low, Low, Normal} {
		must(t, at.Refund(verdicts[4-i]))
		if v, err := g.Peek(messageFrom("7", 0)); err != nil || !v.Allowed || v.Priority != want {
			t.Errorf("after %d refunds: %+v, %v", i+1, v, err)
		}
	}
}

// TestCascade_Pardon gives back what a throttled message has counted in the bucket that would have
// paid it.
func TestCascade_Pardon(t *testing.T) {
	counting := newCascade()
	counting.CountThrottled = true
	for sent, want := range map[int]Priority{0: Normal, 3: Low} {
		g := newGuardWithLimits(t, counting, FixedWindowLimit("minute", sent+1, time.Minute))
		for range sent + 1 {
			mustCheck(t, g, messageFrom("8", 0))
		}
		for range sent {
			mustCheck(t, g, messageFrom("7", 0))
		}
		big := messageFrom("7", 0)
		big.Cost = 2
		v := mustCheck(t, g, big)
		if v.Allowed || v.Priority != want || v.Counted != 2 {
			t.Fatalf("after %d messages: %+v", sent, v)
		}
		before, err := g.Explain(messageFrom("7", 0))
		must(t, err)
		if done, err := g.At(monday).Pardon(v); !done || err != nil {
			t.Fatal(done, err)
		}
		after, err := g.Explain(messageFrom("7", 0))
		must(t, err)
		more := [2]float64{after.Limits[0].Picture.Tokens - before.Limits[0].Picture.Tokens, after.Limits[0].Picture.ExtraTokens - before.Limits[0].Picture.ExtraTokens}
		if (want == Normal && more != [2]float64{2, 0}) || (want == Low && more != [2]float64{0, 2}) {
			t.Errorf("after %d messages, a pardon gives back %v", sent, more)
		}
	}
}

// TestReserve_Invalid checks the errors of a limit that can't keep its reserve.
func TestReserve_Invalid(t *testing.T) {
	room, reserving, whole := newRoom(), newCascade(), newRoom()
	room.Roles = map[Role]Override{VIP: {Burst: 4}}
	reserving.Reserve, whole.Reserve = 1, 10
	for want, limit := range map[string]Limit{
		`chatguard: limit "room": for a role: reserve is 4, want 0 to 3, less than the limit holds`: room,
		`chatguard: limit "room": reserve is 10, want 0 to 9, less than the limit holds`:            whole,
		`chatguard: limit "burst": cascade has no "reserve": set it on the other limits`:            reserving,
	} {
		if err := (Policy{Limits: []Limit{limit}}).Validate(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
