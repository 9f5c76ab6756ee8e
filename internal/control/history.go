package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/chatguard/chatguard/internal/journal"
)

// PastRevision is a revision in the history of a policy.
type PastRevision struct {
	journal.Revision
	Difference []journal.Change `json:"difference"` // from the revision before
	Discarded  bool             `json:"discarded"`  // restored the configuration's policy
	Saved      bool             `json:"saved"`      // false: a restart now would undo it
}

// ErrHistory is wrapped in the error of History and Revert when earlier revisions can't be read.
var ErrHistory = errors.New("earlier changes can't be read")

// History returns the revisions of a channel's policy, newest first.
func (p *Policies) History(ctx context.Context, channelID string) ([]PastRevision, error) {
	revisions, err := p.revisions(ctx, channelID)
	if err != nil {
		return nil, err
	}
	past := make([]PastRevision, len(revisions))
	for i, r := range revisions {
		past[i] = PastRevision{r, differenceTo(before(revisions, i), r), isDiscarded(r), !p.unsaved.hasRevision(channelID, r.Number)}
	}
	return past, nil
}

// revisions returns a channel's revisions, newest first.
func (p *Policies) revisions(ctx context.Context, channelID string) ([]journal.Revision, error) {
	revisions, err := p.options.Store.Revisions(ctx, channelID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHistory, err)
	}
	return revisions, nil
}

// isDiscarded reports whether a revision restored the configuration's policy.
func isDiscarded(r journal.Revision) bool { return r.Changes == nil }

// before returns the revision before the one at index place. It returns the zero revision if there
// is none; the configuration's policy was in force then.
func before(revisions []journal.Revision, place int) (r journal.Revision) {
	if place+1 < len(revisions) {
		r = revisions[place+1]
	}
	return r
}

// differenceTo returns the differences between a revision and the one before it. If one of the two
// restored the configuration's policy, differenceTo uses the Changes of the other. Changes are the
// differences from the configuration at that time; the file may have changed since.
func differenceTo(before, r journal.Revision) []journal.Change {
	switch {
	case isDiscarded(before):
		return append([]journal.Change{}, r.Changes...)
	case isDiscarded(r):
		return undone(before.Changes)
	}
	return Diff(before.Policy, r.Policy)
}

// undone returns the reverse of changes.
func undone(changes []journal.Change) []journal.Change {
	back := slices.Clone(changes)
	for i, c := range back {
		back[i].From, back[i].To = c.To, c.From
	}
	return back
}
