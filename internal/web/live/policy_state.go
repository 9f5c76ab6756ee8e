package live

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/policies"
)

// PolicyState is the state of a policy as published on the live feed.
type PolicyState struct {
	ETag    string         `json:"etag"`
	Mode    chatguard.Mode `json:"mode"`     // the stated mode, which people edit
	InForce chatguard.Mode `json:"in_force"` // the mode after overlays, such as a pause
	// Saved is false if the policy is in force but a restart now would lose its last change.
	Saved    bool          `json:"saved"`
	Revision *RevisionNote `json:"revision,omitempty"` // the change that the frame announces
}

// RevisionNote says who changed a policy, and when.
type RevisionNote struct {
	Number int       `json:"number"`
	Author string    `json:"author"`
	At     time.Time `json:"at"`
}

// policyState returns the state of a channel's policy.
func (s sources) policyState(channel string) PolicyState {
	policy := s.opts.Guard.ChannelPolicy(channel)
	return PolicyState{
		ETag: policies.Tag(policy), Mode: policy.Mode, InForce: inner.Of(s.opts.Guard).Mode(channel), Saved: s.opts.Policies.IsSaved(channel),
	}
}
