package chatguard

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// queuePolicy returns a policy under which everyone except subscribers may queue messages.
func queuePolicy() Policy {
	return Policy{Mode: Enforce, Limits: []Limit{{
		Name: "slow", Algorithm: LeakyBucket, Every: time.Second, Queue: 2, Roles: map[Role]Override{Subscriber: {Queue: NoQueue}, VIP: {Queue: 5}},
	}}}
}

// countAtOnce counts the messages of a user that pass at the same moment.
func countAtOnce(t *testing.T, g *Guard, u User, at time.Time) (n int) {
	t.Helper()
	for ; ; n++ {
		v, err := g.Check(context.Background(), Message{ChannelID: "1", User: u, SentAt: at})
		must(t, err)
		if !v.Allowed {
			return n
		}
	}
}

// NoQueue differs from the limit's own value, for a role and for a user, also after a restart.
func TestNoQueue(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { *p = queuePolicy() }, nil)
	subscriber := User{ID: "2", Roles: RolesOf(Subscriber)}
	for _, test := range []struct {
		user User
		want int
	}{{User{ID: "1"}, 3}, {subscriber, 1}, {User{ID: "3", Roles: RolesOf(VIP, Subscriber)}, 6}} {
		if got := countAtOnce(t, g, test.user, monday); got != test.want {
			t.Errorf("%+v: %d at once, want %d", test.user, got, test.want)
		}
	}
	if got := g.ChannelPolicy("1").Limits[0].withRoles(subscriber.Roles).Queue; got != 0 {
		t.Errorf("a subscriber's queue has %d places", got)
	}
	own := UserOverride{Limits: map[string]Override{"slow": {Queue: NoQueue}}}
	must(t, g.At(monday).SetUserOverride(Key{ChannelID: "1", UserID: "7"}, own))
	rows := dirtyRows(g)
	slices.SortFunc(rows, func(a, b StateRow) int { return cmp.Compare(a.UserID+" "+a.Limit, b.UserID+" "+b.Limit) })
	again := newEnforcingGuard(t, func(p *Policy) { *p = queuePolicy() }, nil)
	for _, row := range rows {
		must(t, again.State().Restore(row, monday))
	}
	for name, g := range map[string]*Guard{"before": g, "after": again} {
		if o, err := g.UserOverride(Key{ChannelID: "1", UserID: "7"}); err != nil || o.Limits["slow"] != own.Limits["slow"] {
			t.Errorf("%s a restart: %+v, %v", name, o, err)
		}
		if got := countAtOnce(t, g, User{ID: "7", Roles: RolesOf(VIP)}, monday.Add(time.Minute)); got != 1 {
			t.Errorf("%s a restart: %d at once", name, got)
		}
	}
}

// In JSON, NoQueue is 0, and an omitted queue is the limit's own value.
func TestNoQueue_JSON(t *testing.T) {
	for text, want := range map[string]Override{`{}`: {}, `{"queue":0}`: {Queue: NoQueue}, `{"refill":"4s","queue":3}`: {Queue: 3, Refill: 4 * time.Second}} {
		var o Override
		if err := json.Unmarshal([]byte(text), &o); err != nil || o != want {
			t.Errorf("%s: %+v, %v", text, o, err)
		}
		if again, err := json.Marshal(o); err != nil || string(again) != text {
			t.Errorf("%s: written as %s, %v", text, again, err)
		}
	}
	var o Override
	if err := json.Unmarshal([]byte(`{"queue":-1}`), &o); err == nil || err.Error() != "queue is -1, want 0 or more" {
		t.Errorf("-1: %+v, %v", o, err)
	}
	p := queuePolicy()
	data, err := json.Marshal(p)
	var again Policy
	if err == nil {
		err = json.Unmarshal(data, &again)
	}
	if err != nil || again.Limits[0].Roles[Subscriber].Queue != NoQueue || again.Limits[0].Roles[VIP].Queue != 5 {
		t.Errorf("%s, %v", data, err)
	}
}

// NoQueue is refused for algorithms without a queue, and as a limit's own value.
func TestNoQueue_Refused(t *testing.T) {
	p := observingPolicy()
	p.Limits[0].Roles = map[Role]Override{VIP: {Queue: NoQueue}}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), `token-bucket has no "queue"`) {
		t.Errorf("token bucket: %v", err)
	}
	p = queuePolicy()
	p.Limits[0].Queue = NoQueue
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "queue is -1, want 0") {
		t.Errorf("a limit's own: %v", err)
	}
	p = queuePolicy()
	p.Limits[0].Roles[VIP] = Override{Queue: -2}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "queue is -2, want 0") {
		t.Errorf("-2: %v", err)
	}
}
