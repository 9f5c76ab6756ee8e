package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/shared"
)

// Documents keeps small documents where several nodes find them.
type Documents interface {
	// Document returns a document and its revision, which is 0 if there is none.
	Document(ctx context.Context, name string) (data []byte, revision int64, err error)
	// SetDocument replaces a document that has the given revision, and then has the next one. It
	// returns ErrStale if the document has another revision.
	SetDocument(ctx context.Context, name string, data []byte, revision int64) error
	// Revisions returns the revisions of documents, 0 for each that doesn't exist.
	Revisions(ctx context.Context, names []string) (map[string]int64, error)
	// Changes receives the names of documents that other nodes have changed. A name may get lost.
	Changes() <-chan string
}

// A channel has up to two documents: its last policy revision, and its switches.
const (
	policyDocument   = "policy/"
	switchesDocument = "switches/"
)

// sharedSwitches is the document of a channel's switches.
type sharedSwitches struct {
	PausedBy  string    `json:"paused_by,omitempty"`
	RaidUntil time.Time `json:"raid_until,omitzero"`
}

// followed remembers which revisions of documents are in force here. The zero value is empty.
type followed struct {
	mu        sync.Mutex
	revisions map[string]int64
}

func (f *followed) get(name string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.revisions[name]
}

func (f *followed) set(name string, revision int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.revisions == nil {
		f.revisions = map[string]int64{}
	}
	f.revisions[name] = revision
}

// knows reports whether this node has looked at a document.
func (f *followed) knows(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.revisions[name]
	return ok
}

// names returns the names of the documents that are in force here.
func (f *followed) names() (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.revisions {
		names = append(names, name)
	}
	return names
}

// errNotShared is the error for a change that was not made, or may not have been, because a
// document can't be read or written.
func errNotShared(err error) error {
	switch {
	case errors.Is(err, ErrStale):
		return ErrStale
	case errors.Is(err, shared.ErrUnconfirmed):
		return err
	}
	return fmt.Errorf("nothing was changed, because the other nodes can't be told: %w", err)
}

// follow puts a channel's shared policy in force, if it was changed elsewhere. It returns the
// document's revision. If no node has shared one, it shares the one in force here. The caller holds
// changing.
func (p *Policies) follow(ctx context.Context, channelID string) (revision int64, err error) {
	name := policyDocument + channelID
	data, revision, err := p.options.Documents.Document(ctx, name)
	if err != nil {
		return 0, err
	}
	if revision == 0 {
		p.followed.set(name, 0) // the store may have lost the document
		return p.share(ctx, channelID)
	}
	if revision == p.followed.get(name) {
		return revision, nil
	}
	var shared journal.Revision
	if err := json.Unmarshal(data, &shared); err != nil {
		return 0, fmt.Errorf("the policy that another node has shared for channel %q can't be read: %w", channelID, err)
	}
	live := Resolve(channelID, p.Base(channelID), shared, p.options.Guard.ValidateChannelPolicy, p.options.Acceptable)
	p.logProblems(channelID, live)
	if !reflect.DeepEqual(live.InForce, p.options.Guard.ChannelPolicy(channelID)) {
		r := Request{ChannelID: channelID, Author: shared.Author}
		kept, saved := p.keepAnyway(ctx, r, shared.IsEmpty(), live.InForce)
		if err := p.putInForce(kept, live.InForce, saved); err != nil {
			return 0, err
		}
		p.notify(func(f Follower) { f.Revised(kept) })
	}
	p.followed.set(name, revision)
	return revision, nil
}

// share shares the policy in force here, if people have changed it. It returns the revision of the
// channel's document. The caller holds changing.
func (p *Policies) share(ctx context.Context, channelID string) (revision int64, err error) {
	p.mu.Lock()
	live, changed := p.live[channelID]
	p.mu.Unlock()
	if !changed || live.Problem != nil {
		return 0, nil
	}
	switch err := p.setDocument(ctx, live.Revision, 0); {
	case errors.Is(err, ErrStale): // another node was faster
		return p.follow(ctx, channelID)
	case err != nil:
		return 0, err
	}
	return 1, nil
}

// setDocument shares a policy revision, if the document still has the given revision.
func (p *Policies) setDocument(ctx context.Context, r journal.Revision, revision int64) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := policyDocument + r.ChannelID
	if err := p.options.Documents.SetDocument(ctx, name, data, revision); err != nil {
		return err
	}
	p.followed.set(name, revision+1)
	return nil
}

// keepAnyway keeps a policy that other nodes have already. If the Store fails, the policy comes
// into force nevertheless.
func (p *Policies) keepAnyway(ctx context.Context, r Request, discards bool, policy chatguard.Policy) (revision journal.Revision, saved bool) {
	revision, saved, err := p.keep(ctx, r, discards, policy)
	if err != nil {
		p.options.Log.Error("a policy that all nodes have can't be stored here", "channel", r.ChannelID, "error", err)
		revision = p.revision(r, policy)
	}
	return revision, saved
}

// RunShared puts in force what people change on other nodes, until ctx ends. It does nothing
// without Documents.
func (c *Controls) RunShared(ctx context.Context) {
	docs := c.options.Policies.options.Documents
	if docs == nil {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	problem := ""
	for {
		err := c.followAll(ctx)
		if text := fmt.Sprint(err); err != nil && ctx.Err() == nil && text != problem {
			c.log.Warn("changes on other nodes aren't known", "problem", text)
			problem = text
		} else if err == nil {
			problem = ""
		}
		select {
		case name := <-docs.Changes():
			c.followDocument(ctx, name)
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// followAll looks at the documents of all known channels.
func (c *Controls) followAll(ctx context.Context) error {
	p := c.options.Policies
	names := p.followed.names()
	for _, id := range p.channels() {
		names = append(names, policyDocument+id, switchesDocument+id)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	revisions, err := p.options.Documents.Revisions(ctx, names)
	if err != nil {
		return err
	}
	for name, revision := range revisions {
		if revision != p.followed.get(name) || !p.followed.knows(name) {
			c.followDocument(ctx, name)
		}
	}
	return nil
}

// mostServed is the maximum number of channels that Serve remembers.
const mostServed = 1000

// Serve notes that this node judges messages in a channel, so that RunShared looks at what people
// have changed in it on other nodes. It remembers 1,000 channels. In more, only later changes come
// into force here.
func (p *Policies) Serve(channelID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.served == nil {
		p.served = map[string]bool{}
	}
	if len(p.served) < mostServed {
		p.served[channelID] = true
	}
}

// channels returns the IDs of the channels that have, or may have, their own policy or switches.
func (p *Policies) channels() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.base != nil {
		ids = p.base.Channels()
	}
	ids = slices.AppendSeq(ids, maps.Keys(p.live))
	return slices.AppendSeq(ids, maps.Keys(p.served))
}

// followDocument puts a document in force that another node has changed.
func (c *Controls) followDocument(ctx context.Context, name string) {
	var err error
	if id, ok := strings.CutPrefix(name, policyDocument); ok {
		p := c.options.Policies
		p.changing.Lock()
		_, err = p.follow(ctx, id)
		p.changing.Unlock()
	} else if id, ok := strings.CutPrefix(name, switchesDocument); ok {
		_, err = c.followSwitches(ctx, id)
	}
	if err != nil && ctx.Err() == nil {
		c.log.Error("a change on another node can't be applied", "document", name, "error", err)
	}
}

// followSwitches puts a channel's shared switches in force, and returns the document's revision. If
// no node has shared any, or the store has lost the document, it shares those in force here.
func (c *Controls) followSwitches(ctx context.Context, channelID string) (revision int64, err error) {
	name, followed := switchesDocument+channelID, &c.options.Policies.followed
	data, revision, err := c.options.Policies.options.Documents.Document(ctx, name)
	if err != nil {
		return 0, err
	}
	known := followed.get(name)
	switch {
	case revision == 0:
		followed.set(name, 0)
		return c.shareSwitches(ctx, channelID, known != 0)
	case revision == known:
		return revision, nil
	}
	var shared sharedSwitches
	if err := json.Unmarshal(data, &shared); err != nil {
		return 0, fmt.Errorf("the switches that another node has shared for channel %q can't be read: %w", channelID, err)
	}
	before := c.Switches(channelID)
	if err := c.turn(channelID, func(s *Switches) { s.adopt(shared, c.now(), c.steady()) }); err != nil {
		return 0, err
	}
	followed.set(name, revision)
	if before != c.Switches(channelID) {
		c.tell(channelID, "another node")
		if err := c.store(ctx, channelID); err != nil {
			c.trouble(err) // a restart asks the other nodes again
		}
	}
	return revision, nil
}

// shareSwitches shares the switches in force here, if any is on or the store has lost the document.
// It returns the document's revision.
func (c *Controls) shareSwitches(ctx context.Context, channelID string, lost bool) (revision int64, err error) {
	s := c.Switches(channelID)
	if !lost && s.PausedBy == "" && s.RaidUntil.IsZero() {
		return 0, nil
	}
	revision, err = c.setSwitches(ctx, channelID, s, 0)
	if errors.Is(err, ErrStale) { // another node was faster
		return c.followSwitches(ctx, channelID)
	}
	return revision, err
}

// adopt takes over shared switches.
func (s *Switches) adopt(shared sharedSwitches, now, steady time.Time) {
	s.PausedBy = shared.PausedBy
	left := shared.RaidUntil.Sub(now)
	switch {
	case left <= 0:
		s.endRaid()
	case !s.RaidUntil.Equal(shared.RaidUntil):
		s.RaidUntil, s.raidEnds = shared.RaidUntil, steady.Add(left)
	}
}

// shareTries is how often a change of switches is tried again because another node was faster.
const shareTries = 5

// turnShared changes a channel's switches on all nodes.
func (c *Controls) turnShared(ctx context.Context, channelID string, change func(*Switches)) error {
	if c.options.Policies.options.Documents == nil {
		return c.turn(channelID, change)
	}
	for range shareTries {
		revision, err := c.followSwitches(ctx, channelID)
		if err == nil {
			after := c.Switches(channelID)
			change(&after)
			_, err = c.setSwitches(ctx, channelID, after, revision)
		}
		switch {
		case err == nil:
			return c.turn(channelID, change)
		case !errors.Is(err, ErrStale):
			return errNotShared(err)
		}
	}
	return ErrStale
}

// setSwitches shares switches, if the document still has the given revision. It returns the new
// one.
func (c *Controls) setSwitches(ctx context.Context, channelID string, s Switches, revision int64) (next int64, err error) {
	data, err := json.Marshal(sharedSwitches{s.PausedBy, s.RaidUntil})
	if err != nil {
		return 0, err
	}
	p, name := c.options.Policies, switchesDocument+channelID
	if err := p.options.Documents.SetDocument(ctx, name, data, revision); err != nil {
		return 0, err
	}
	p.followed.set(name, revision+1)
	return revision + 1, nil
}
