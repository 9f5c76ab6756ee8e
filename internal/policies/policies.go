// Package policies has the policies that are in force in channels: those of a configuration or of
// the program, and the changes to them that people make while chat runs. It shares these changes
// with other nodes, and notifies whoever shows them.
//
// The package does not know the chat, the dashboard or the store. It reaches them only through the
// small interfaces below.
package policies

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Options configure Policies. Guard and Store are required.
type Options struct {
	Guard *chatguard.Guard
	Store Revisions

	// Base provides the policies that apply without changes by people. Nil means the policies that
	// the program sets in the Guard.
	Base Base

	// Acceptable returns an error, as a sentence for people, if a channel can't have a valid policy
	// here. Nil accepts all policies.
	Acceptable func(channelID string, p chatguard.Policy) error

	// Fix returns a text for the log: how to discard a channel's revision that can't be used. Nil
	// adds no text.
	Fix func(channelID string) string

	// Documents shares changes with other nodes. Nil means that there are none.
	Documents Documents

	Now func() time.Time // nil means the Guard's clock
	Log *slog.Logger     // nil logs nothing
}

// Base provides the policies of a configuration.
type Base interface {
	// Default returns the policy of all channels without their own.
	Default() chatguard.Policy
	// Policy returns the policy of a channel.
	Policy(channelID string) chatguard.Policy
	// Channels returns the known IDs of the channels that may have their own policy.
	Channels() []string
}

// Revisions stores and numbers the changes of policies.
type Revisions interface {
	// SaveRevision stores a revision, whose Number must be 0, and returns it with its number. saved
	// is true if the revision is on disk. It is false if the database fails: the revision is then
	// pending in memory and written later. An error means that the revision was not accepted,
	// because too many changes are pending.
	SaveRevision(ctx context.Context, revision journal.Revision) (stored journal.Revision, saved bool, err error)
	// DiscardRevisions returns a channel to the configuration's policy. It stores a revision
	// without Policy and Changes. Its results are those of SaveRevision.
	DiscardRevisions(ctx context.Context, channelID, author string) (stored journal.Revision, saved bool, err error)
	// Revisions returns up to n of a channel's revisions with numbers below before, newest first,
	// including pending ones; 0 means the newest. more reports whether there are older ones. It may
	// return fewer than n, but at least two.
	Revisions(ctx context.Context, channelID string, before, n int) (revisions []journal.Revision, more bool, err error)
	// CurrentRevisions returns the last stored revision of each channel, unless it reset the policy
	// to the configuration.
	CurrentRevisions(ctx context.Context) ([]journal.Revision, error)
}

// Policies are the policies of channels: a base, people's changes to it at run time, and changes
// that are not saved yet. Policies validate a change, store it as a revision, and put it in force
// in the Guard. Then they notify the followers. While the database is failing, a change comes into
// force once the Store has it in memory. Policies are safe for concurrent use; create them with
// New.
type Policies struct {
	// Followers are notified of all changes, including those of package control.
	Followers *Followers
	// Shared are the documents that nodes share, including those of package control.
	Shared *Shared

	options   Options
	origin    string // the base's name for logs
	pace      pace
	unsaved   unsaved
	documents *Kind

	// changing is held while a policy is changed, until it is stored and in force. Only other
	// changes wait for it.
	changing sync.Mutex

	// mu is held while policies are put in force, but not while anything is written. It guards the
	// fields below.
	mu      sync.Mutex
	base    Base
	program programPolicies
	live    map[string]LiveChange // last revision by channel ID, if it changes anything
}

// New returns Policies. They don't change the Guard until Restore.
func New(o Options) *Policies {
	if o.Now == nil {
		o.Now = o.Guard.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	p := &Policies{
		Followers: &Followers{}, options: o, origin: "configuration", base: o.Base, program: programPolicies{guard: o.Guard},
		live: map[string]LiveChange{}, pace: newPace(o.Now),
	}
	if o.Base == nil {
		p.origin = "program"
	}
	p.Shared = newShared(o.Documents, p.channels, o.Log)
	p.documents = p.Shared.Add(&Kind{Prefix: "policy/", Apply: p.applyShared, Current: p.toShare, Changing: &p.changing})
	return p
}

// Base returns a channel's policy without people's changes.
func (p *Policies) Base(channelID string) chatguard.Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.baseOf(channelID)
}

func (p *Policies) baseOf(channelID string) chatguard.Policy {
	if p.base == nil {
		return p.program.policy(channelID)
	}
	return p.base.Policy(channelID)
}

// Difference returns how a channel's policy differs from the base.
func (p *Policies) Difference(channelID string) []journal.Change {
	return Diff(p.Base(channelID), p.options.Guard.ChannelPolicy(channelID))
}

// IsSaved reports whether the policy of a channel would survive the process.
func (p *Policies) IsSaved(channelID string) bool { return !p.unsaved.has(channelID) }

// Run notifies the followers when unsaved policies have been saved, until ctx ends. database
// returns the state of the Store.
func (p *Policies) Run(ctx context.Context, database func() journal.Database) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.settle(database)
		case <-ctx.Done():
			return
		}
	}
}

func (p *Policies) settle(database func() journal.Database) {
	now := p.options.Now() // before the database is asked for its progress
	for _, channel := range p.unsaved.settle(database(), now) {
		p.Followers.Notify(func(f Follower) { f.Saved(channel) })
	}
}

// Tag returns the ETag of a policy or of another value in force. Equal values have equal tags.
func Tag(inForce any) string {
	data, err := json.Marshal(inForce)
	if err != nil {
		panic(err) // whatever is in force can be encoded
	}
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

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
	revision := journal.Revision{ChannelID: r.ChannelID, Author: r.Author, At: p.options.Now().UTC(), Policy: policy}
	if !discards {
		revision.Changes = Diff(p.Base(r.ChannelID), policy)
	}
	return revision
}

// keep stores a revision and puts its policy in force. If the Store fails, it doesn't, unless other
// nodes have the policy already.
func (p *Policies) keep(ctx context.Context, wanted journal.Revision, policy chatguard.Policy) (kept journal.Revision, saved bool, err error) {
	if isDiscarded(wanted) {
		kept, saved, err = p.options.Store.DiscardRevisions(ctx, wanted.ChannelID, wanted.Author)
	} else {
		kept, saved, err = p.options.Store.SaveRevision(ctx, wanted)
	}
	switch {
	case err != nil && p.Shared.IsAlone():
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
	if err := p.options.Guard.ValidateChannelPolicy(channelID, policy); err != nil {
		return err
	}
	if p.options.Acceptable != nil {
		return p.options.Acceptable(channelID, policy)
	}
	return nil
}

// putInForce puts the policy of a stored revision in force.
func (p *Policies) putInForce(r journal.Revision, policy chatguard.Policy, saved bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.options.Now()
	p.unsaved.note(r.ChannelID, r.Number, saved, now)
	switch {
	case p.base != nil:
	case isDiscarded(r):
		p.program.forget(r.ChannelID)
	default:
		p.program.note(r.ChannelID, policy)
	}
	delete(p.live, r.ChannelID)
	if !r.IsEmpty() {
		p.live[r.ChannelID] = LiveChange{Revision: r, InForce: policy, Difference: r.Changes}
	}
	return p.options.Guard.At(now).SetChannelPolicy(r.ChannelID, policy)
}

// toShare returns the revision that is in force here, if people have changed the policy.
func (p *Policies) toShare(channelID string, _ bool) (revision any, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	live, changed := p.live[channelID]
	return live.Revision, changed && live.Problem == nil
}

// applyShared puts in force a revision that another node has shared. The caller holds changing.
func (p *Policies) applyShared(ctx context.Context, channelID string, data []byte) error {
	var shared journal.Revision
	if err := json.Unmarshal(data, &shared); err != nil {
		return fmt.Errorf("the policy that another node has shared for channel %q can't be read: %w", channelID, err)
	}
	live := Resolve(channelID, p.Base(channelID), shared, p.options.Guard.ValidateChannelPolicy, p.options.Acceptable)
	p.logProblems(channelID, live)
	if reflect.DeepEqual(live.InForce, p.options.Guard.ChannelPolicy(channelID)) {
		return nil
	}
	wanted := p.revision(Request{ChannelID: channelID, Author: shared.Author}, shared.IsEmpty(), live.InForce)
	kept, _, err := p.keep(ctx, wanted, live.InForce)
	if err != nil {
		return err
	}
	p.Followers.Notify(func(f Follower) { f.Revised(kept) })
	return nil
}

// channels returns the IDs of the channels that may have their own policy.
func (p *Policies) channels() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.base != nil {
		ids = p.base.Channels()
	}
	return slices.AppendSeq(ids, maps.Keys(p.live))
}

// saveTime is the maximum time for saving a change.
const saveTime = 10 * time.Second

// UntilKept returns a context that lasts as long as storing a change may take, even if the request
// has ended.
func UntilKept(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), saveTime)
}
