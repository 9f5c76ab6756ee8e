//go:build !race

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
)

// stateOfHidden returns everything about the hidden channel that the owner can see, apart from
// times and rates.
func (d *dashboard) stateOfHidden(entry chatguard.EntryID) string {
	d.Helper()
	d.flush()
	var all strings.Builder
	for _, path := range []string{
		"/channels/8/policy", "/channels/8/policy/revisions", "/channels/8/settings", "/channels/8/overrides", "/channels/8/users/42/notes",
		"/audit?channel=8", "/journal?channel=8", fmt.Sprintf("/journal?channel=8&entry=%d", entry),
	} {
		a := d.do("GET", "/api/v1"+path, nil, asOwner)
		if a.StatusCode != http.StatusOK {
			d.Fatalf("%s: %s %s", path, a.Status, a.body)
		}
		fmt.Fprintf(&all, "%s: %s\n", path, a.body)
	}
	now := d.control.Switches.Of(hiddenID)
	fmt.Fprintf(&all, "%+v %+v", now.PausedBy, now.RaidUntil)
	return all.String()
}

// A moderator of one of two channels can use every route for their channel, as far as a moderator
// may, and no route shows or changes anything of the other channel. A route that isn't classified
// fails the test.
func TestScope_OtherChannelIsInvisible(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, twoChannels, addMembers)
	mine := d.say(spammer, 5).EntryID
	hidden := d.fillHidden()
	before := d.stateOfHidden(hidden)
	as := addCookie(d.startMember(members, auth.Identity{
		Name: "clara", Access: auth.Moderate, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.Moderate},
	}))

	for _, route := range d.server.api() {
		if route.over == nil || route.needs == auth.Any && !strings.HasSuffix(route.pattern, " /session") {
			t.Fatalf("%s: say which access it needs, and over which channels", route.pattern)
		}
		ask := func(channel string, entry chatguard.EntryID) answer {
			method, path, _ := strings.Cut(route.pattern, " ")
			path = strings.NewReplacer("{channel}", channel, "{id}", spammer.ID, "{entry}", fmt.Sprint(entry), "{note}", "1", "{pardon}", "1").Replace(path)
			sent := d.validRequests(channel)[method+" "+path]
			if slices.Contains(route.query, "channel") && channel != "" {
				path += "?channel=" + channel
			}
			if sent.adjust == nil || sent.body != nil {
				sent.adjust = setHeader("If-Match", "*")
			}
			return d.do(method, "/api/v1"+path, sent.body, sent.adjust, func(r *http.Request) { r.Header.Del("Authorization") }, as)
		}
		if route.pattern == "DELETE /session" || route.pattern == "GET /live" { // tested on their own
			continue
		}
		theirs := ask(hiddenID, hidden)
		for _, a := range []answer{theirs, ask("", hidden)} {
			if strings.Contains(strings.ToLower(string(a.body)), "hidden") {
				t.Errorf("%s shows %s", route.pattern, a.body)
			}
		}
		isBound := strings.Contains(route.pattern, "{channel}") || strings.Contains(route.pattern, "{entry}") || slices.Contains(route.query, "channel")
		if isBound && theirs.StatusCode != http.StatusNotFound {
			t.Errorf("%s of the other channel: %s %s", route.pattern, theirs.Status, theirs.body)
		}
		if a := ask("", hidden); slices.Contains(route.query, "channel") && a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s without a channel: %s %s", route.pattern, a.Status, a.body)
		}
		own := ask(channelID, mine)
		refused := own.StatusCode == http.StatusUnauthorized || own.StatusCode == http.StatusForbidden
		if may := auth.Moderate.Allows(route.needs) && (isBound || !isOverInstallation(route.pattern)); may == refused {
			t.Errorf("%s of the own channel: %s %s", route.pattern, own.Status, own.body)
		}
	}
	if after := d.stateOfHidden(hidden); after != before {
		t.Errorf("the other channel has changed from\n%s\nto\n%s", before, after)
	}
}

// Recordings of another channel can't be tried in the Lab.
func TestScope_LabRecordings(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, twoChannels, addMembers)
	d.fillHidden()
	d.flush()
	as := addCookie(d.startMember(members, auth.Identity{
		Name: "clara", Access: auth.View, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.View},
	}))
	for channel, want := range map[string]int{channelID: http.StatusOK, hiddenID: http.StatusNotFound} {
		a := d.do("POST", "/api/v1/lab", json.RawMessage(`{"lanes": [{"limits": []}], "traffic": {"kind": "recorded", "channel": "`+channel+`", "last": "1h"}}`), as)
		if a.StatusCode != want {
			t.Errorf("recordings of %s: %s %s", channel, a.Status, a.body)
		}
	}
}

// The broadcaster of all channels that are known may use all routes but those over the
// installation.
func TestScope_OnlyChannel(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, addMembers, func(o *Options) { o.Login = &fakeLogin{} })
	as := addCookie(d.startMember(members, auth.Identity{
		Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.Own},
	}))
	for _, route := range d.server.api() {
		if route.pattern == "DELETE /session" || route.pattern == "GET /live" { // tested on their own
			continue
		}
		method, path, _ := strings.Cut(route.pattern, " ")
		path = strings.NewReplacer("{channel}", channelID, "{id}", spammer.ID, "{entry}", "1", "{note}", "1", "{pardon}", "1").Replace(path)
		if slices.Contains(route.query, "channel") {
			path += "?channel=" + channelID
		}
		a := d.do(method, "/api/v1"+path, nil, as)
		if refused := a.StatusCode == http.StatusForbidden; refused != isOverInstallation(route.pattern) {
			t.Errorf("%s: %s %s", route.pattern, a.Status, a.body)
		} else if refused && !strings.Contains(string(a.body), "access to the whole installation. Name its owners in [web] owners") {
			t.Errorf("%s: %s", route.pattern, a.body)
		}
	}
}

// isOverInstallation reports whether a route changes or shows something of no channel.
func isOverInstallation(route string) bool {
	_, path, _ := strings.Cut(route, " ")
	for _, resource := range []string{"/webhooks", "/nodes", "/login", "/access", "/tokens", "/links", "/sessions", "/check"} {
		if strings.HasPrefix(path, resource) {
			return true
		}
	}
	return false
}

// Only an owner may do what is about the whole installation, and sees the metrics, the reasons for
// not being ready and changes of the whole installation. Rights in all channels aren't enough.
func TestScope_Installation(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, twoChannels, addMembers)
	d.wantStatus("a token", http.StatusOK, "POST", "/api/v1/tokens", json.RawMessage(`{"name": "berta", "role": "view"}`), asOwner)
	d.breakDatabase(time.Minute)
	for _, c := range []struct {
		rights  map[string]auth.Access
		status  int
		changes int
	}{
		{nil, 200, 1},
		{map[string]auth.Access{}, 403, -1},
		{map[string]auth.Access{channelID: auth.Own}, 403, 0},
		{map[string]auth.Access{channelID: auth.Own, hiddenID: auth.Own}, 403, 0},
	} {
		as := addCookie(d.startMember(members, auth.Identity{Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: c.rights}))
		for _, path := range []string{"/metrics", "/api/v1/nodes", "/api/v1/login", "/api/v1/access"} {
			d.wantStatus(fmt.Sprintf("%v: %s", c.rights, path), c.status, "GET", path, nil, setHeader("X-Forwarded-For", "192.0.2.1"), as)
		}
		if a := d.do("GET", "/readyz", nil, as); strings.Contains(string(a.body), "reasons") != (c.status == http.StatusOK) {
			t.Errorf("%v: readiness: %s", c.rights, a.body)
		}
		if c.changes < 0 {
			continue
		}
		if page := decode[auditAnswer](t, d.do("GET", "/api/v1/audit?channel="+channelID, nil, as)); len(page.Changes) != c.changes {
			t.Errorf("%v: shown are the changes %+v, want %d", c.rights, page.Changes, c.changes)
		}
	}
}

// A grant in a limit across all channels changes what a user may do in channels that are invisible
// to a moderator of one.
func TestScope_GrantEverywhere(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, twoChannels, addMembers, addLimits(t, everywhere))
	d.say(spammer, 1)
	path := "/api/v1/channels/" + channelID + "/users/" + spammer.ID + "/grant"
	for _, c := range []struct {
		rights map[string]auth.Access
		limit  string
		want   int
	}{
		{map[string]auth.Access{channelID: auth.Own}, everywhere.Name, http.StatusForbidden},
		{map[string]auth.Access{channelID: auth.Own, hiddenID: auth.Own}, everywhere.Name, http.StatusForbidden},
		{map[string]auth.Access{channelID: auth.Help}, "burst", http.StatusOK},
		{nil, everywhere.Name, http.StatusOK},
	} {
		as := addCookie(d.startMember(members, auth.Identity{Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: c.rights}))
		d.wantStatus(fmt.Sprintf("%v: %d more messages of %s", c.rights, 5, c.limit), c.want, "POST", path, json.RawMessage(`{"limit": "`+c.limit+`", "messages": 5}`), as)
	}
}

// Moderators may change raid mode. Notices need owner access, or the access of moderators before
// that, and the moderators' role needs owner access.
func TestSettings_NeedAccess(t *testing.T) {
	d := dash(t)
	was := decode[settingsShown](t, d.do("GET", channelPath+"/settings", nil, asOwner)).Settings
	raiding, notifying, both, trusting := was, was, was, was
	raiding.Raid.Burst = 99
	notifying.Notices.Text = "@{name}, slower"
	both.Raid, both.Notices = raiding.Raid, notifying.Notices
	trusting.Moderators = auth.Help
	holders := map[auth.Access]func(*http.Request){auth.Own: asOwner}
	for _, access := range []auth.Access{auth.Help, auth.Moderate, auth.ModerateNotices} {
		holders[access] = setBearer(d.newToken(access))
	}
	for _, c := range []struct {
		name   string
		wanted control.Settings
		may    []auth.Access
		says   string
	}{
		{"raid mode", raiding, []auth.Access{auth.Moderate, auth.ModerateNotices, auth.Own}, ""},
		{"notices", notifying, []auth.Access{auth.ModerateNotices, auth.Own}, `"notices\" needs owner access`},
		{"both", both, []auth.Access{auth.ModerateNotices, auth.Own}, `"notices\" needs owner access`},
		{"moderators", trusting, []auth.Access{auth.Own}, `"moderators\" needs owner access`},
	} {
		for access, as := range holders {
			decode[settingsSaved](t, d.do("PUT", channelPath+"/settings", was, asOwner, setHeader("If-Match", "*")))
			a := d.do("PUT", channelPath+"/settings", c.wanted, as, setHeader("If-Match", "*"))
			may := slices.Contains(c.may, access)
			if may != (a.StatusCode == http.StatusOK) || !may && a.StatusCode != http.StatusForbidden {
				t.Errorf("%s by %s: %s %s", c.name, access, a.Status, a.body)
			}
			if access == auth.Moderate && !strings.Contains(string(a.body), c.says) {
				t.Errorf("%s: %s", c.name, a.body)
			}
			changed := decode[settingsShown](t, d.do("GET", channelPath+"/settings", nil, asOwner)).Settings != was
			if changed != may {
				t.Errorf("%s by %s: changed %v", c.name, access, changed)
			}
		}
	}
	decode[settingsSaved](t, d.do("PUT", channelPath+"/settings", notifying, asOwner, setHeader("If-Match", "*")))
	d.wantStatus("a moderator restores the configuration's notices", http.StatusForbidden, "DELETE", channelPath+"/settings", nil, holders[auth.Moderate], setHeader("If-Match", "*"))
	decode[settingsSaved](t, d.do("PUT", channelPath+"/settings", raiding, asOwner, setHeader("If-Match", "*")))
	decode[settingsSaved](t, d.do("DELETE", channelPath+"/settings", nil, holders[auth.Moderate], setHeader("If-Match", "*")))
}
