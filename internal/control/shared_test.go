package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/policies/policiestest"
	"github.com/chatguard/chatguard/shared"
)

// newSharedNodes returns nodes whose changes reach each other.
func newSharedNodes(t *testing.T, n int) (all *policiestest.Documents, nodes []*harness) {
	t.Helper()
	all = policiestest.New(policies.ErrStale)
	for range n {
		node := newHarness(t, Raid{})
		node.docs = all.Node()
		node.start(Raid{})
		nodes = append(nodes, node)
	}
	return all, nodes
}

// runShared puts in force what the other nodes change, until the test ends.
func (d *harness) runShared() {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.policies.Shared.Run(ctx)
	}()
	d.Cleanup(func() {
		cancel()
		<-ended
	})
}

// follow puts in force the switches that another node has shared, or shares those of this node.
func (d *harness) follow() error {
	return errorOf(d.policies.Shared.Follow(d.Context(), d.Switches.documents, channel))
}

// want lets all goroutines of the test go on until they wait, and fails the test unless is returns
// true then.
func (d *harness) want(what string, is func() bool) {
	d.Helper()
	if synctest.Wait(); !is() {
		d.Errorf("not so: %s", what)
	}
}

// wantPaused fails the test unless the node's channel is paused by this person.
func (d *harness) wantPaused(channelID, by string) {
	d.Helper()
	if got := d.Switches.Of(channelID).PausedBy; got != by {
		d.Errorf("paused by %q, want %q", got, by)
	}
}

func TestShared_StoreAway(t *testing.T) {
	all, nodes := newSharedNodes(t, 1)
	a := nodes[0]
	all.Err = policiestest.ErrAway
	if _, err := a.Switches.Pause(t.Context(), channel, "berta"); !errors.Is(err, shared.ErrAway) {
		t.Errorf("a pause while the store is away: %v", err)
	}
	a.wantPaused(channel, "")
}

// A node with switches from before it shared anything shares them.
func TestShared_FirstNodeShares(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	must(t, a.Switches.turn(channel, func(s *Switches) { s.PausedBy = "berta" })) // as a restart does
	for range 2 {                                                                 // the second time, there is nothing to do
		must(t, a.follow())
	}
	must(t, errorOf(a.policies.Shared.Follow(t.Context(), a.Switches.documents, "another")))
	if got := all.Revisions["switches/"+channel]; got != 1 {
		t.Fatalf("revision %d of the switches, want 1", got)
	}
	must(t, b.follow())
	b.wantPaused(channel, "berta")
	if all.Revisions["switches/another"] != 0 {
		t.Error("switches that are off are shared")
	}
}

// Two nodes with changes start at the same time.
func TestShared_BothNodesShareFirst(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	for i, n := range nodes {
		must(t, n.Switches.turn(channel, func(s *Switches) { s.PausedBy = fmt.Sprint("node ", i) }))
	}
	all.Before = func() {
		if err := b.follow(); err != nil {
			t.Error(err)
		}
	}
	must(t, a.follow())
	for _, n := range nodes {
		n.wantPaused(channel, "node 1")
	}
	if log := a.log.String(); strings.Contains(log, "can't be applied") {
		t.Errorf("log:\n%s", log)
	}
}

// A node that starts later learns of the channels that it serves, also if its configuration doesn't
// name them.
func TestShared_LaterNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, nodes := newSharedNodes(t, 2)
		a, b := nodes[0], nodes[1]
		const room = "room"
		must(t, errorOf(a.Switches.Pause(t.Context(), room, "berta")))
		for range 2 {
			b.policies.Shared.Serve(room)
		}
		b.runShared()
		b.want("the other node is paused", func() bool { return b.Switches.Of(room).PausedBy == "berta" })
	})
}

// Changes of different switches on two nodes at the same time are both made.
func TestShared_SwitchesConflict(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	all.Before = func() {
		if a.Switches.changing.TryLock() {
			t.Error("something older can come into force during the change")
		}
		must(t, errorOf(b.Switches.Pause(t.Context(), channel, "carl")))
	}
	_, _, err := a.Raids.Start(t.Context(), channel, "berta", time.Hour)
	must(t, err)
	must(t, b.follow())
	for _, n := range nodes {
		n.wantPaused(channel, "carl")
		if n.Switches.Of(channel).RaidUntil.IsZero() {
			t.Error("raid mode is off")
		}
	}
}

func TestShared_Switches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, nodes := newSharedNodes(t, 2)
		a, b := nodes[0], nodes[1]
		madeThere := &made{}
		b.policies.Followers.Watch(madeThere.watch)
		b.runShared()
		must(t, errorOf(a.Switches.Pause(t.Context(), channel, "berta")))
		b.docs.Changed <- "switches/" + channel
		b.want("the other node is paused", func() bool { return b.Switches.Of(channel).PausedBy == "berta" })
		b.wantTold("changed 1")
		if got := b.store.setting(channel + " " + pauseSetting); got != "berta" {
			t.Errorf("the other node has stored %q", got)
		}
		until, _, err := b.Raids.Start(t.Context(), channel, "carl", time.Hour)
		must(t, err)
		if _, err := a.Switches.Resume(t.Context(), channel, "berta"); err != nil { // it learns of the raid first
			t.Fatal(err)
		}
		if s := a.Switches.Of(channel); s.PausedBy != "" || s.RaidBy != "carl" || !s.RaidUntil.Equal(until) {
			t.Errorf("after the pause: %+v, want the raid that the other node has started", s)
		}
		b.docs.Changed <- "switches/" + channel
		b.want("the other node resumes", func() bool {
			return b.Switches.Of(channel).PausedBy == "" && b.Switches.Of(channel).RaidUntil.Equal(until)
		})
		must(t, errorOf(b.Raids.End(t.Context(), channel, "carl")))
		if err := a.follow(); err != nil || a.Switches.Of(channel) != (Switches{}) {
			t.Errorf("after the end of the raid: %+v, %v", a.Switches.Of(channel), err)
		}
		if got := b.store.setting(channel + " " + pauseSetting); got != "" {
			t.Errorf("the node has stored %q", got)
		}
		madeThere.want(t, "raid by carl", "raid by carl") // not what the other node did
	})
}

// A store that comes back without the documents gets them from a node.
func TestShared_StoreLosesDocuments(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	must(t, errorOf(a.Switches.Pause(t.Context(), channel, "berta")))
	clear(all.Data)
	clear(all.Revisions)
	must(t, a.follow())
	must(t, b.follow())
	b.wantPaused(channel, "berta")
	must(t, errorOf(a.Switches.Resume(t.Context(), channel, "berta")))
	clear(all.Data)
	clear(all.Revisions)
	must(t, a.follow()) // also shares that all switches are off
	if got := string(all.Data["switches/"+channel]); got != "{}" {
		t.Errorf("shared %q", got)
	}
}
