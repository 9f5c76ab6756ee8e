package policies

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// Request says who changes a policy, and of which channel.
type Request struct {
	ChannelID string
	Author    string
	Match     []string // tags of policies that may be replaced; nil means any
}

// Revised is the result of a policy change.
type Revised struct {
	journal.Revision
	Difference []journal.Change `json:"difference"` // from the previous policy
	Saved      bool             `json:"saved"`      // false: in force, but not written yet
	Tag        string           `json:"-"`          // the tag of the policy now in force
}

// The errors of Revise, Revert and Discard, in addition to Error and TooOftenError. If one is
// returned, nothing has changed.
var (
	ErrStale      = errors.New("someone else changed the limits: try again")
	ErrNotKept    = errors.New("nothing was changed, because the database is failing: try again later")
	ErrNoRevision = errors.New("there is no such revision")
)

// Error is the error for a policy that can't be put in force, as a sentence for people.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Revise replaces a channel's policy by the result of edit on the current one. An error of edit is
// returned unchanged.
func (p *Policies) Revise(ctx context.Context, r Request, edit func(chatguard.Policy) (chatguard.Policy, error)) (Revised, error) {
	return p.change(ctx, r, false, edit)
}

// Discard resets a channel's policy to the base.
func (p *Policies) Discard(ctx context.Context, r Request) (Revised, error) {
	base := func(chatguard.Policy) (chatguard.Policy, error) { return p.Base(r.ChannelID), nil }
	return p.change(ctx, r, true, base)
}

// Revert puts the policy of an earlier revision in force again, as a new revision. Number 0 means
// the base.
func (p *Policies) Revert(ctx context.Context, r Request, number int) (Revised, error) {
	if number == 0 {
		return p.Discard(ctx, r)
	}
	earlier, err := p.revisionNumbered(ctx, r.ChannelID, number)
	switch {
	case err != nil:
		return Revised{}, err
	case isDiscarded(earlier):
		return p.Discard(ctx, r)
	}
	return p.Revise(ctx, r, func(chatguard.Policy) (chatguard.Policy, error) { return earlier.Policy, nil })
}

// change applies edit to a channel's policy, stores the new policy, puts it in force, and notifies
// the followers.
func (p *Policies) change(
	ctx context.Context, r Request, discards bool, edit func(chatguard.Policy) (chatguard.Policy, error),
) (done Revised, err error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	shared, err := p.Shared.Follow(ctx, p.documents, r.ChannelID)
	if err != nil {
		return done, NotShared(err)
	}
	before := p.options.Guard.ChannelPolicy(r.ChannelID)
	if r.Match != nil && !slices.Contains(r.Match, Tag(before)) {
		return done, ErrStale
	}
	policy, err := edit(before.Clone())
	if err != nil {
		return done, err
	}
	if err := p.Validate(r.ChannelID, policy); err != nil {
		return done, &Error{err}
	}
	if err := p.pace.check(ctx, r.Author); err != nil {
		return done, err
	}
	ctx, cancel := UntilKept(ctx) // once stored, the change must come into force
	defer cancel()
	wanted := p.revision(r, discards, policy)
	if err := p.Shared.Set(ctx, p.documents, r.ChannelID, wanted, shared); err != nil {
		return done, NotShared(err)
	}
	revision, saved, err := p.keep(ctx, wanted, policy)
	if err != nil {
		return done, err
	}
	p.Followers.Notify(func(f Follower) { f.Revised(revision) })
	done = Revised{revision, Diff(before, policy), saved, Tag(policy)}
	made := journal.Audit{
		At: revision.At, Author: r.Author, Action: journal.PolicyChanged, ChannelID: r.ChannelID,
		Detail: journal.PolicyDetail{Revision: revision.Number, Mode: policy.Mode, Difference: done.Difference},
	}
	if discards {
		made.Action = journal.PolicyDiscarded
	}
	p.Followers.Made(made)
	return done, nil
}

// revision returns the revision of a request, without a number. A revision that discards people's
// changes has no Changes.
func (p *Policies) revision(r Request, discards bool, policy chatguard.Policy) journal.Revision {
	revision := journal.Revision{ChannelID: r.ChannelID, Author: r.Author, At: p.now().UTC(), Policy: policy}
	if !discards {
		revision.Changes = Diff(p.Base(r.ChannelID), policy)
	}
	return revision
}

// keep stores a revision and puts its policy in force. If the Store fails, keep returns ErrNotKept,
// unless other nodes already have the policy.
func (p *Policies) keep(ctx context.Context, wanted journal.Revision, policy chatguard.Policy) (kept journal.Revision, saved bool, err error) {
	if isDiscarded(wanted) {
		kept, saved, err = p.options.Store.DiscardRevisions(ctx, wanted.ChannelID, wanted.Author)
	} else {
		kept, saved, err = p.options.Store.SaveRevision(ctx, wanted)
	}
	switch {
	case err != nil && p.Shared.isAlone():
		p.options.Log.Error("the store failed", "error", err)
		return kept, false, ErrNotKept
	case err != nil:
		p.options.Log.Error("a policy that all nodes have can't be stored here", "channel", wanted.ChannelID, "error", err)
		kept = wanted
	}
	return kept, saved, p.putInForce(kept, policy, saved)
}

// Validate returns an error, as a sentence for people, if the policy can't be put in force in the
// channel.
func (p *Policies) Validate(channelID string, policy chatguard.Policy) error {
	if err := inner.Of(p.options.Guard).ValidateChannelPolicy(channelID, policy); err != nil {
		return err
	}
	return p.options.Acceptable(channelID, policy)
}

// putInForce puts the policy of a stored revision in force.
func (p *Policies) putInForce(r journal.Revision, policy chatguard.Policy, saved bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.unsaved.note(r.ChannelID, r.Number, saved, now)
	switch {
	case p.base != nil:
	case isDiscarded(r):
		delete(p.program.channels, r.ChannelID)
	default:
		p.program.note(r.ChannelID, policy)
	}
	delete(p.live, r.ChannelID)
	if !r.IsEmpty() {
		p.live[r.ChannelID] = LiveChange{Revision: r, InForce: policy, Difference: r.Changes}
	}
	return inner.At(p.options.Guard, now).SetChannelPolicy(r.ChannelID, policy)
}

// saveTime is the maximum time for saving a change.
const saveTime = 10 * time.Second

// UntilKept returns a context that lasts as long as storing a change may take, even if the request
// has ended.
func UntilKept(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), saveTime)
}
