package policies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/policies/policiestest"
	"github.com/chatguard/chatguard/shared"
)

// sharedNode is an office whose changes reach other nodes.
type sharedNode struct {
	*office
	docs *policiestest.Node
}

func newSharedNodes(t *testing.T, n int) (all *policiestest.Documents, nodes []sharedNode) {
	t.Helper()
	all = policiestest.New(ErrStale)
	for range n {
		docs := all.Node()
		nodes = append(nodes, sharedNode{newOffice(t, func(o *Options) { o.Documents = docs }), docs})
	}
	return all, nodes
}

// runShared puts in force what the other nodes change, until the test ends.
func (n sharedNode) runShared() {
	n.Helper()
	ctx, cancel := context.WithCancel(n.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.Shared.Run(ctx)
	}()
	n.Cleanup(func() {
		cancel()
		<-ended
	})
}

// want lets all goroutines of the test go on until they wait, and fails the test unless is returns
// true then.
func (n sharedNode) want(what string, is func() bool) {
	n.Helper()
	if synctest.Wait(); !is() {
		n.Errorf("not so: %s", what)
	}
}

func (n sharedNode) burst() int { return n.office.guard.ChannelPolicy(channel).Limits[0].Burst }

func TestShared_PolicyReachesOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, nodes := newSharedNodes(t, 2)
		a, b := nodes[0], nodes[1]
		b.runShared()
		a.mustRevise(5)
		b.docs.Changed <- "policy/" + channel
		b.want("the policy is in force on the other node", func() bool { return b.burst() == 5 })
		if list := b.LiveChanges(); len(list) != 1 || list[0].Author != "berta" {
			t.Errorf("live changes on the other node: %+v", list)
		}
		b.wantTold("revised 1 1 by berta")
		if known, _ := b.Shared.known("policy/" + channel); known.revision != 1 {
			t.Errorf("the other node knows revision %d, and would apply it each second", known.revision)
		}
		b.start(func(o *Options) { o.Documents = nil })
		b.wantBurst(5) // it starts without the other nodes, too
		must(t, errorOf(a.Discard(t.Context(), Request{ChannelID: channel, Author: "berta"})))
	})
}

// A node that misses a notice looks at the revisions each second.
func TestShared_PolicyWithoutNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, nodes := newSharedNodes(t, 2)
		a, b := nodes[0], nodes[1]
		b.mustRevise(4) // so it knows the channel
		b.runShared()
		a.mustRevise(5)
		time.Sleep(time.Second)
		b.want("the policy is in force on the other node", func() bool { return b.burst() == 5 })
		must(t, errorOf(a.Discard(t.Context(), Request{ChannelID: channel, Author: "berta"})))
		time.Sleep(time.Second)
		b.want("the configuration's policy is in force on the other node", func() bool { return b.burst() == 3 })
	})
}

// Two people on two nodes don't overwrite each other.
func TestShared_PolicyConflict(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	shown := Tag(b.office.guard.ChannelPolicy(channel))
	a.mustRevise(5)
	if _, err := b.office.revise(6, shown); !errors.Is(err, ErrStale) {
		t.Errorf("a change of a policy that was shown before: %v, want ErrStale", err)
	}
	b.wantBurst(5) // the page shows it after it is loaded again
	all.Before = func() { a.mustRevise(7) }
	if _, err := b.office.revise(8); !errors.Is(err, ErrStale) {
		t.Errorf("a change at the same time: %v, want ErrStale", err)
	}
	if done := b.mustRevise(9); fmt.Sprint(done.Difference) != "[{limit.burst.burst 7 9}]" {
		t.Errorf("the next change: %+v", done.Difference)
	}
}

func TestShared_StoreAway(t *testing.T) {
	all, nodes := newSharedNodes(t, 1)
	a := nodes[0]
	all.Err = policiestest.ErrAway
	if _, err := a.office.revise(5); !errors.Is(err, shared.ErrAway) || strings.Contains(err.Error(), "nothing was changed") { // the answer says that
		t.Errorf("a change while the store is away: %v", err)
	}
	all.Err = errors.New("the document is too long")
	if _, err := a.office.revise(5); !errors.Is(err, shared.ErrRefused) || !errors.Is(err, all.Err) {
		t.Errorf("a change that can't be stored: %v", err)
	}
	all.Err = shared.ErrUnconfirmed
	if _, err := a.office.revise(5); !errors.Is(err, shared.ErrUnconfirmed) || strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("a change whose reply was lost: %v", err)
	}
	a.wantBurst(3)
	if len(a.office.store.stored) != 0 {
		t.Error("the revision is stored")
	}
}

// The database of the node fails after the other nodes know: the change is in force.
func TestShared_DatabaseFails(t *testing.T) {
	_, nodes := newSharedNodes(t, 1)
	a := nodes[0]
	a.office.store.err = errors.New("disk full")
	done, err := a.office.revise(5)
	if err != nil || done.Saved {
		t.Errorf("%+v, %v, want the change in force and unsaved", done, err)
	}
	a.wantBurst(5)
}

// A node with changes from before it shared anything shares them.
func TestShared_FirstNodeShares(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	a.start(func(o *Options) { o.Documents = nil })
	a.mustRevise(5)
	a.start(func(o *Options) { o.Documents = a.docs })
	must(t, errorOf(b.Discard(t.Context(), Request{ChannelID: "another", Author: "berta"})))
	for range 2 { // the second time, there is nothing to do
		must(t, a.Shared.followAll(t.Context()))
	}
	if got := all.Revisions["policy/"+channel]; got != 1 {
		t.Fatalf("revision %d of the policy, want 1", got)
	}
	b.start(func(o *Options) { o.Documents = nil })
	b.mustRevise(7)
	b.start(func(o *Options) { o.Documents = b.docs })
	must(t, b.Shared.followAll(t.Context()))
	b.wantBurst(5) // the first node's changes are in force
}

func TestServe_Bounded(t *testing.T) {
	_, nodes := newSharedNodes(t, 1)
	a := nodes[0]
	for i := range 2 * mostServed {
		a.Shared.Serve(fmt.Sprint("room ", i))
	}
	if n := len(a.Shared.names()); n > mostServed+10 {
		t.Errorf("%d documents are looked at each second", n)
	}
}

func TestShared_UnreadableDocument(t *testing.T) {
	all, nodes := newSharedNodes(t, 1)
	a := nodes[0]
	all.Data["policy/"+channel], all.Revisions["policy/"+channel] = []byte("nonsense"), 4
	if _, err := a.office.revise(5); err == nil || !strings.Contains(err.Error(), "can't be read") {
		t.Errorf("with an unreadable document: %v", err)
	}
	if string(all.Data["policy/"+channel]) != "nonsense" {
		t.Error("the document was overwritten")
	}
}

// A store that comes back without the documents gets them from a node.
func TestShared_StoreLosesDocuments(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	a.mustRevise(5)
	clear(all.Data)
	clear(all.Revisions)
	must(t, a.Shared.followAll(t.Context()))
	a.wantBurst(5)
	b.Shared.followDocument(t.Context(), "policy/"+channel)
	b.wantBurst(5)
}

// After a store has lost its documents, another node may store a document as often as it was stored
// before. The nodes that know the former one notice, and all nodes have the same.
func TestShared_SameRevision(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	a.mustRevise(5)
	clear(all.Data)
	clear(all.Revisions)
	b.mustRevise(7)
	if all.Revisions["policy/"+channel] != 1 {
		t.Fatalf("revision %d, want 1 again", all.Revisions["policy/"+channel])
	}
	for _, n := range nodes {
		must(t, n.Shared.followAll(t.Context()))
		n.wantBurst(7)
	}
	must(t, a.Shared.followAll(t.Context()))
	a.wantTold("revised 1 1 by berta", "revised 1 2 by berta") // not again for the same data
}

// A store that is restored to an earlier state doesn't undo what the nodes know to be in force. A
// node that notices it late doesn't undo what people have changed since.
func TestShared_StoreRestored(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	const name = "policy/" + channel
	follow := func(n sharedNode) {
		t.Helper()
		must(t, n.Shared.followAll(t.Context()))
	}
	a.mustRevise(5)
	data, revision := all.Data[name], all.Revisions[name]
	restore := func() { all.Data[name], all.Revisions[name] = data, revision }
	a.mustRevise(7)
	b.Shared.Serve(channel)
	follow(b)
	restore()
	follow(a)
	follow(b)
	if a.wantBurst(7); all.Revisions[name] != 3 {
		t.Errorf("revision %d, want 3", all.Revisions[name])
	}
	b.wantBurst(7)
	restore()
	follow(a)
	a.mustRevise(9)
	follow(b)
	b.wantBurst(9)
	must(t, errorOf(a.Discard(t.Context(), Request{ChannelID: channel, Author: "berta"})))
	follow(b)
	restore()
	follow(a)
	follow(b)
	a.wantBurst(3)
	b.wantBurst(3)
	restore()
	for _, n := range nodes { // all nodes start again: nobody knows better
		n.start(func(o *Options) { o.Documents = n.docs })
		n.Shared.Serve(channel)
		follow(n)
		n.wantBurst(5)
	}
}

// A document that can't be read hides no other one, and is named once. So is a problem of the store
// that isn't an outage, and its end.
func TestShared_UnreadableBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, nodes := newSharedNodes(t, 2)
		a, b := nodes[0], nodes[1]
		b.Shared.Serve(channel)
		b.Shared.Serve("odd")
		all.Data["policy/odd"], all.Revisions["policy/odd"] = []byte("nonsense"), 4
		b.runShared()
		a.mustRevise(5)
		time.Sleep(3 * time.Second)
		b.want("the policy is in force on the other node", func() bool { return b.burst() == 5 })
		if text := b.log.String(); strings.Count(text, "can't be applied") != 1 || !strings.Contains(text, "document=policy/odd") {
			t.Error(text)
		}
		for _, err := range []error{policiestest.ErrAway, shared.ErrUnconfirmed, errors.New("no right"), nil} {
			all.Change(func() { all.Err = err })
			if isOutage(err) {
				b.docs.Changed <- "policy/" + channel
			}
			time.Sleep(3 * time.Second)
			synctest.Wait()
		}
		all.Change(func() { delete(all.Data, "policy/odd"); delete(all.Revisions, "policy/odd") })
		time.Sleep(3 * time.Second)
		synctest.Wait()
		text := b.log.String()
		if strings.Count(text, "the document is applied again") != 1 {
			t.Error(text)
		}
		if strings.Contains(text, "gone") || strings.Contains(text, shared.ErrUnconfirmed.Error()) || strings.Count(text, "WARN") != 1 || !strings.Contains(text, `aren't known" problem="no right"`) || strings.Count(text, "changes on other nodes are known again") != 1 {
			t.Error(text)
		}
	})
}

// An outage is logged by the store alone, any other problem once.
func TestShared_RunLogs(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{{policiestest.ErrAway, 0}, {shared.ErrRefused, 1}} {
		synctest.Test(t, func(t *testing.T) {
			all, nodes := newSharedNodes(t, 1)
			nodes[0].Shared.Serve(channel)
			all.Err = test.err
			nodes[0].runShared()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if text := nodes[0].log.String(); strings.Count(text, "level=WARN") != test.want || test.want == 0 && text != "" {
				t.Errorf("%v: %q, want %d warnings", test.err, text, test.want)
			}
		})
	}
}

// A discard that the database doesn't keep is one all the same: the channel has the program's
// policy, and no change by people.
func TestShared_DiscardWhileDatabaseFails(t *testing.T) {
	all, nodes := newSharedNodes(t, 2)
	a, b := nodes[0], nodes[1]
	for _, n := range nodes {
		n.start(givenByProgram, func(o *Options) { o.Documents = n.docs })
		n.store.err = nil
	}
	a.mustRevise(5)
	b.Shared.followDocument(t.Context(), "policy/"+channel)
	a.store.err, b.store.err = errors.New("disk full"), errors.New("disk full")
	must(t, errorOf(a.Discard(t.Context(), Request{ChannelID: channel, Author: "berta"})))
	b.Shared.followDocument(t.Context(), "policy/"+channel)
	for name, n := range map[string]sharedNode{"here": a, "there": b} {
		n.wantBurst(3)
		if list := n.LiveChanges(); len(list) != 0 {
			t.Errorf("%s: live changes %+v", name, list)
		}
		must(t, n.guard.SetPolicy(bursting(9)))
		if got := n.Base(channel).Limits[0].Burst; got != 3 {
			t.Errorf("%s: the program's policy has a burst of %d", name, got)
		}
	}
	if !strings.Contains(string(all.Data["policy/"+channel]), `"changes":null`) {
		t.Errorf("shared %s", all.Data["policy/"+channel])
	}
}
