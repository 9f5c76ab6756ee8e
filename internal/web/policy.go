package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Revisions keeps the changes of policies, and numbers them.
type Revisions interface {
	// SaveRevision keeps a revision, whose Number is 0 still, and returns it with its number. It returns once the revision outlives the process,
	// and then saved is true; or once it is clear that the database is in trouble: then the revision waits in memory, to be written later, and
	// saved is false. The error means that nothing is kept and nothing will be, because too many changes wait already.
	SaveRevision(ctx context.Context, revision journal.Revision) (stored journal.Revision, saved bool, err error)
	// DiscardRevisions goes back to the configuration's policy, which is a revision without Policy and Changes. It returns as SaveRevision does.
	DiscardRevisions(ctx context.Context, channelID, author string) (stored journal.Revision, saved bool, err error)
	// Revisions returns a channel's revisions, those that wait included, the newest first.
	Revisions(ctx context.Context, channelID string) ([]journal.Revision, error)
}

// policyState is what the live feed tells of a policy.
type policyState struct {
	ETag     string         `json:"etag"`
	Mode     chatguard.Mode `json:"mode"`               // as stated: what is edited
	InForce  chatguard.Mode `json:"in_force"`           // with a pause, say, laid over it
	Saved    bool           `json:"saved"`              // false: it is in force, and a restart now would undo the change that made it
	Revision *revisionNote  `json:"revision,omitempty"` // the change that the frame tells of
}

// revisionNote says who changed a policy, and when.
type revisionNote struct {
	Number int       `json:"number"`
	Author string    `json:"author"`
	At     time.Time `json:"at"`
}

func (s *Server) policyState(channel string) policyState {
	policy := s.opts.Guard.Policy(channel)
	return policyState{
		ETag: policyTag(policy), Mode: policy.Mode, InForce: s.opts.Guard.InForce(channel).Mode, Saved: !s.unsaved.has(channel),
	}
}

// policyTag is the ETag of a policy: equal for equal policies.
func policyTag(p chatguard.Policy) string { return tagOf(p) }

// tagOf is the ETag of something in force.
func tagOf(inForce any) string {
	data, err := json.Marshal(inForce)
	if err != nil {
		panic(err) // what is in force is valid, and what is valid can be written
	}
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// getPolicy is GET /channels/{channel}/policy.
func (s *Server) getPolicy(w http.ResponseWriter, r *http.Request, _ caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	policy := s.opts.Guard.Policy(channel)
	w.Header().Set("ETag", policyTag(policy))
	return writeJSON(w, policy)
}

// putPolicy is PUT /channels/{channel}/policy. It answers with the revision once that is in force, and says whether it is saved.
func (s *Server) putPolicy(w http.ResponseWriter, r *http.Request, who caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	if err := needsMatch(r); err != nil {
		return err
	}
	var policy wholePolicy
	if err := readJSONUpTo(w, r, &policy, maxBody); err != nil {
		return err
	}
	return s.revise(w, r, channel, func() chatguard.Policy { return policy.Policy }, s.keepPolicy(channel, who.name))
}

// deletePolicy is DELETE /channels/{channel}/policy: back to the configuration's.
func (s *Server) deletePolicy(w http.ResponseWriter, r *http.Request, who caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	return s.discard(w, r, channel, who)
}

// discard puts the configuration's policy in force.
func (s *Server) discard(w http.ResponseWriter, r *http.Request, channel string, who caller) error {
	base := func() chatguard.Policy { return s.opts.BasePolicy(channel) }
	return s.revise(w, r, channel, base, s.keepNone(channel, who.name))
}

// channelOf returns the ID of the channel that the request's path names.
func (s *Server) channelOf(r *http.Request) (string, error) {
	c, err := s.channel(r.PathValue("channel"))
	return c.ID, err
}

// channel returns the channel with an ID: one that is served, or one that servers have asked about, of which the list doesn't have all.
func (s *Server) channel(id string) (Channel, error) {
	all := s.opts.Channels()
	if i := slices.IndexFunc(all, func(c Channel) bool { return c.ID == id }); i >= 0 {
		return all[i], nil
	}
	if s.checked.has(id) {
		return Channel{ID: id, Login: s.nameOf(id)}, nil
	}
	return Channel{}, refuse(http.StatusNotFound, "There is no channel with the ID %s here.", quoted(id))
}

// needsMatch returns a problem where a request doesn't say which policy it is to replace.
func needsMatch(r *http.Request) error {
	if r.Header.Get("If-Match") == "" {
		return refuse(http.StatusPreconditionRequired, "Send the ETag of the policy you changed as If-Match.")
	}
	return nil
}

// matches reports whether an If-Match header names the tag.
func matches(header, tag string) bool {
	for _, candidate := range strings.Split(header, ",") {
		if candidate = strings.TrimSpace(candidate); candidate == tag || candidate == "*" {
			return true
		}
	}
	return false
}
