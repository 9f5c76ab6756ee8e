package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/chatguard/chatguard/internal/journal"
)

// pastRevision is a revision as the history of a policy shows it.
type pastRevision struct {
	journal.Revision
	Difference []journal.Change `json:"difference"` // what the revision changed in the one before it
	Discarded  bool             `json:"discarded"`  // it went back to the configuration's policy: it has none itself
	Saved      bool             `json:"saved"`      // false: a restart now would undo it
}

// getRevisions is GET /channels/{channel}/policy/revisions, the newest first.
func (s *Server) getRevisions(w http.ResponseWriter, r *http.Request, who caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	revisions, err := readLong(r.Context(), s.reads, who, readWait, func() ([]journal.Revision, error) { return s.revisionsOf(r.Context(), channel) })
	if err != nil {
		return err
	}
	past := make([]pastRevision, len(revisions)) // an empty list, never null
	for i, r := range revisions {
		past[i] = pastRevision{r, differenceTo(before(revisions, i), r), isDiscarded(r), !s.unsaved.hasRevision(channel, r.Number)}
	}
	return writeJSON(w, map[string][]pastRevision{"revisions": past})
}

// revisionsOf returns a channel's revisions, the newest first.
func (s *Server) revisionsOf(ctx context.Context, channel string) ([]journal.Revision, error) {
	revisions, err := s.opts.Store.Revisions(ctx, channel)
	if err != nil {
		return nil, refuse(http.StatusServiceUnavailable, "Earlier changes can't be read now: the database is in trouble.").because(err)
	}
	return revisions, nil
}

// isDiscarded reports whether a revision went back to the configuration's policy.
func isDiscarded(r journal.Revision) bool { return r.Changes == nil }

// before returns the revision before the one at a place; before the first one the configuration's policy held, as after one that is discarded.
func before(revisions []journal.Revision, place int) (r journal.Revision) {
	if place+1 < len(revisions) {
		r = revisions[place+1]
	}
	return r
}

// differenceTo is what a revision changed in the one before it. Where one of them is the configuration's policy, the other's Changes tell that as it
// was at the time; the file may be another by now.
func differenceTo(before, r journal.Revision) []journal.Change {
	switch {
	case isDiscarded(before):
		return append([]journal.Change{}, r.Changes...)
	case isDiscarded(r):
		return undone(before.Changes)
	}
	return journal.Diff(before.Policy, r.Policy)
}

// undone is the way back of changes.
func undone(changes []journal.Change) []journal.Change {
	back := slices.Clone(changes)
	for i, c := range back {
		back[i].From, back[i].To = c.To, c.From
	}
	return back
}
