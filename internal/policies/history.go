package policies

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
	Difference []journal.Change `json:"difference"`           // from the revision before
	Discarded  bool             `json:"discarded"`            // restored the configuration's policy
	Saved      bool             `json:"saved"`                // false: a restart now would undo it
	Unreadable string           `json:"unreadable,omitempty"` // why the policy and the differences are missing
}

// ErrHistory is wrapped in the error of History and Revert when earlier revisions can't be read.
var ErrHistory = errors.New("earlier changes can't be read")

// History returns up to n revisions of a channel's policy with numbers below before, newest first.
// A before of 0 means no bound. more reports whether there are older ones. It returns fewer than n,
// but at least one, if they are long.
func (p *Policies) History(ctx context.Context, channelID string, before, n int) (past []PastRevision, more bool, err error) {
	revisions, more, err := p.options.Store.Revisions(ctx, channelID, before, n+1) // one more for the last difference
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrHistory, err)
	}
	shown := len(revisions)
	if more || shown > n {
		shown, more = shown-1, true
	}
	revisions = append(revisions, journal.Revision{}) // before the first one was the configuration's policy
	past = make([]PastRevision, shown)
	for i, r := range revisions[:shown] {
		past[i] = PastRevision{
			Revision: r, Difference: differenceTo(revisions[i+1], r), Discarded: isDiscarded(r), Saved: !p.unsaved.hasRevision(channelID, r.Number),
		}
		if r.Unreadable != nil {
			past[i].Unreadable = r.Unreadable.Error()
		}
	}
	return past, more, nil
}

// revisionNumbered returns a revision of a channel that can be put in force again.
func (p *Policies) revisionNumbered(ctx context.Context, channelID string, number int) (r journal.Revision, err error) {
	revisions, _, err := p.options.Store.Revisions(ctx, channelID, number+1, 1)
	switch {
	case err != nil:
		return r, fmt.Errorf("%w: %w", ErrHistory, err)
	case len(revisions) == 0 || revisions[0].Number != number:
		return r, ErrNoRevision
	case revisions[0].Unreadable != nil:
		return r, &Error{fmt.Errorf("revision %d can't be restored: %w", number, revisions[0].Unreadable)}
	}
	return revisions[0], nil
}

// isDiscarded reports whether a revision restored the configuration's policy.
func isDiscarded(r journal.Revision) bool { return r.Changes == nil && r.Unreadable == nil }

// differenceTo returns the differences between a revision and the one before it. If one of the two
// restored the configuration's policy or can't be read, differenceTo uses the Changes of the other.
// Changes are the differences from the configuration at that time; the file may have changed since.
func differenceTo(before, r journal.Revision) []journal.Change {
	switch {
	case before.Changes == nil:
		return append([]journal.Change{}, r.Changes...)
	case r.Changes == nil:
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
