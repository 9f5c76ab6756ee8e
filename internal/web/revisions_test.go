//go:build !race

package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/live"
)

func (d *dashboard) wantHistory(want ...string) {
	d.Helper()
	if got := d.history(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		d.Errorf("history:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// revert reverts to a revision, with the tag of the policy in force.
func (d *dashboard) revert(number any) answer {
	d.Helper()
	tag := policies.Tag(d.guard.ChannelPolicy(channelID))
	return d.do("POST", policyPath+"/revert", map[string]any{"revision": number}, asOwner, setHeader("If-Match", tag))
}

func TestRevisions_Unsaved(t *testing.T) {
	d := dash(t)
	decode[policies.Revised](t, d.put(burst(5)))
	d.breakDatabase(time.Minute)
	decode[policies.Revised](t, d.put(burst(6)))
	if a := d.put(burst(7)); decode[policies.Revised](t, a).Saved || !strings.Contains(string(a.body), `"saved":false`) {
		t.Errorf("changed while the database fails: %s", a.body)
	}
	if v := d.say(spammer, 8); v.Allowed {
		t.Error("with a burst of 7, the eighth message is allowed")
	}
	d.wantHistory("3 owner limit.burst.burst 6>7 unsaved", "2 owner limit.burst.burst 5>6 unsaved", "1 owner limit.burst.burst 3>5")
	d.repairDatabase()
	if a := d.put(burst(8)); !decode[policies.Revised](t, a).Saved {
		t.Errorf("changed while all is well: %s", a.body)
	}
	d.wantHistory("4 owner limit.burst.burst 7>8", "3 owner limit.burst.burst 6>7", "2 owner limit.burst.burst 5>6", "1 owner limit.burst.burst 3>5")
}

func TestRevert(t *testing.T) {
	d := dash(t)
	decode[policies.Revised](t, d.put(burst(5)))
	decode[policies.Revised](t, d.put(burst(9)))
	l := d.listen()
	l.next(live.SnapshotFrame)
	a := d.revert(1)
	c := decode[policies.Revised](t, a)
	if c.Number != 3 || !c.Saved || c.Author != auth.OwnerName || d.guard.ChannelPolicy(channelID).Limits[0].Burst != 5 {
		t.Errorf("back to the first: %+v", c)
	}
	if said := fmt.Sprint(c.Difference, c.Changes); said != "[{limit.burst.burst 9 5}] [{limit.burst.burst 3 5}]" {
		t.Errorf("back to the first: %s", said)
	}
	if tag := policies.Tag(d.guard.ChannelPolicy(channelID)); a.Header.Get("ETag") != tag || l.next(live.PolicyFrame).Policy.ETag != tag {
		t.Error("the answer, or the live feed, has another ETag")
	}
	decode[policies.Revised](t, d.revert(0))
	d.wantHistory("4 owner limit.burst.burst 5>3 discarded", "3 owner limit.burst.burst 9>5", "2 owner limit.burst.burst 5>9", "1 owner limit.burst.burst 3>5")
}

func TestRevert_Refused(t *testing.T) {
	d := dash(t)
	decode[policies.Revised](t, d.put(burst(5)))
	stale := setHeader("If-Match", policies.Tag(d.guard.ChannelPolicy(channelID)))
	decode[policies.Revised](t, d.put(burst(9)))
	first := map[string]any{"revision": 1}
	for name, test := range map[string]struct {
		answer answer
		status int
	}{
		"unknown":     {d.revert(3), http.StatusNotFound},
		"negative":    {d.revert(-1), http.StatusNotFound},
		"none":        {d.revert(nil), http.StatusBadRequest},
		"a word":      {d.revert("first"), http.StatusBadRequest},
		"stale":       {d.do("POST", policyPath+"/revert", first, asOwner, stale), http.StatusPreconditionFailed},
		"stale, to 0": {d.do("POST", policyPath+"/revert", map[string]any{"revision": 0}, asOwner, stale), http.StatusPreconditionFailed},
		"no If-Match": {d.do("POST", policyPath+"/revert", first, asOwner), http.StatusPreconditionRequired},
	} {
		if test.answer.StatusCode != test.status {
			t.Errorf("%s: %s %s", name, test.answer.Status, test.answer.body)
		}
	}
	d.store.reads.set(errors.New("damaged: /secret/path"))
	if a := d.revert(1); a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "secret") {
		t.Errorf("reverting to an unreadable revision: %s %s", a.Status, a.body)
	}
	d.wantProblem("a list that can't be read", "GET", policyPath+"/revisions", nil, owned, http.StatusServiceUnavailable, "can't be read")
	if d.guard.ChannelPolicy(channelID).Limits[0].Burst != 9 {
		t.Error("something has changed")
	}
	if c := decode[policies.Revised](t, d.put(burst(5))); c.Number != 3 {
		t.Errorf("changed all the same: %+v", c)
	}
}
