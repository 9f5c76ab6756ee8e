package redisstore

import (
	"slices"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// ownUsers returns the sorted members of the set of a channel's users with an override.
func (r *redisServer) ownUsers(channel string) []string {
	r.t.Helper()
	users, err := r.must("SMEMBERS", "cg1:own:"+channel).AsStrSlice()
	must(r.t, err)
	slices.Sort(users)
	return users
}

// override sets a user's override in the lobby; the zero value removes it.
func (n node) override(t testing.TB, user string, o chatguard.UserOverride) {
	t.Helper()
	must(t, n.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "lobby", UserID: user}, o))
}

// TestOverrides_Pruned checks that the set of users with an override loses those without one, and
// keeps a user who gets one at the same moment, and one whose row this version can't read.
func TestOverrides_Pruned(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	b := startNodes(t, r.URL(), 1, enforced(), Options{}, shared.Exact)[0]
	exempt := chatguard.UserOverride{Exempt: chatguard.ExemptAlways}
	for _, user := range []string{"again", "former", "later", "stays"} {
		b.override(t, user, exempt)
	}
	for _, user := range []string{"again", "former"} {
		b.override(t, user, chatguard.UserOverride{})
	}
	r.must("SET", "cg1:{u:later}:c:lobby", "\x09row of a later version")
	r.must("SADD", "cg1:own:lobby", "never heard of")
	pruned := false
	a := open(t, "redis://"+proxy(t, r.Addr(), func(args []string) ([]string, string) {
		if args[0] == "EVAL" && args[1] == pruneScript && !pruned {
			pruned = true
			b.override(t, "again", exempt)
		}
		return args, ""
	}), Options{})
	if users, err := a.Overrides(t.Context(), "lobby"); err != nil || len(users) != 5 || !pruned {
		t.Errorf("%q, %v", users, err)
	}
	want := []string{"again", "later", "stays"}
	if users := r.ownUsers("lobby"); !slices.Equal(users, want) {
		t.Errorf("the set has %q, want %q", users, want)
	}
	if users, err := a.Overrides(t.Context(), "lobby"); err != nil || len(users) != len(want) {
		t.Errorf("the next call returns %q, %v", users, err)
	}
}
