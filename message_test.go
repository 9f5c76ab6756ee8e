package chatguard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMessageKind_Names(t *testing.T) {
	if last := MessageKind(1 << (len(messageKindNames) - 1)); last != WatchStreak {
		t.Errorf("the last kind is %d, but its name is at %d", WatchStreak, last)
	}
	var p Policy
	if err := json.Unmarshal([]byte(`{"exempt_messages":["bits","watch_streak"]}`), &p); err != nil || len(p.ExemptMessages) != 2 || p.ExemptMessages[1] != WatchStreak {
		t.Errorf("%v, %v", p.ExemptMessages, err)
	}
	if data, err := json.Marshal(p); err != nil || !strings.Contains(string(data), `"exempt_messages":["bits","watch_streak"]`) {
		t.Errorf("%s, %v", data, err)
	}
	const want = `unknown kind of message "bit" (known: bits, power_up, hype_chat, reward, highlighted, resub, watch_streak)`
	if err := json.Unmarshal([]byte(`{"exempt_messages":["bit"]}`), &p); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for kind, name := range map[MessageKind]string{0: "ordinary", Resub: "resub", Bits | Highlighted: "bits, highlighted"} {
		var back MessageKind
		if text, _ := kind.MarshalText(); string(text) != name || back.UnmarshalText(text) != nil || back != kind {
			t.Errorf("%d is %q, and %q is %d", kind, text, name, back)
		}
	}
	for _, wrong := range []MessageKind{0, Bits | Resub, WatchStreak << 1} {
		if err := (Policy{ExemptMessages: []MessageKind{Resub, wrong}}).Validate(); err == nil || !strings.Contains(err.Error(), "exempt_messages: ") {
			t.Errorf("%d: %v", wrong, err)
		}
	}
}

// An exempt message is not judged and spends nothing; any other one of its author is.
func TestExemptMessages(t *testing.T) {
	p := Policy{ExemptMessages: []MessageKind{Bits, Resub}, Limits: []Limit{TokenBucketLimit("burst", 1, time.Hour)}}
	g := mustNew(t, p, nil)
	say := func(user string, kind MessageKind) Message {
		return Message{ChannelID: "1", User: User{ID: user}, Kind: kind, SentAt: time.Unix(1, 0)}
	}
	check := func(user string, kind MessageKind, allowed, exempt bool) {
		t.Helper()
		m := say(user, kind)
		e := explain(t, g, m)
		v, err := g.Check(t.Context(), m)
		must(t, err)
		if v.Allowed != allowed || v.Exempt != exempt || e.Allowed != allowed || e.Exempt != exempt {
			t.Errorf("%s of %s: %v, explained as %v", kind, user, v, e.Verdict)
		}
	}
	check("anna", Bits, true, true)
	check("anna", Highlighted|Resub, true, true)
	check("anna", Highlighted, true, false)
	check("anna", 0, false, false)
	check("anna", Bits, true, true)
	verdicts := make([]Verdict, 3)
	must(t, g.CheckAll(t.Context(), []Message{say("berta", 0), say("berta", Resub), say("berta", Reward)}, verdicts))
	if !verdicts[0].Allowed || verdicts[0].Exempt || !verdicts[1].Exempt || verdicts[2].Allowed {
		t.Errorf("together: %v", verdicts)
	}
	must(t, g.at(time.Unix(1, 0)).SetUserOverride(Key{ChannelID: "1", UserID: "anna"}, UserOverride{Exempt: ExemptNever}))
	check("anna", Bits, false, false)
}

func TestRoles_JSON(t *testing.T) {
	for text, want := range map[string]Roles{
		`[]`: 0, `null`: 0, `["everyone"]`: RolesOf(Everyone), `["vip","broadcaster","vip"]`: RolesOf(VIP, Broadcaster), `["first_timer"]`: RolesOf(FirstTimer),
	} {
		var got Roles
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %b, %v", text, got, err)
		}
	}
	data, err := json.Marshal(struct {
		Set  Roles
		List []Role
	}{RolesOf(VIP, Broadcaster), []Role{VIP, Everyone}})
	if want := `{"Set":["broadcaster","vip"],"List":["vip","everyone"]}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v", data, err)
	}
}

func TestRole_InvalidJSON(t *testing.T) {
	const known = " (known: first_timer, everyone, subscriber, vip, moderator, lead_moderator, broadcaster)"
	for text, want := range map[string]string{
		`["king"]`:  `unknown role "king"` + known,
		`[null]`:    `a role must be a name` + known,
		`["vip",3]`: `a role must be a name` + known,
		`[["vip"]]`: `a role must be a name` + known,
		`"vip"`:     `roles must be a list of names` + known,
		// the bytes 3 and 6 in base64
		`"AwY="`:           `roles must be a list of names` + known,
		`7`:                `roles must be a list of names` + known,
		`{"vip":true}`:     `roles must be a list of names` + known,
		`["vip","king",3]`: `unknown role "king"` + known,
	} {
		var roles Roles
		if err := json.Unmarshal([]byte(text), &roles); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
		var p Policy
		err := json.Unmarshal([]byte(`{"exempt":`+text+`}`), &p)
		if err == nil || strings.Contains(err.Error(), "base64") || len(p.Exempt) > 0 && text[0] != '[' {
			t.Errorf("exempt %s: %v, %v", text, p.Exempt, err)
		}
	}
}

func TestRole_Unknown(t *testing.T) {
	for _, r := range []Role{7, 256, 65535} {
		if name, err := r.MarshalText(); err == nil || r.String() != fmt.Sprintf("role(%d)", uint16(r)) {
			t.Errorf("%s is %s", r, name)
		}
	}
}
