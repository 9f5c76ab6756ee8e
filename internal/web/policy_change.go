package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// changePolicy answers a request that changes a channel's policy.
func (h *channelPolicies) changePolicy(
	w http.ResponseWriter, r *http.Request, who access.Caller, channel string, change func(context.Context, policies.Request) (policies.Revised, error),
) error {
	wanted := policies.Request{ChannelID: channel, Author: who.Author(), Match: parseTags(r.Header.Get("If-Match"))}
	done, err := change(r.Context(), wanted)
	if err != nil {
		return errPolicy(err)
	}
	w.Header().Set("ETag", done.Tag)
	return problem.WriteJSON(w, done)
}

// parseTags returns the tags in an If-Match header, or nil if any tag matches.
func parseTags(header string) (tags []string) {
	for candidate := range strings.SplitSeq(header, ",") {
		tags = append(tags, strings.TrimSpace(candidate))
	}
	if header == "" || slices.Contains(tags, "*") {
		return nil
	}
	return tags
}

// errPolicy converts an error of policies.Policies to the answer.
func errPolicy(err error) error {
	if shared := errShared(err); shared != nil {
		return shared
	}
	var tooOften *policies.TooOftenError
	switch {
	case errors.As(err, &tooOften):
		return problem.New(http.StatusTooManyRequests, "You have changed the limits many times. Wait a moment.").After(tooOften.Wait)
	case errors.Is(err, policies.ErrStale):
		return problem.New(http.StatusPreconditionFailed, "Someone else changed the limits. Load them again, then repeat your change.")
	case errors.Is(err, policies.ErrNotKept):
		return problem.New(http.StatusServiceUnavailable, "Nothing was changed: the database is failing. Try again later.")
	case errors.Is(err, policies.ErrHistory):
		return problem.New(http.StatusServiceUnavailable, "Earlier changes can't be read now: the database is failing.").Because(err)
	case errors.As(err, new(*policies.Error)):
		return errRefused(http.StatusUnprocessableEntity, err)
	}
	return err
}

// errRefused returns the problem for a change that the Guard refuses. If a value is wrong, the
// problem names it.
func errRefused(status int, err error) *problem.Problem {
	refused := problem.New(status, "%s", journal.Sentence(err))
	if e, ok := errors.AsType[*chatguard.PolicyError](err); ok {
		refused.Mistake = mistakeOf(e)
	}
	return refused
}

// mistakeOf returns a mistake in a policy as part of a problem.
func mistakeOf(e *chatguard.PolicyError) *problem.Mistake {
	clip := func(text string) string { return hostile.Clip(text, problem.MaxDetail) }
	return &problem.Mistake{Limit: clip(e.Limit), Role: clip(string(e.Role)), Parameter: e.Parameter, Value: clip(e.Value), Problem: clip(e.Problem)}
}

// revertWanted is the body of a request to revert.
type revertWanted struct {
	Revision *int `json:"revision"` // 0 for the configuration's policy
}

// revertPolicy is POST /channels/{channel}/policy/revert. {"revision": N} puts the policy of an
// earlier revision in force again, as a new revision; 0 means the configuration's policy. It
// answers as PUT does.
func (h *channelPolicies) revertPolicy(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	if err := requireMatch(r); err != nil {
		return err
	}
	var in revertWanted
	if err := problem.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if in.Revision == nil {
		return problem.New(http.StatusBadRequest, "Send the number of the revision to restore.")
	}
	return h.changePolicy(w, r, who, channel, func(ctx context.Context, wanted policies.Request) (policies.Revised, error) {
		done, err := h.policies.Revert(ctx, wanted, *in.Revision)
		if errors.Is(err, policies.ErrNoRevision) {
			err = problem.New(http.StatusNotFound, "There is no revision %d of these limits.", *in.Revision)
		}
		return done, err
	})
}
