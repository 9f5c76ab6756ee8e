package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// put changes the policy of the tests' channel as the owner, starting from the one in force.
func (d *dashboard) put(change func(*chatguard.Policy)) answer {
	d.Helper()
	loaded := d.do("GET", policyPath, nil, asOwner)
	policy := decode[chatguard.Policy](d, loaded)
	change(&policy)
	return d.do("PUT", policyPath, policy, asOwner, setHeader("If-Match", loaded.Header.Get("ETag")))
}

func burst(n int) func(*chatguard.Policy) {
	return func(p *chatguard.Policy) { p.Limits[0].Burst = n }
}

// Somebody who changes the limits too often is told when to try again.
func TestPolicy_TooOften(t *testing.T) {
	d := dashAt(t, clockStart)
	a := d.put(burst(2))
	for n := 3; a.StatusCode == http.StatusOK && n < 100; n++ {
		a = d.put(burst(n))
	}
	if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "30" {
		t.Errorf("%s %v %s", a.Status, a.Header, a.body)
	}
	d.wantProblem("a long page", "GET", policyPath+"/revisions?n=51", nil, owned, 422, "from 1 to 50")
}

func TestPolicy_AppliesToNextMessage(t *testing.T) {
	d := dash(t)
	if v := d.say(spammer, 2); !v.Allowed {
		t.Fatal("2 of 3 messages, and throttled")
	}
	a := d.put(burst(2))
	revision := decode[journal.Revision](t, a)
	if revision.Number != 1 || revision.Author != auth.OwnerName || revision.Policy.Limits[0].Burst != 2 || len(revision.Changes) != 1 {
		t.Errorf("revision %+v", revision)
	}
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("with a burst of 2, the third message is allowed")
	}
	if now := d.do("GET", policyPath, nil, asOwner); now.Header.Get("ETag") != a.Header.Get("ETag") {
		t.Error("the ETag that PUT answered isn't the policy's")
	}
	if again := decode[journal.Revision](t, d.put(burst(4))); again.Number != 2 {
		t.Errorf("the second revision has the number %d", again.Number)
	}
	past := decode[revisionPage](t, d.do("GET", policyPath+"/revisions", nil, asOwner)).Revisions
	if len(past) != 2 || past[0].Number != 2 {
		t.Errorf("revisions %+v", past)
	}
}

func TestPolicy_BoardFollowsNewPolicy(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	d.say(chatguard.User{ID: "43"}, 5)
	before := d.throttledUsers()[0].MaySpeakAt
	decode[journal.Revision](t, d.put(func(p *chatguard.Policy) { p.Limits[0].Refill = 5 * time.Minute }))
	users := d.throttledUsers()
	if len(users) != 2 || !users[0].MaySpeakAt.Before(before.Time) {
		t.Errorf("with half the refill: %+v, before %s", users, before)
	}
}

func TestPolicy_NotStoredNotChanged(t *testing.T) {
	d := dash(t)
	before := policies.Tag(d.guard.ChannelPolicy(channelID))
	d.store.changes.set(errors.New("disk full: /secret/path"))
	for _, a := range []answer{d.put(burst(9)), d.do("DELETE", policyPath, nil, asOwner)} {
		if a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "secret") {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	if policies.Tag(d.guard.ChannelPolicy(channelID)) != before {
		t.Error("the policy has changed")
	}
}

func TestPolicy_RoundTripsEveryLimit(t *testing.T) {
	d := dash(t, addLimits(t, everyAlgorithm...))
	decode[journal.Revision](t, d.put(burst(9)))
	got, want := d.guard.ChannelPolicy(channelID), d.opts.Live.Policies.Base(channelID)
	want.Limits[0].Burst = 9
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestPolicy_ConcurrentChangesOneWins(t *testing.T) {
	d := dash(t)
	decode[policies.Revised](t, d.put(burst(5)))
	policy := d.guard.ChannelPolicy(channelID)
	tag := setHeader("If-Match", policies.Tag(policy))
	policy.Limits[0].Burst = 8
	requests := []func() answer{
		func() answer { return d.do("PUT", policyPath, policy, asOwner, tag) },
		func() answer { return d.do("DELETE", policyPath, nil, asOwner, tag) },
		func() answer { return d.do("POST", policyPath+"/revert", map[string]any{"revision": 0}, asOwner, tag) },
	}
	answers := make([]answer, 4*len(requests))
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = requests[i%len(requests)]() })
	}
	all.Wait()
	made := 0
	for _, a := range answers {
		switch a.StatusCode {
		case http.StatusOK:
			made++
		case http.StatusPreconditionFailed:
		default:
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	if made != 1 || len(d.history()) != 2 {
		t.Errorf("%d changes were made; history: %q", made, d.history())
	}
}

// A refused change names the wrong value, so that a form can mark its field.
func TestPolicy_MistakeIsNamed(t *testing.T) {
	d := dash(t)
	overridden := map[string]any{"limits": map[string]any{"burst": map[string]any{"messages": 2}}}
	for name, test := range map[string]struct {
		answer answer
		want   problem.Mistake
	}{
		"policy": {d.put(func(p *chatguard.Policy) { p.Limits[0].Reserve = 3 }),
			problem.Mistake{Limit: "burst", Parameter: "reserve", Value: "3", Problem: "reserve is 3, want 0 to 2, less than the limit holds"}},
		"role": {d.put(func(p *chatguard.Policy) {
			p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Messages: 1}}
		}), problem.Mistake{Limit: "burst", Role: "vip", Parameter: "messages", Value: "1", Problem: `token-bucket has no "messages" (it takes burst, refill)`}},
		"ladder": {d.put(func(p *chatguard.Policy) { p.Penalties.StrikeEvery = -time.Minute }),
			problem.Mistake{Parameter: "penalties.strike_every", Value: "-1m", Problem: "penalties: strike_every is -1m0s, want 0s or more"}},
		"override": {d.do("PUT", spammerPath+"/override", overridden, asOwner),
			problem.Mistake{Limit: "burst", Parameter: "messages", Value: "2", Problem: `token-bucket has no "messages" (it takes burst, refill)`}},
		"zone": {d.do("PUT", spammerPath+"/override", map[string]any{"timezone": "Mars"}, asOwner),
			problem.Mistake{Parameter: "timezone", Value: "Mars", Problem: `unknown timezone "Mars" (want an IANA name such as Europe/Berlin)`}},
	} {
		var got problem.Problem
		if err := json.Unmarshal(test.answer.body, &got); err != nil || test.answer.StatusCode != http.StatusUnprocessableEntity || got.Mistake == nil {
			t.Errorf("%s: %s %s, %v", name, test.answer.Status, test.answer.body, err)
		} else if *got.Mistake != test.want {
			t.Errorf("%s: got %+v\nwant %+v", name, *got.Mistake, test.want)
		}
	}
}

// history returns the policy's revisions as text, newest first.
func (d *dashboard) history() (lines []string) {
	d.Helper()
	for _, r := range decode[revisionPage](d, d.do("GET", policyPath+"/revisions", nil, asOwner)).Revisions {
		line := fmt.Sprintf("%d %s", r.Number, r.Author)
		for _, c := range r.Difference {
			line += fmt.Sprintf(" %s %v>%v", c.Key, c.From, c.To)
		}
		if r.Discarded {
			line += " discarded"
		}
		if !r.Saved {
			line += " unsaved"
		}
		lines = append(lines, line)
	}
	return lines
}

// A policy without limits, exempt roles and penalties has empty lists, which the dashboard can
// read.
func TestPolicy_EmptyLists(t *testing.T) {
	d := dash(t)
	d.put(func(p *chatguard.Policy) { p.Limits, p.Exempt, p.Penalties.Ladder = nil, nil, nil })
	if a := d.do("GET", policyPath, nil, asOwner); a.StatusCode != http.StatusOK || strings.Contains(string(a.body), "null") {
		t.Errorf("%s %s", a.Status, a.body)
	}
}
