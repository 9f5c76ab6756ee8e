//go:build !race

package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/live"
)

// An amended user leaves the board at once, and the feed says so.
func TestAmendments_UserLeavesBoard(t *testing.T) {
	for name, test := range map[string]struct {
		method, path string
		body         any
	}{
		"granted":    {"POST", "/grant", grantWanted{Limit: "burst", Messages: 5}},
		"reset":      {"POST", "/reset", nil},
		"exempt":     {"POST", "/exempt", lengthWanted{For: new("10m")}},
		"overridden": {"PUT", "/override", chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 20}}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := dash(t)
			l := d.listen()
			l.next(live.SnapshotFrame)
			d.say(spammer, 4)
			l.next(live.ThrottledFrame)
			if a := decode[amended](t, d.do(test.method, spammerPath+test.path, test.body, asOwner)); !a.Saved {
				t.Errorf("it isn't saved: %+v", a)
			}
			if n := len(d.server.Throttled(channelID, 0)); n != 0 {
				t.Fatalf("%d are on the board", n)
			}
			if fr := l.next(live.ThrottledFrame); !slices.Equal(released(fr), []string{spammer.ID}) {
				t.Errorf("the feed tells %+v", fr)
			}
			if v := d.say(spammer, 1); !v.Allowed {
				t.Errorf("the next message: %+v", v)
			}
		})
	}
}

// A queue of length 0 differs from no queue, for a user and for a role. Penalties may be given in
// days.
func TestOverride_NoQueue(t *testing.T) {
	slow := chatguard.Limit{Name: "slow", Algorithm: chatguard.LeakyBucket, Every: time.Hour, Queue: 2}
	d, matching := dash(t, addLimits(t, slow)), setHeader("If-Match", "*")
	own := map[string]any{"limits": map[string]any{"slow": map[string]any{"queue": 0}}}
	decode[amended](t, d.do("PUT", spammerPath+"/override", own, asOwner))
	if c := d.card(spammer.ID); c.Override.Limits["slow"].Queue != chatguard.NoQueue || c.Limits[2].Capacity != 1 {
		t.Errorf("%+v", c)
	}
	decode[amended](t, d.do("PUT", spammerPath+"/override", map[string]any{"exempt": "by-role"}, asOwner))
	if c := d.card(spammer.ID); c.Override.Exempt != "" {
		t.Errorf("by-role is kept as %q", c.Override.Exempt)
	}
	if a := d.do("PUT", spammerPath+"/override", map[string]any{"limits": map[string]any{"slow": map[string]any{"queue": -1}}}, asOwner); a.StatusCode < 400 {
		t.Errorf("-1: %s %s", a.Status, a.body)
	}
	policy := map[string]any{
		"mode": "enforce", "timezone": "UTC", "exempt": []string{}, "penalties": map[string]any{"ladder": []string{"delete", "timeout 14d"}, "forget_after": "1d", "strike_every": "0s"},
		"limits": []any{map[string]any{"name": "slow", "algorithm": "leaky-bucket", "every": "1h", "queue": 2, "roles": map[string]any{"vip": map[string]any{"queue": 0}}}},
	}
	if a := d.do("PUT", policyPath, policy, asOwner, matching); a.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", a.Status, a.body)
	}
	a := d.do("GET", policyPath, nil, asOwner)
	if !strings.Contains(string(a.body), `"vip":{"queue":0}`) || !strings.Contains(string(a.body), `"timeout 336h"`) {
		t.Errorf("%s", a.body)
	}
	policy["penalties"] = map[string]any{"ladder": []string{"timeout 366d"}, "forget_after": "1d", "strike_every": "0s"}
	if a := d.do("PUT", policyPath, policy, asOwner, matching); a.StatusCode < 400 || !strings.Contains(string(a.body), "a timeout of 366d: want whole seconds from 1s to 365d") {
		t.Errorf("366 days: %s %s", a.Status, a.body)
	}
}

// A pardon removes the strike. If a limit still throttles the user, the board says so.
func TestPardon_TakesStrikeBack(t *testing.T) {
	d := dash(t)
	v := d.say(spammer, 4)
	path := "/api/v1/journal/" + fmt.Sprint(v.EntryID) + "/pardon"
	for range 2 { // the second time has no effect
		if a := decode[amended](t, d.do("POST", path, nil, asOwner)); !a.Saved {
			t.Errorf("it isn't saved: %+v", a)
		}
	}
	if rows := d.throttledUsers(); len(rows) != 1 || rows[0].Strikes != 0 {
		t.Errorf("on the board: %+v", rows)
	}
	entries := decode[entryPage](t, d.do("GET", "/api/v1/journal", nil, asOwner)).Entries
	if len(entries) != 1 || entries[0].Pardoned == nil || entries[0].Pardoned.By != "owner" || entries[0].Pardoned.At.IsZero() {
		t.Errorf("the journal: %+v", entries)
	}
}

// An override is replaced only if the caller knows its current version, so two moderators do not
// overwrite each other.
func TestOverride_NeedsCurrentETag(t *testing.T) {
	d := dash(t)
	known := setHeader("If-Match", d.card(spammer.ID).OverrideETag)
	tokyo, lima := chatguard.UserOverride{Timezone: "Asia/Tokyo"}, chatguard.UserOverride{Timezone: "America/Lima"}
	first := decode[amended](t, d.do("PUT", spammerPath+"/override", tokyo, asOwner, known))
	if first.OverrideETag != d.card(spammer.ID).OverrideETag || first.Former == nil || first.Former.Timezone != "" {
		t.Errorf("changed: %+v", first)
	}
	for _, method := range []string{"PUT", "DELETE"} {
		d.wantProblem(method, method, spammerPath+"/override", lima, []func(*http.Request){asOwner, known}, 412, "Someone else changed")
	}
	exempt := decode[amended](t, d.do("POST", spammerPath+"/exempt", nil, asOwner))
	if exempt.Former == nil || exempt.Former.Timezone != "Asia/Tokyo" || exempt.OverrideETag != d.card(spammer.ID).OverrideETag {
		t.Errorf("exempt: %+v", exempt)
	}
	decode[amended](t, d.do("PUT", spammerPath+"/override", *exempt.Former, asOwner, setHeader("If-Match", exempt.OverrideETag)))
	if own, err := d.guard.UserOverride(t.Context(), chatguard.Key{ChannelID: channelID, UserID: spammer.ID}); err != nil || own.Timezone != "Asia/Tokyo" || own.Exempt != "" {
		t.Errorf("undone, and in force is %+v, %v", own, err)
	}
}

func TestAmendments_Until(t *testing.T) {
	d := dash(t)
	grant := decode[amended](t, d.do("POST", spammerPath+"/grant", grantWanted{Messages: 5}, asOwner))
	if c := d.card(spammer.ID); !grant.Until.Equal(c.Limits[1].ResetAt) || c.Limits[1].Granted != 5 {
		t.Errorf("granted until %v: %+v", grant.Until, c.Limits[1])
	}
	short := decode[amended](t, d.do("POST", spammerPath+"/exempt", lengthWanted{For: new("10m")}, asOwner))
	if left := short.Until.Sub(d.now()); left > 10*time.Minute || left < 9*time.Minute {
		t.Errorf("exempt until %v", short.Until)
	}
	days := decode[amended](t, d.do("POST", channelPath+"/users/"+berta.ID+"/exempt", lengthWanted{For: new("2d")}, asOwner))
	if left := days.Until.Sub(d.now()); left > 48*time.Hour || left < 47*time.Hour {
		t.Errorf("exempt for two days, until %v", days.Until)
	}
	shorter := decode[amended](t, d.do("POST", spammerPath+"/exempt", lengthWanted{For: new("1m")}, asOwner))
	if !shorter.Until.Equal(short.Until) {
		t.Errorf("shortened to %v", shorter.Until)
	}
	if forGood := decode[amended](t, d.do("POST", spammerPath+"/exempt", nil, asOwner)); !forGood.Until.IsZero() {
		t.Errorf("for good, until %v", forGood.Until)
	}
	decode[amended](t, d.do("DELETE", spammerPath+"/override", nil, asOwner))
	if c := d.card(spammer.ID); c.Override.Exempt != "" {
		t.Errorf("taken away, and %+v is left", c.Override)
	}
}

func TestAmendments_Refused(t *testing.T) {
	d, none := dash(t), dash(t, func(o *Options) { o.Live.Controls = nil })
	for _, test := range []struct {
		method, path string
		body         any
		status       int
		says         string
	}{
		{"POST", "/grant", nil, 400, "can't be read"},
		{"POST", "/grant", grantWanted{Messages: 0}, 422, "between 1 and 2147483647"},
		{"POST", "/grant", grantWanted{Messages: 1 << 40}, 422, "between 1 and 2147483647"},
		{"POST", "/grant", grantWanted{Limit: "other", Messages: 1}, 422, `no such limit: \"other\"`},
		{"POST", "/grant", map[string]any{"count": 1}, 400, "count"},
		{"POST", "/exempt", lengthWanted{For: new("soon")}, 422, "such as"},
		{"POST", "/exempt", lengthWanted{For: new("-5m")}, 422, "at most a year"},
		{"POST", "/exempt", lengthWanted{For: new("9000h")}, 422, "at most a year"},
		{"POST", "/exempt", lengthWanted{For: new("366d")}, 422, "at most a year"},
		{"PUT", "/override", chatguard.UserOverride{Timezone: "Europe/Nowhere"}, 422, "Europe/Nowhere"},
		{"PUT", "/override", chatguard.UserOverride{Limits: map[string]chatguard.Override{"other": {Burst: 1}}}, 422, "other"},
		{"PUT", "/override", chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Messages: 1}}}, 422, "burst"},
		{"PUT", "/override", chatguard.UserOverride{Exempt: chatguard.ExemptAlways, ExemptUntil: noon}, 422, "must end in the future"},
		{"PUT", "/override", map[string]any{"exempt": "sometimes"}, 422, "sometimes"},
		{"PUT", "/override", map[string]any{"nickname": "x"}, 400, "nickname"},
	} {
		d.wantProblem("refused", test.method, spammerPath+test.path, test.body, owned, test.status, test.says)
	}
	d.wantProblem("a long ID", "POST", channelPath+"/users/"+long+"/reset", nil, owned, 422, "1 to 256 bytes")
	for _, id := range []string{"%FF", "4%0A2", "%00", "%C2%85"} {
		d.wantProblem("no ID", "POST", channelPath+"/users/"+id+"/reset", nil, owned, 422, "no control characters")
	}
	for _, entry := range []string{"12345", "x", "99999999999999999999"} {
		d.wantProblem("no such entry", "POST", "/api/v1/journal/"+entry+"/pardon", nil, owned, 404, "nothing to pardon")
	}
	if len(d.store.audits) > 0 {
		t.Errorf("refused, and in the audit: %+v", d.store.audits)
	}
	for _, path := range []string{spammerPath + "/reset", "/api/v1/journal/1/pardon"} {
		none.wantProblem("no controls", "POST", path, nil, owned, 501, "moderates no chat")
	}
}

func TestAmendments_StoreInTrouble(t *testing.T) {
	d := dash(t)
	v := d.say(spammer, 4)
	d.breakDatabase(time.Minute)
	for path, body := range map[string]any{
		"POST /grant": grantWanted{Messages: 5}, "POST /reset": nil, "POST /exempt": nil, "DELETE /override": nil, "PUT /override": chatguard.UserOverride{},
		"POST /notes": noteWanted{Text: "x"},
	} {
		method, path, _ := strings.Cut(path, " ")
		if a := d.do(method, spammerPath+path, body, asOwner); decode[amended](t, a).Saved || !strings.Contains(string(a.body), `"saved":false`) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	d.store.changes.set(errors.New("disk full: /secret/path"))
	d.wantProblem("not noted", "POST", spammerPath+"/reset", nil, owned, http.StatusServiceUnavailable, "done, but it is not recorded in the audit")
	d.store.reads.set(errors.New("damaged: /secret/path"))
	d.wantProblem("not read", "POST", "/api/v1/journal/"+fmt.Sprint(v.EntryID)+"/pardon", nil, owned, http.StatusServiceUnavailable, "the database is failing")
}

// A helper may exempt a user and end the exemption, which is how they undo it. Numbers, the time
// zone, and limits for an exempt role need moderate access.
func TestOverride_HelpersChangeExemption(t *testing.T) {
	d := dash(t)
	helper := setBearer(d.newToken(auth.Help))
	path := channelPath + "/users/" + berta.ID + "/override"
	numbers := chatguard.UserOverride{Timezone: "Europe/Berlin"}
	done := decode[amended](t, d.do("PUT", path, numbers, asOwner))
	exempted := decode[amended](t, d.do("POST", channelPath+"/users/"+berta.ID+"/exempt", lengthWanted{}, helper))
	if exempted.Former == nil || exempted.Former.Timezone != numbers.Timezone || exempted.OverrideETag == done.OverrideETag {
		t.Fatalf("exempted: %+v", exempted)
	}
	decode[amended](t, d.do("PUT", path, exempted.Former, helper, setHeader("If-Match", exempted.OverrideETag)))
	other, never := numbers, numbers
	other.Timezone = "Asia/Tokyo"
	never.Exempt = chatguard.ExemptNever
	for name, own := range map[string]chatguard.UserOverride{"time zone": other, "never": never, "nothing": {}} {
		if a := d.do("PUT", path, own, helper); a.StatusCode != http.StatusForbidden || !strings.Contains(string(a.body), "needs moderate access") {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
	}
	d.wantStatus("no override", http.StatusForbidden, "DELETE", path, nil, helper)
	if own, err := d.guard.UserOverride(t.Context(), chatguard.Key{ChannelID: channelID, UserID: berta.ID}); err != nil || own.Timezone != numbers.Timezone || own.Exempt != numbers.Exempt {
		t.Errorf("the override is %+v", own)
	}
}
