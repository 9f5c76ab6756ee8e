package redisstore

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

// What people change on one node is in force on the others.
func TestGuards_Changes(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, shared.Exact)
	a, b := nodes[0], nodes[1]
	at := time.Now()
	key := chatguard.Key{ChannelID: "lobby", UserID: "7"}
	throttled := func() (v chatguard.Verdict) {
		for v = b.check(t, "7", at); v.Allowed; v = b.check(t, "7", at) {
		}
		for range 20 {
			v = b.check(t, "7", at) // from memory
		}
		return v
	}
	for name, change := range map[string]func() error{
		"reset": func() error { return a.Reset(t.Context(), key) },
		"grant": func() error { _, err := a.Grant(t.Context(), key, "burst", 2); return err },
		"exempt": func() error {
			return a.SetUserOverride(t.Context(), key, chatguard.UserOverride{Exempt: chatguard.ExemptAlways})
		},
		"override": func() error {
			return a.SetUserOverride(t.Context(), key, chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 100}}})
		},
	} {
		throttled()
		if b.Shared().Counts().FromMemory == 0 {
			t.Fatal("no refusal came from memory")
		}
		if err := change(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		eventually(t, name+" is in force on the other node", func() bool { return b.check(t, "7", at).Allowed })
		must(t, a.SetUserOverride(t.Context(), key, chatguard.UserOverride{}))
	}
	v := throttled()
	if v.EntryID == 0 {
		t.Fatal("the refusal has no entry ID")
	}
	must(t, a.SetUserOverride(t.Context(), key, chatguard.UserOverride{Timezone: "Asia/Tokyo"}))
	if all, err := b.UserOverrides(t.Context(), "lobby"); all["7"].Timezone != "Asia/Tokyo" || err != nil {
		t.Errorf("the other node lists %+v, %v", all, err)
	}
}

// A user who is deleted begins again on a node that gets no notice, too: the node doesn't give back
// the row that it remembers.
func TestGuards_Deleted(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "hours", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: time.Hour})
	s := open(t, r.URL(), Options{}) // without Run it gets no notices
	g, err := chatguard.New(policy, &chatguard.Options{Shared: s})
	must(t, err)
	deaf := node{Guard: g, store: s}
	hearing := startNodes(t, r.URL(), 1, policy, Options{}, shared.Exact)[0]
	at := time.Now()
	for range 2 {
		deaf.check(t, "7", at)
	}
	hearing.check(t, "7", at.Add(-time.Second)) // a node that has seen an earlier row
	must(t, hearing.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "lobby", UserID: "8"}, chatguard.UserOverride{Exempt: chatguard.ExemptAlways}))
	key := "cg1:{u:7}:c:lobby"
	before := r.integer("PEXPIRETIME", key)
	for user, want := range map[string]int{"7": 1, "8": 1, "nobody": 0} {
		if deleted, err := hearing.store.Delete(t.Context(), user); deleted != want || err != nil {
			t.Errorf("%d rows of %s are deleted, %v, want %d", deleted, user, err, want)
		}
	}
	if deleted, err := hearing.store.Delete(t.Context(), "7"); deleted != 0 || err != nil {
		t.Errorf("%d rows are deleted twice, %v", deleted, err)
	}
	for row, err := range hearing.store.Rows(t.Context(), "") {
		t.Errorf("%+v is still there, %v", row, err)
	}
	if ms := r.integer("PTTL", "cg1:{u:8}:c:lobby"); ms <= 0 {
		t.Errorf("the row of an exempt user expires in %d ms, want a week", ms)
	}
	for i := range 3 {
		if v := deaf.check(t, "7", at); !v.Allowed || v.Degraded {
			t.Errorf("message %d after the user was deleted: %+v", i, v)
		}
		if after := r.integer("PEXPIRETIME", key); after < before {
			t.Errorf("message %d: the row expires at %d, want %d or later", i, after, before)
		}
	}
	if v := hearing.check(t, "7", at); v.Allowed {
		t.Error("the fourth message is allowed")
	}
}

// A user who is deleted begins again on synchronised nodes, too.
func TestGuards_DeletedSynchronised(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "hours", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: time.Hour})
	nodes := startNodes(t, r.URL(), 2, policy, Options{Interval: 20 * time.Millisecond}, shared.Synchronised)
	at := time.Now()
	for range 5 {
		nodes[0].check(t, "7", at)
	}
	explain := func(n node) limitinfo.Explanation {
		e, err := limitinfo.Explain(t.Context(), n.Guard, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "7"}, SentAt: at})
		must(t, err)
		return e
	}
	eventually(t, "the row is stored", func() bool {
		deleted, err := nodes[1].store.Delete(t.Context(), "7")
		must(t, err)
		return deleted == 1
	})
	eventually(t, "the node has forgotten the user", func() bool {
		e := explain(nodes[0])
		return e.Limits[0].Used == 0 && e.Strikes == 0
	})
	for i, n := range nodes {
		if v := n.check(t, "7", at); !v.Allowed {
			t.Errorf("node %d: %+v", i, v)
		}
	}
}
