package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// basePolicy is the configuration's policy of a channel.
func (a *app) basePolicy(id string) chatguard.Policy {
	if name, ok := roomName(id); ok {
		return a.policies.Load().PolicyFor(name)
	}
	return a.policies.Load().PolicyFor(a.logins.of(id), id)
}

// putPoliciesInForce makes the policies hold that channels have of their own, in the configuration or because they were changed live.
func (a *app) putPoliciesInForce(ctx context.Context) error {
	changed, err := a.liveChanges(ctx)
	if err != nil {
		return withoutDatabase(err)
	}
	a.changed.Store(&changed)
	a.meetRooms()
	ids, _ := unlisted(*a.policies.Load())
	ids = append(ids, a.logins.ids()...)
	for id := range changed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := a.putInForce(id, changed[id]); err != nil {
			return err
		}
	}
	return nil
}

// revisions are the latest changes of channels' policies, by channel ID.
type revisions map[string]journal.Revision

// liveChanges are the revisions in which moderators have changed policies.
func (a *app) liveChanges(ctx context.Context) (revisions, error) {
	current, err := a.store.CurrentRevisions(ctx)
	changed := revisions{}
	for _, r := range current {
		if !r.IsEmpty() {
			changed[r.ChannelID] = r
		}
	}
	return changed, err
}

// putInForce makes a channel's policy hold: the configuration's, with what was changed live over it, which is named. A revision that can't be used
// is left out.
func (a *app) putInForce(id string, r journal.Revision) error {
	base := a.basePolicy(id)
	policy, left, unusable := r.Apply(base)
	log := a.log.With("channel", id, "revision", r.Number, "author", r.Author)
	a.leftOut.note(id, r, unusable)
	if unusable != nil {
		log.Error("what was changed live can't be used; the configuration's policy holds", "problem", unusable, "fix", "run `chatguard policy discard "+a.channelName(id)+"`")
	}
	if err := a.acceptable(id, policy); err != nil {
		a.log.Error("the policy in force can't be done; only observing", "channel", id, "problem", err)
		policy.Mode = chatguard.Observe
	}
	if err := a.guard.SetPolicy(id, policy, a.guard.Now()); err != nil {
		log.Error("what was changed live no longer fits the configuration, which holds instead", "problem", err)
		return a.guard.SetPolicy(id, base, a.guard.Now())
	}
	for _, c := range left {
		log.Warn("changed live, which no longer fits the configuration", "key", c.Key, "value", c.To)
	}
	if len(r.Changes) == 0 {
		return nil
	}
	for _, c := range journal.Diff(base, policy) {
		log.Info("changed live, and so not as configured", "key", c.Key, "value", c.To, "configured", c.From)
	}
	return nil
}

// overrides say which keys of channels' policies hold as they were changed live.
func (a *app) overrides() (lines []string) {
	changed := *a.changed.Load()
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		r, base := changed[id], a.basePolicy(id)
		policy, _, err := r.Apply(base)
		if err != nil {
			lines = append(lines, fmt.Sprintf("#%s: %s", a.channelName(id), unusableRevision(r, err, a.channelName(id))))
		}
		for _, c := range journal.Diff(base, policy) {
			lines = append(lines, fmt.Sprintf("#%s: %s stays %s, changed live by %s (revision %d); the configuration has %s",
				a.channelName(id), c.Key, printable(valueOf(c.To)), printable(r.Author), r.Number, printable(valueOf(c.From))))
		}
	}
	return lines
}

// unusableRevision says why a channel's live changes aren't in force.
func unusableRevision(r journal.Revision, problem error, channel string) string {
	return fmt.Sprintf("revision %d by %s can't be used: %s. `chatguard policy discard %s` throws it away", r.Number, printable(r.Author), printable(problem.Error()), channel)
}

// channelName is a channel's login or a room's name, or its ID if that isn't known.
func (a *app) channelName(id string) string {
	return cmp.Or(a.logins.of(id), strings.TrimPrefix(id, roomSpace))
}

// leftOut are the revisions that can't be used, by channel ID. It is safe for concurrent use.
type leftOut struct {
	mu   sync.Mutex
	byID map[string]unusable
}

// unusable is a revision that can't be used, and why.
type unusable struct {
	journal.Revision
	problem error
}

// note takes note of a channel's revision; without a problem it can be used.
func (l *leftOut) note(id string, r journal.Revision, problem error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if problem == nil {
		delete(l.byID, id)
		return
	}
	if l.byID == nil {
		l.byID = map[string]unusable{}
	}
	l.byID[id] = unusable{r, problem}
}

// all are copied, in no order.
func (l *leftOut) all() map[string]unusable {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.byID)
}
