//go:build !race

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
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
	now := d.control.Switches(hiddenID)
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
		if _, ok := scopes[route.pattern]; !ok && !strings.Contains(route.pattern, "{channel}") {
			t.Errorf("%s: say in scopes which channels it is about", route.pattern)
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
		if may := auth.Moderate.Allows(route.needs) && (isBound || !isAboutAll[route.pattern]); may == refused {
			t.Errorf("%s of the own channel: %s %s", route.pattern, own.Status, own.body)
		}
	}
	if after := d.stateOfHidden(hidden); after != before {
		t.Errorf("the other channel has changed from\n%s\nto\n%s", before, after)
	}
}

// isAboutAll has the routes for which a moderator of one channel needs access to all.
var isAboutAll = map[string]bool{"GET /nodes": true}

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

// A person with rights in all channels may do what is about all of them, and see the metrics, the
// reasons for not being ready and changes of the whole installation, as far as in the channel with
// the least rights.
func TestScope_AllChannels(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, twoChannels, addMembers)
	d.wantStatus("a token", http.StatusOK, "POST", "/api/v1/tokens", json.RawMessage(`{"name": "berta", "role": "view"}`), asOwner)
	d.breakDatabase(time.Minute)
	wantProbes := func(rights map[string]auth.Access, as func(*http.Request), metrics int) {
		t.Helper()
		d.wantStatus(fmt.Sprintf("%v: the metrics", rights), metrics, "GET", "/metrics", nil, setHeader("X-Forwarded-For", "192.0.2.1"), as)
		if a := d.do("GET", "/readyz", nil, as); strings.Contains(string(a.body), "reasons") != (metrics == http.StatusOK) {
			t.Errorf("%v: readiness: %s", rights, a.body)
		}
	}
	for _, c := range []struct {
		rights  map[string]auth.Access
		nodes   int
		changes int
		login   int
	}{
		{map[string]auth.Access{channelID: auth.Own}, 403, 0, 403},
		{map[string]auth.Access{channelID: auth.Own, hiddenID: auth.View}, 200, 1, 403},
		{map[string]auth.Access{channelID: auth.View, hiddenID: auth.Own}, 200, 1, 403},
		{map[string]auth.Access{channelID: auth.Own, hiddenID: auth.Own}, 200, 1, 200},
	} {
		as := addCookie(d.startMember(members, auth.Identity{Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: c.rights}))
		wantProbes(c.rights, as, c.nodes)
		d.wantStatus(fmt.Sprintf("%v: the nodes", c.rights), c.nodes, "GET", "/api/v1/nodes", nil, as)
		d.wantStatus(fmt.Sprintf("%v: the login", c.rights), c.login, "GET", "/api/v1/login", nil, as)
		if page := decode[auditPage](t, d.do("GET", "/api/v1/audit?channel="+channelID, nil, as)); len(page.Changes) != c.changes {
			t.Errorf("%v: shown are the changes %+v, want %d", c.rights, page.Changes, c.changes)
		}
	}
	none := map[string]auth.Access{}
	wantProbes(none, addCookie(d.startMember(members, auth.Identity{Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: none})), http.StatusForbidden)
}

// Until all channels are known, a person has no rights that are about all of them: perhaps they have
// none in one that isn't known yet.
func TestScope_UnknownChannel(t *testing.T) {
	members, addMembers := withMembers()
	known := atomic.Bool{}
	d := dash(t, addMembers, func(o *Options) { o.Login, o.AllKnown = &fakeLogin{}, known.Load })
	as := addCookie(d.startMember(members, auth.Identity{
		Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.Own},
	}))
	d.wantStatus("a link to everything", http.StatusForbidden, "POST", "/api/v1/links", json.RawMessage(`{"name": "clara", "role": "own"}`), as)
	d.wantStatus("the own channel", http.StatusOK, "GET", "/api/v1/status?channel="+channelID, nil, as)
	known.Store(true)
	d.wantStatus("once all are known", http.StatusOK, "GET", "/api/v1/login", nil, as)
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
		{map[string]auth.Access{channelID: auth.Own, hiddenID: auth.View}, everywhere.Name, http.StatusForbidden},
		{map[string]auth.Access{channelID: auth.Help}, "burst", http.StatusOK},
		{map[string]auth.Access{channelID: auth.Own, hiddenID: auth.Help}, everywhere.Name, http.StatusOK},
	} {
		as := addCookie(d.startMember(members, auth.Identity{Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: c.rights}))
		d.wantStatus(fmt.Sprintf("%v: %d more messages of %s", c.rights, 5, c.limit), c.want, "POST", path, json.RawMessage(`{"limit": "`+c.limit+`", "messages": 5}`), as)
	}
}

// Moderators may change raid mode. Notices need own access, or the access of moderators before that,
// and the moderators' role needs own access.
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
		{"notices", notifying, []auth.Access{auth.ModerateNotices, auth.Own}, `"notices\" needs own access`},
		{"both", both, []auth.Access{auth.ModerateNotices, auth.Own}, `"notices\" needs own access`},
		{"moderators", trusting, []auth.Access{auth.Own}, `"moderators\" needs own access`},
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
