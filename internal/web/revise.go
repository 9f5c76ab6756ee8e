package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// saveTime is how long keeping a revision may take.
const saveTime = 10 * time.Second

// change is what a change of a policy is answered with.
type change struct {
	journal.Revision
	Saved bool `json:"saved"` // false: in force all the same, and written when the database is well again
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
	done, err := s.putInForce(ctx, channel, policy, s.keepPolicy(channel, policy, author))
	return done.Saved, err
}

// revise is Revise for a request that says what the policy shall be, and which one it is to replace.
func (s *Server) revise(w http.ResponseWriter, r *http.Request, channel string, policy chatguard.Policy, keep keeper) error {
	s.policy.Lock()
	defer s.policy.Unlock()
	if match := r.Header.Get("If-Match"); match != "" && !matches(match, policyTag(s.opts.Guard.Policy(channel))) {
		return errStale()
	}
	done, err := s.putInForce(r.Context(), channel, policy, keep)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", policyTag(policy))
	return writeJSON(w, done)
}

// putInForce puts a policy in force that can be: first it is kept, then it holds, then everyone is told. While the database is in trouble the
// Store's memory is enough to keep it. The caller holds s.policy.
func (s *Server) putInForce(ctx context.Context, channel string, policy chatguard.Policy, keep keeper) (done change, err error) {
	if err := s.canHold(channel, policy); err != nil {
		return done, refuse(http.StatusUnprocessableEntity, "%s", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime) // what is kept has to come into force, too
	defer cancel()
	revision, saved, err := keep(ctx)
	if err != nil {
		return done, errStore(err)
	}
	now := s.opts.Now()
	s.unsaved.note(channel, saved, now)
	if err := s.opts.Guard.SetPolicy(channel, policy, now); err != nil {
		return done, err
	}
	s.judgeAgain(channel, now)
	s.revised.add(channel) // a verdict under the old policy may be on its way still
	return change{revision, saved}, s.announce(revision)
}

// canHold returns an error, as a sentence for people, where the policy can't be put in force in the channel.
func (s *Server) canHold(channel string, policy chatguard.Policy) error {
	if err := s.opts.Guard.ValidatePolicy(channel, policy); err != nil {
		return err
	}
	if s.opts.Acceptable != nil {
		return s.opts.Acceptable(policy)
	}
	return nil
}

// keeper hands a revision to the Store. It returns as Revisions.SaveRevision does.
type keeper func(ctx context.Context) (stored journal.Revision, saved bool, err error)

// keepPolicy keeps a policy as the channel's next revision.
func (s *Server) keepPolicy(channel string, policy chatguard.Policy, author string) keeper {
	return func(ctx context.Context) (journal.Revision, bool, error) {
		return s.opts.Store.SaveRevision(ctx, journal.Revision{
			ChannelID: channel, Author: author, At: s.opts.Now().UTC(), Policy: policy,
			Changes: journal.Diff(s.opts.BasePolicy(channel), policy),
		})
	}
}

// keepNone keeps that the channel goes back to the configuration's policy.
func (s *Server) keepNone(channel, author string) keeper {
	return func(ctx context.Context) (journal.Revision, bool, error) {
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

// revised are the channels that the live feed's next turn judges again.
type revised struct {
	mu       sync.Mutex
	channels []string
}

func (r *revised) add(channel string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.channels = append(r.channels, channel)
}

func (r *revised) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.channels
	r.channels = nil
	return taken
}

// judgeAgain asks the Guard anew about everyone who is held back in the channel, so that "may speak" is true under its present policy. The
// empty channel stands for all.
func (s *Server) judgeAgain(channel string, now time.Time) {
	for _, r := range s.board.list(channel) {
		v, err := s.opts.Guard.Peek(chatguard.Message{
			ChannelID: r.Channel, User: chatguard.User{ID: r.UserID, Roles: r.roles}, SentAt: now, Cost: r.cost,
		})
		if err != nil {
			continue // the row leaves when its time is over
		}
		s.board.judge(r, v, now)
	}
}

// announce tells the live feed of the revision, and whether it is saved.
func (s *Server) announce(revision journal.Revision) error {
	state := s.policyState(revision.ChannelID)
	state.Revision = &revisionNote{revision.Number, revision.Author, revision.At}
	return s.feed.publish(func() []frame {
		return []frame{{Type: policyFrame, Now: s.opts.Now(), Channel: revision.ChannelID, Policy: &state}}
	})
}
