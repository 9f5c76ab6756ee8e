package chatguard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

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
