package web

import (
	"context"
	"math"
	"net/http"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// channelPolicies answers requests about the limits of a channel.
type channelPolicies struct {
	channels channels
	guard    *chatguard.Guard
	policies *policies.Policies
	reads    *longReads
	// export formats a policy in the configuration file's format. Nil means that policies cannot be
	// exported.
	export func(chatguard.Policy) ([]byte, error)
}

// getPolicy is GET /channels/{channel}/policy.
func (h *channelPolicies) getPolicy(w http.ResponseWriter, r *http.Request, _ access.Caller, channel string) error {
	policy := h.guard.ChannelPolicy(channel)
	w.Header().Set("ETag", policies.Tag(policy))
	return problem.WriteJSON(w, policy)
}

// putPolicy is PUT /channels/{channel}/policy. Once the policy is in force, putPolicy answers with
// the revision and whether the revision is saved.
func (h *channelPolicies) putPolicy(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	if err := requireMatch(r); err != nil {
		return err
	}
	var policy wholePolicy
	if err := problem.ReadJSONUpTo(w, r, &policy, problem.MaxBody); err != nil {
		return err
	}
	return h.changePolicy(w, r, who, channel, func(ctx context.Context, wanted policies.Request) (policies.Revised, error) {
		return h.policies.Revise(ctx, wanted, func(before chatguard.Policy) (chatguard.Policy, error) {
			return policy.withRoles(before), nil
		})
	})
}

// deletePolicy is DELETE /channels/{channel}/policy. It restores the configuration's policy.
func (h *channelPolicies) deletePolicy(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	return h.changePolicy(w, r, who, channel, h.policies.Discard)
}

// mostRevisions is the maximum number of revisions per page. Each has a whole policy.
const mostRevisions = 50

// revisionPage is the answer to a request for the history of a channel's limits.
type revisionPage struct {
	Revisions []policies.PastRevision `json:"revisions"` // newest first
	More      bool                    `json:"more"`      // whether older ones exist
}

// getRevisions is GET /channels/{channel}/policy/revisions?before=&n=.
func (h *channelPolicies) getRevisions(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	q := problem.QueryOf(r)
	before, n := q.Number("before", 0, 1, math.MaxInt32), q.Number("n", mostRevisions, 1, mostRevisions)
	if q.Err != nil {
		return q.Err
	}
	return answerLong(w, r, h.reads, who, func() (page revisionPage, err error) {
		page.Revisions, page.More, err = h.policies.History(r.Context(), channel, int(before), int(n))
		return page, errPolicy(err)
	})
}

// requireMatch returns a problem if a request does not say which policy it replaces.
func requireMatch(r *http.Request) error {
	if r.Header.Get("If-Match") == "" {
		return problem.New(http.StatusPreconditionRequired, "Send the ETag of the policy you changed as If-Match.")
	}
	return nil
}
