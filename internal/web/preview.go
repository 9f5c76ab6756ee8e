package web

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	mostHours       = 48 // how far a preview looks back
	mostDifferences = 100
)

// previewWanted is the body of a request for a preview.
type previewWanted struct {
	Policy *wholePolicy `json:"policy"` // the policy to try
	// Hours is how many hours to look back; nil means mostHours.
	Hours *int `json:"hours,omitempty"`
}

// previewed is the answer to a request for a preview.
type previewed struct {
	From     time.Time `json:"from"`  // time of the first message considered
	Until    time.Time `json:"until"` // when the messages were read
	Messages int       `json:"messages"`
	Users    int       `json:"users"`
	Exempt   int       `json:"exempt_messages"` // under the policy in force
	// Truncated is true if there were too many messages and older ones were left out.
	Truncated bool                  `json:"truncated"`
	InForce   *simulate.Outcome     `json:"in_force"`
	Candidate *simulate.Outcome     `json:"candidate"`
	Changed   []simulate.Difference `json:"changed"`
	TookMS    int64                 `json:"took_ms"`
}

// previews answers requests for the effect that other limits would have had.
type previews struct {
	guard    *chatguard.Guard
	policies *policies.Policies
	store    Records
	reads    *longReads
	cache    *previewCache
}

// preview is POST /channels/{channel}/preview. It compares the verdicts that another policy and the
// current policy would have given. It reads only the policy and the users' overrides from the
// Guard, so it delays no decision.
func (h *previews) preview(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	policy, hours, err := h.readCandidate(w, r, channel)
	if err != nil {
		return err
	}
	answer, err := readLong(r.Context(), h.reads, who, readWait, func() (*previewed, error) { return h.computePreview(r.Context(), channel, policy, hours) })
	if r.Context().Err() != nil {
		return nil // The client is gone, usually to ask again.
	}
	if err != nil {
		return err
	}
	return problem.WriteJSON(w, answer)
}

// readCandidate reads the policy to preview and the number of hours.
func (h *previews) readCandidate(w http.ResponseWriter, r *http.Request, channel string) (policy chatguard.Policy, hours int, err error) {
	var in previewWanted
	if err := problem.ReadJSONUpTo(w, r, &in, problem.MaxBody); err != nil {
		return policy, 0, err
	}
	if in.Policy == nil {
		return policy, 0, problem.New(http.StatusBadRequest, "Send the policy to preview.")
	}
	hours = mostHours
	if in.Hours != nil {
		hours = *in.Hours
	}
	if hours < 1 || hours > mostHours {
		return policy, 0, problem.New(http.StatusUnprocessableEntity, "A preview covers 1 to %d hours, not %d.", mostHours, hours)
	}
	policy = in.Policy.withRoles(h.guard.ChannelPolicy(channel))
	if err := h.policies.Validate(channel, policy); err != nil {
		return policy, 0, errRefused(http.StatusUnprocessableEntity, err)
	}
	return policy, hours, nil
}

// computePreview reads the messages, unless they are still cached, and judges them by both
// policies.
func (h *previews) computePreview(ctx context.Context, channel string, candidate chatguard.Policy, hours int) (*previewed, error) {
	began := h.guard.Now()
	read, err := h.recentMessages(ctx, channel, hours)
	if err != nil {
		return nil, err
	}
	own, err := h.overridesOf(ctx, channel)
	if err != nil {
		return nil, err
	}
	present := basis{h.guard.ChannelPolicy(channel), own}
	group, groupCtx := errgroup.WithContext(ctx)
	var inForce, wouldBe *simulate.Outcome
	group.Go(func() (err error) {
		inForce, err = h.cache.currentOutcome(groupCtx, read, present)
		return errBudget(language.Sentence("The limits in force"), err)
	})
	group.Go(func() (err error) {
		wouldBe, err = simulate.Judge(groupCtx, read.timeline, candidate, present.own)
		return errBudget(language.Sentence("The proposed limits"), err)
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	changed := simulate.Differences(read.timeline, inForce, wouldBe, mostDifferences)
	h.addNames(ctx, channel, changed)
	return &previewed{
		From: read.start(), Until: read.at.UTC(), Messages: read.timeline.Messages(), Users: read.timeline.Users(),
		Exempt: inForce.ExemptMessages, Truncated: read.timeline.Truncated(), InForce: inForce, Candidate: wouldBe,
		Changed: changed, TookMS: h.guard.Now().Sub(began).Milliseconds(),
	}, nil
}

// addNames adds the users' display names. While the database can't tell them, the logins are
// enough.
func (h *previews) addNames(ctx context.Context, channel string, users []simulate.Difference) {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.UserID
	}
	people, err := h.store.People(ctx, channel, ids)
	if err != nil {
		return
	}
	for i := range users {
		users[i].DisplayName = people[users[i].UserID].DisplayName
	}
}

// errBudget returns the problem for a policy that needs more memory than a preview may use. It
// returns any other error unchanged. The parameter which names the policy in the problem.
func errBudget(which language.Sentence, err error) error {
	var beyond *simulate.BudgetError
	if !errors.As(err, &beyond) {
		return err
	}
	return problem.New(http.StatusUnprocessableEntity, "%s need %d MiB for %d users; a preview has %d MiB. Preview fewer hours, or use a smaller sliding log: "+
		"it takes 8 bytes per message and user.", which, (beyond.Bytes+1<<20-1)>>20, beyond.Users, simulate.Budget>>20)
}

// overridesOf returns the users' overrides in a channel and across all channels.
func (h *previews) overridesOf(ctx context.Context, channel string) (own simulate.Overrides, err error) {
	if own.Channel, err = h.guard.UserOverrides(ctx, channel); err == nil {
		own.Everywhere, err = h.guard.UserOverrides(ctx, "")
	}
	return own, errOverrides(err)
}

// recentMessages returns the messages of a channel in the last hours.
func (h *previews) recentMessages(ctx context.Context, channel string, hours int) (*lookback, error) {
	now := h.guard.Now()
	if known := h.cache.find(channel, hours, now); known != nil {
		return known, nil
	}
	read := &lookback{hours: hours, at: now, timeline: simulate.NewTimeline(maxLookback)}
	err := h.store.Timeline(ctx, channel, now.Add(-time.Duration(hours)*time.Hour), func(said []journal.TimelineMessage) error {
		read.timeline.Add(said)
		runtime.Gosched() // let live chat run first
		return ctx.Err()
	})
	if err != nil {
		return nil, problem.New(http.StatusServiceUnavailable, "The recorded messages can't be read now: the database is failing.").Because(err)
	}
	h.cache.keep(channel, read)
	return read, nil
}
