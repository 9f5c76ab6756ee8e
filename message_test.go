package chatguard

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPolicy_ExemptKinds(t *testing.T) {
	var p Policy
	if err := json.Unmarshal([]byte(`{"exempt_messages":["bits","my:kind"]}`), &p); err != nil || !slices.Equal(p.ExemptKinds, []string{"bits", "my:kind"}) || p.Validate() != nil {
		t.Errorf("%v, %v", p.ExemptKinds, err)
	}
	if data, err := json.Marshal(p); err != nil || !strings.Contains(string(data), `"exempt_messages":["bits","my:kind"]`) {
		t.Errorf("%s, %v", data, err)
	}
	for _, wrong := range [][]string{{""}, {"a b"}, {"bits", "bits"}, {strings.Repeat("x", 65)}, make([]string, 65)} {
		if err := (Policy{ExemptKinds: wrong}).Validate(); err == nil || !strings.Contains(err.Error(), "exempt_messages: ") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// An exempt message is not judged and spends nothing; any other one of its author is.
func TestExemptKinds(t *testing.T) {
	p := Policy{ExemptKinds: []string{"bits", "resub"}, Limits: []Limit{TokenBucketLimit("burst", 1, time.Hour)}}
	g := mustNew(t, p, nil)
	say := func(user string, kinds ...string) Message {
		return Message{ChannelID: "1", User: User{ID: user}, Kinds: kinds, SentAt: time.Unix(1, 0)}
	}
	check := func(allowed, exempt bool, user string, kinds ...string) {
		t.Helper()
		m := say(user, kinds...)
		e := explain(t, g, m)
		v, err := g.Check(t.Context(), m)
		must(t, err)
		if v.Allowed != allowed || v.Exempt != exempt || e.Allowed != allowed || e.Exempt != exempt {
			t.Errorf("%s of %s: %v, explained as %v", kinds, user, v, e.Verdict)
		}
	}
	check(true, true, "anna", "bits")
	check(true, true, "anna", "highlighted", "resub")
	check(true, false, "anna", "highlighted")
	check(false, false, "anna")
	check(true, true, "anna", "bits")
	verdicts := make([]Verdict, 3)
	must(t, g.CheckAll(t.Context(), []Message{say("berta"), say("berta", "resub"), say("berta", "reward")}, verdicts))
	if !verdicts[0].Allowed || verdicts[0].Exempt || !verdicts[1].Exempt || verdicts[2].Allowed {
		t.Errorf("together: %v", verdicts)
	}
	must(t, g.at(time.Unix(1, 0)).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "anna"}, UserOverride{Exempt: ExemptNever}))
	check(false, false, "anna", "bits")
}

func TestRoles_JSON(t *testing.T) {
	data, err := json.Marshal(struct {
		None, Some Roles
		List       []Role
	}{nil, Roles{vip, broadcaster}, []Role{vip, RoleEveryone}})
	if want := `{"None":[],"Some":["vip","broadcaster"],"List":["vip","everyone"]}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v", data, err)
	}
	var back Roles
	if err := json.Unmarshal([]byte(`["vip","broadcaster"]`), &back); err != nil || !slices.Equal(back, Roles{vip, broadcaster}) {
		t.Errorf("%v, %v", back, err)
	}
}
