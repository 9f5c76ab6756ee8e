package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// saveTime is how long keeping a change may take.
const saveTime = 10 * time.Second

// change is what a change of a policy is answered with.
type change struct {
	journal.Revision
	Difference []journal.Change `json:"difference"` // to what held before
	Saved      bool             `json:"saved"`      // false: in force all the same, and written when the database is well again
}

// Revise changes a channel's policy by what edit makes of the present one, in the author's name: it is kept as a revision, put in force, and
// everyone is told. saved is false while the database is in trouble: then it is in force all the same, and a restart would undo it. The error is
// edit's, or one sentence for people; then nothing is changed.
func (s *Server) Revise(ctx context.Context, channel, author string, edit func(chatguard.Policy) (chatguard.Policy, error)) (saved bool, err error) {
	s.policy.Lock()
	defer s.policy.Unlock()
	policy, err := edit(s.opts.Guard.Policy(channel))
	if err != nil {
		return false, err
	}
	done, err := s.change(ctx, channel, author, policy, s.keepPolicy(channel, author))
	return done.Saved, err
}

// Discard goes back to the configuration's policy of a channel, in the author's name, as Revise changes it, and returns the revision that says so.
func (s *Server) Discard(ctx context.Context, channel, author string) (revision journal.Revision, saved bool, err error) {
	s.policy.Lock()
	defer s.policy.Unlock()
	done, err := s.change(ctx, channel, author, s.opts.BasePolicy(channel), s.keepNone(channel, author))
	return done.Revision, done.Saved, err
}

// change is putInForce for those who want an error of one sentence. The caller holds s.policy.
func (s *Server) change(ctx context.Context, channel, author string, policy chatguard.Policy, keep keeper) (change, error) {
	done, err := s.putInForce(ctx, channel, policy, keep)
	if p := (*problem)(nil); errors.As(err, &p) {
		s.opts.Log.Warn("a change of policy was refused", "channel", channel, "author", author, "error", err)
		err = errors.New(p.Detail) // the cause is for the log
	}
	return done, err
}

// revise is Revise for a request that may say which policy it is to replace.
func (s *Server) revise(w http.ResponseWriter, r *http.Request, channel string, wanted func() chatguard.Policy, keep keeper) error {
	s.policy.Lock()
	defer s.policy.Unlock()
	if match := r.Header.Get("If-Match"); match != "" && !matches(match, policyTag(s.opts.Guard.Policy(channel))) {
		return errStale()
	}
	policy := wanted()
	done, err := s.putInForce(r.Context(), channel, policy, keep)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", policyTag(policy))
	return writeJSON(w, done)
}

// Rebase runs change, which puts what the configuration says now in force in the Guard, while no moderator's change is under way. Then everyone
// on the board is judged again, and the live feed tells of every channel's policy. It returns change's error. change must not call Revise.
func (s *Server) Rebase(change func() error) error {
	s.policy.Lock()
	defer s.policy.Unlock()
	err := change()
	s.judgeAgain("", s.opts.Now()) // in any case: some of it may be in force
	for _, c := range s.opts.Channels() {
		s.Changed(c.ID)
	}
	return err
}

// putInForce puts a policy in force that can be: first it is kept, then it holds, then everyone is told. While the database is in trouble the
// Store's memory is enough to keep it. The caller holds s.policy.
func (s *Server) putInForce(ctx context.Context, channel string, policy chatguard.Policy, keep keeper) (done change, err error) {
	if err := s.canHold(channel, policy); err != nil {
		return done, refuse(http.StatusUnprocessableEntity, "%s", err)
	}
	ctx, cancel := untilKept(ctx) // what is kept has to come into force, too
	defer cancel()
	revision, saved, err := keep(ctx, policy)
	if err != nil {
		return done, errStore(err)
	}
	now, difference := s.opts.Now(), journal.Diff(s.opts.Guard.Policy(channel), policy)
	s.unsaved.note(channel, revision.Number, saved, now)
	if err := s.opts.Guard.SetPolicy(channel, policy, now); err != nil {
		return done, err
	}
	s.judgeAgain(channel, now)
	s.revised.add(channel) // a verdict under the old policy may be on its way still
	return change{revision, difference, saved}, s.announce(revision)
}

// untilKept is a context that lives on for as long as keeping something may take, even where whoever asked for it has gone.
func untilKept(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), saveTime)
}

// canHold returns an error, as a sentence for people, where the policy can't be put in force in the channel.
func (s *Server) canHold(channel string, policy chatguard.Policy) error {
	if err := s.opts.Guard.ValidatePolicy(channel, policy); err != nil {
		return err
	}
	if s.opts.Acceptable != nil {
		return s.opts.Acceptable(channel, policy)
	}
	return nil
}

// keeper hands a policy to the Store as a revision. It returns as Revisions.SaveRevision does.
type keeper func(ctx context.Context, policy chatguard.Policy) (stored journal.Revision, saved bool, err error)

// keepPolicy keeps a policy as the channel's next revision.
func (s *Server) keepPolicy(channel, author string) keeper {
	return func(ctx context.Context, policy chatguard.Policy) (journal.Revision, bool, error) {
		return s.opts.Store.SaveRevision(ctx, journal.Revision{
			ChannelID: channel, Author: author, At: s.opts.Now().UTC(), Policy: policy,
			Changes: journal.Diff(s.opts.BasePolicy(channel), policy),
		})
	}
}

// keepNone keeps that the channel goes back to the configuration's policy.
func (s *Server) keepNone(channel, author string) keeper {
	return func(ctx context.Context, _ chatguard.Policy) (journal.Revision, bool, error) {
		return s.opts.Store.DiscardRevisions(ctx, channel, author)
	}
}

func errStale() *problem {
	return refuse(http.StatusPreconditionFailed, "Somebody else has changed the limits meanwhile. Load them again, then make your change.")
}

// errStore says that nothing was changed because nothing could be kept.
func errStore(cause error) error {
	return refuse(http.StatusServiceUnavailable, "The database is in trouble, so nothing was changed. Try again.").because(cause)
}
