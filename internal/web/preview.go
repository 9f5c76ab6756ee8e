package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/preview"
)

const (
	mostHours       = 48 // the timeline has no more
	mostDifferences = 100
)

// previewWanted is what a preview is asked for with.
type previewWanted struct {
	Policy *wholePolicy `json:"policy"`          // the candidate
	Hours  *int         `json:"hours,omitempty"` // to look back; nil means all that are recorded
}

// previewed is what a preview is answered with.
type previewed struct {
	From      time.Time            `json:"from"`  // of the first message that counts
	Until     time.Time            `json:"until"` // when the messages were read
	Messages  int                  `json:"messages"`
	Users     int                  `json:"users"`
	Exempt    int                  `json:"exempt_messages"` // under the policy in force
	Truncated bool                 `json:"truncated"`       // there were older messages: too many for one preview
	InForce   *preview.Outcome     `json:"in_force"`
	Candidate *preview.Outcome     `json:"candidate"`
	Changed   []preview.Difference `json:"changed"`
	TookMS    int64                `json:"took_ms"`
}

// preview is POST /channels/{channel}/preview: what would have happened under another policy, beside the present one. It takes nothing of the Guard but
// what policy and users have there, so no decision waits for it.
func (s *Server) preview(w http.ResponseWriter, r *http.Request, who caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	policy, hours, err := s.readCandidate(w, r, channel)
	if err != nil {
		return err
	}
	answer, err := readLong(r.Context(), s.reads, who, readWait, func() (*previewed, error) { return s.previewOf(r.Context(), channel, policy, hours) })
	if r.Context().Err() != nil {
		return nil // whoever asked has gone: to ask anew, as a rule
	}
	if err != nil {
		return err
	}
	return writeJSON(w, answer)
}

// readCandidate reads the policy that is asked about, and over how many hours.
func (s *Server) readCandidate(w http.ResponseWriter, r *http.Request, channel string) (policy chatguard.Policy, hours int, err error) {
	var in previewWanted
	if err := readJSONUpTo(w, r, &in, maxBody); err != nil {
		return policy, 0, err
	}
	if in.Policy == nil {
		return policy, 0, refuse(http.StatusBadRequest, "Send the policy that is to be tried.")
	}
	hours = mostHours
	if in.Hours != nil {
		hours = *in.Hours
	}
	if hours < 1 || hours > mostHours {
		return policy, 0, refuse(http.StatusUnprocessableEntity, "A preview looks back 1 to %d hours, not %d.", mostHours, hours)
	}
	if err := s.canHold(channel, in.Policy.Policy); err != nil {
		return policy, 0, refuse(http.StatusUnprocessableEntity, "%s", err)
	}
	return in.Policy.Policy, hours, nil
}

// previewOf reads what was said unless that has just been done, and judges it by both policies side by side.
func (s *Server) previewOf(ctx context.Context, channel string, candidate chatguard.Policy, hours int) (*previewed, error) {
	began := s.opts.Now()
	heard, err := s.hear(ctx, channel, hours)
	if err != nil {
		return nil, err
	}
	present := basis{s.opts.Guard.Policy(channel), s.ownOf(channel)}
	group, groupCtx := errgroup.WithContext(ctx)
	var inForce, wouldBe *preview.Outcome
	group.Go(func() (err error) {
		inForce, err = s.previews.present(groupCtx, heard, present)
		return errBudget("The limits in force", err)
	})
	group.Go(func() (err error) {
		wouldBe, err = preview.Judge(groupCtx, heard.timeline, candidate, present.own)
		return errBudget("The limits to be tried", err)
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return &previewed{
		From: heard.from(), Until: heard.at.UTC(), Messages: heard.timeline.Messages(), Users: heard.timeline.Users(),
		Exempt: inForce.ExemptMessages, Truncated: heard.timeline.Truncated(), InForce: inForce, Candidate: wouldBe,
		Changed: preview.Differences(heard.timeline, inForce, wouldBe, mostDifferences), TookMS: s.opts.Now().Sub(began).Milliseconds(),
	}, nil
}

// errBudget makes a problem of limits that take more memory than a preview has. Any other error stays as it is.
func errBudget(which string, err error) error {
	var beyond *preview.BudgetError
	if !errors.As(err, &beyond) {
		return err
	}
	return refuse(http.StatusUnprocessableEntity, "%s need %d MiB for %d users, and a preview has %d MiB. Look back fewer hours, or make a sliding-log "+
		"smaller: each of its messages takes 8 bytes of every user.", which, (beyond.Bytes+1<<20-1)>>20, beyond.Users, preview.Budget>>20)
}

// ownOf is what users have of their own in a channel, and in all of them.
func (s *Server) ownOf(channel string) (own preview.Own) {
	own.Channel, _ = s.opts.Guard.UserOverrides(channel) // a channel that is served has a valid ID
	own.Everywhere, _ = s.opts.Guard.UserOverrides("")   // or there are no such limits
	return own
}
