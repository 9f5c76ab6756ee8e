//go:build !race

package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// wantAudits requests changes and fails the test unless it gets exactly those wanted.
func (d *dashboard) wantAudits(query string, more bool, want ...string) {
	d.Helper()
	got := decode[auditAnswer](d, d.do("GET", "/api/v1/audit?"+query, nil, asOwner))
	var said []string
	for _, a := range got.Changes {
		said = append(said, fmt.Sprintf("%d %s %s", a.ID, a.Action, a.UserID))
	}
	if !slices.Equal(said, want) || got.More != more {
		d.Errorf("%s: %q, more %v; want %q, %v", query, said, got.More, want, more)
	}
}

func TestAudit_Filters(t *testing.T) {
	d := dash(t)
	anna := d.signIn(map[string]string{"code": "good-code"})
	user := channelPath + "/users/" + berta.ID
	decode[amended](t, d.do("PUT", user+"/override", chatguard.UserOverride{Timezone: "Europe/Berlin"}, asOwner))
	decode[amended](t, d.do("POST", user+"/grant", grantWanted{Messages: 7}, asOwner))
	decode[switchedTo](t, d.do("POST", channelPath+"/pause", nil, addCookie(anna)))
	decode[amended](t, d.do("PUT", user+"/override", chatguard.UserOverride{Exempt: chatguard.ExemptNever}, asOwner))

	d.wantAudits("", false, "4 override 81", "3 pause ", "2 grant 81", "1 override 81")
	d.wantAudits("user=81", false, "4 override 81", "2 grant 81", "1 override 81")
	d.wantAudits("author=anna", false, "3 pause ")
	d.wantAudits("author=link:anna", false, "3 pause ")
	d.wantAudits("author=token:anna", false)
	d.wantAudits("action=grant", false, "2 grant 81")
	d.wantAudits("n=2", true, "4 override 81", "3 pause ")
	d.wantAudits("n=2&before=3", false, "2 grant 81", "1 override 81")

	rows := d.do("GET", "/api/v1/audit?format=csv&action=override&n=1", nil, asOwner).parseTable(t)
	want := []string{
		`{"from":{"timezone":"Europe/Berlin"},"to":{"exempt":"never"}}`,
		`{"from":{},"to":{"timezone":"Europe/Berlin"}}`,
	}
	if got := column(t, rows, "detail"); !slices.Equal(got, want) || !slices.Equal(rows[0], auditColumns) {
		t.Errorf("exported %q", rows)
	}
}

// A change names the user by their login in that channel, if it is known.
func TestAudit_NamesUser(t *testing.T) {
	d := dash(t)
	d.say(berta, 1)
	decode[amended](t, d.do("POST", channelPath+"/users/"+berta.ID+"/grant", grantWanted{Messages: 7}, asOwner))
	decode[amended](t, d.do("POST", channelPath+"/users/90/exempt", nil, asOwner))
	decode[switchedTo](t, d.do("POST", channelPath+"/pause", nil, asOwner))
	var logins []string
	for _, c := range decode[auditAnswer](t, d.do("GET", "/api/v1/audit", nil, asOwner)).Changes {
		logins = append(logins, c.Login)
	}
	if !slices.Equal(logins, []string{"", "", "berta"}) {
		t.Errorf("the users are called %q", logins)
	}
}

func TestAudit_Refused(t *testing.T) {
	d := dash(t)
	var known []string
	for _, action := range journal.AuditActions {
		known = append(known, fmt.Sprintf(`\"%s\"`, action))
	}
	for query, says := range map[string]string{
		"action=kick":    strings.Join(known, " "),
		"before=x":       "whole number",
		"n=1000":         "from 1 to 500",
		"author=" + long: "256 bytes at most",
	} {
		d.wantProblem(query, "GET", "/api/v1/audit?"+query, nil, owned, 422, says)
	}
	d.store.reads.set(errors.New("damaged: /secret/path"))
	d.wantProblem("in trouble", "GET", "/api/v1/audit?format=csv", nil, owned, 503, "The audit can't be read now: the database is failing.")
}
