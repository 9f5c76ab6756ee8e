package sharing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/chatguard/chatguard/internal/limits"
)

// Edit changes the row of a key by hand. ok is false if there are no limits for the key. edit may
// be called several times. The error is edit's, or says why the store hasn't made the change. If
// the context ends first, the error wraps the context's. The change may then have been made only if
// the error wraps shared.ErrUnconfirmed, too.
func (s *Rows) Edit(ctx context.Context, key Key, edit func(*limits.Draft) error) (ok bool, err error) {
	ref, ok := s.ref(key, s.Now())
	if !ok {
		return false, nil
	}
	s.collectRow(key)
	return true, s.edit(ctx, func(drafts []*limits.Draft) error { return edit(drafts[0]) }, ref)
}

// EditUser changes the rows that a user's messages use, like Edit.
func (s *Rows) EditUser(ctx context.Context, c *Channel, user User, edit func([]*limits.Draft) error) error {
	refs := s.scopes.refs(nil, c, user)
	for _, ref := range refs {
		s.collectRow(ref.key)
	}
	return s.edit(ctx, edit, refs...)
}

// edit changes rows in one swap.
func (s *Rows) edit(ctx context.Context, edit func([]*limits.Draft) error, refs ...rowRef) error {
	r := &request{refs: refs, edit: edit, notify: true}
	if err := s.decide(ctx, r); err != nil {
		return err
	}
	if r.offline {
		return withContext(ctx, r.err)
	}
	return r.err
}

// withContext adds the context's error to the error of a store, if the context has ended.
func withContext(ctx context.Context, err error) error {
	if ended := ctx.Err(); err != nil && ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
}

// Explain explains a message of a user in a channel, and spends nothing. offline reports whether
// the store didn't answer. The error is the context's, if the context ended the wait.
func (s *Rows) Explain(ctx context.Context, c *Channel, user User, q *limits.Request) (d limits.Decision, levels []limits.Level, standing limits.Standing, offline bool, err error) {
	refs := s.scopes.refs(nil, c, user)
	r := &request{refs: refs, readOnly: true}
	r.edit = func(drafts []*limits.Draft) error {
		copies := make([]*limits.Draft, len(drafts))
		orders := make([]map[string]int, len(drafts))
		for i, draft := range drafts {
			copies[i], orders[i] = draft.Copy(), refs[i].order
		}
		d, levels, standing = limits.ExplainDrafts(copies, orders, q)
		return nil
	}
	if err = s.decide(ctx, r); err == nil && r.offline {
		err = ctx.Err()
	}
	return d, levels, standing, r.offline, err
}

// Override returns the override in the row of a key. ok is false if there are no limits for the
// key. If there is an error, it returns the override that is known without the store.
func (s *Rows) Override(ctx context.Context, key Key, at int64) (own limits.Own, ok bool, err error) {
	ref, ok := s.ref(key, s.Now())
	if !ok {
		return own, false, nil
	}
	r := readOverride(ref, at, &own)
	if err = s.decide(ctx, r); err == nil {
		err = r.err
	}
	if err != nil {
		return s.KnownOverride(key, at), true, withContext(ctx, err)
	}
	return own, true, nil
}

// Overrides returns the overrides of a channel's users, or of users in all channels if the ID is
// empty. If there is an error, it returns those that are known without the store.
func (s *Rows) Overrides(ctx context.Context, channelID string, at int64) (map[string]limits.Own, error) {
	users, err := s.store.Overrides(ctx, channelID)
	if err != nil {
		return s.known.overrides(channelID, at), withContext(ctx, err)
	}
	owns, now := make(map[string]limits.Own, len(users)), s.Now()
	for users := range slices.Chunk(users, rowsAtOnce) {
		found := make([]limits.Own, len(users))
		requests := make([]*request, 0, len(users))
		for i, user := range users {
			if ref, ok := s.ref(Key{channelID, user}, now); ok {
				requests = append(requests, readOverride(ref, at, &found[i]))
			}
		}
		err := s.decideAll(ctx, requests)
		for _, r := range requests {
			err = cmp.Or(err, r.err)
		}
		if err != nil {
			return s.known.overrides(channelID, at), withContext(ctx, err)
		}
		for i, own := range found {
			if !own.IsZero() {
				owns[users[i]] = own
			}
		}
	}
	return owns, nil
}

// readOverride returns a request that reads the override in a row.
func readOverride(ref rowRef, at int64, own *limits.Own) *request {
	edit := func(drafts []*limits.Draft) error {
		*own = drafts[0].OwnAt(at)
		return nil
	}
	return &request{refs: []rowRef{ref}, edit: edit, readOnly: true, single: true}
}

// overrides returns the overrides in a channel that are known without the store.
func (rows *knownRows) overrides(channelID string, at int64) map[string]limits.Own {
	owns := map[string]limits.Own{}
	rows.forEach(func(known *knownRow) {
		if own := known.row.OwnAt(at); known.key.ChannelID == channelID && !own.IsZero() {
			owns[known.key.UserID] = own
		}
	})
	return owns
}

// KnownOverride returns the override in the row of a key, if it is known without the store.
func (s *Rows) KnownOverride(key Key, at int64) (own limits.Own) {
	t := s.known.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.find(key); known != nil {
		own = known.row.OwnAt(at)
	}
	return own
}
