// Package policies has the policies that are in force in channels. They come from a configuration
// or from the program, and people change them while chat runs. The package shares these changes
// with other nodes, and notifies followers of them.
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
	"log/slog"
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

	Log *slog.Logger // nil logs nothing
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
	// including pending ones. A before of 0 means no bound. more reports whether there are older
	// ones. It may return fewer than n, but at least two.
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
	now       func() time.Time
	pace      pace
	unsaved   unsaved
	documents *DocumentKind

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
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Acceptable == nil {
		o.Acceptable = func(string, chatguard.Policy) error { return nil }
	}
	p := &Policies{
		Followers: &Followers{}, options: o, origin: "configuration", base: o.Base, program: programPolicies{o.Guard, map[string]programPolicy{}},
		live: map[string]LiveChange{}, now: o.Guard.Now, pace: newPace(o.Guard.Now),
	}
	if o.Base == nil {
		p.origin = "program"
	}
	p.Shared = &Shared{store: o.Documents, channels: p.channels, log: o.Log, states: map[string]documentState{}, served: map[string]bool{}, problems: map[string]string{}}
	p.documents = p.Shared.Add(&DocumentKind{Prefix: "policy/", Apply: p.applyShared, Current: p.toShare, Changing: &p.changing})
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
			p.notifySaved(database)
		case <-ctx.Done():
			return
		}
	}
}

func (p *Policies) notifySaved(database func() journal.Database) {
	now := p.now() // before the database is asked for its progress
	for _, channel := range p.unsaved.take(database(), now) {
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
