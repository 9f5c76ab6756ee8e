package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Revision is one change of a channel's policy by a person.
type Revision struct {
	ChannelID string           `json:"channel"`
	Number    int              `json:"number"` // 1, 2, 3 … in each channel; 0 is the policy of the configuration
	Author    string           `json:"author"`
	At        time.Time        `json:"at"`
	Policy    chatguard.Policy `json:"policy"`  // the whole policy in force after the change
	Changes   []Change         `json:"changes"` // what differs from the configuration

	// Unreadable says why the stored Policy or Changes can't be read; both are empty then. Nil means that they can.
	Unreadable error `json:"-"`
}

// IsEmpty reports whether the revision changes nothing, as one that went back to the configuration.
func (r Revision) IsEmpty() bool { return len(r.Changes) == 0 && r.Unreadable == nil }

// Apply returns a channel's policy with the revision's changes made to it, and those that no longer fit, as Apply does. The error says why the
// revision can't be used at all: it can't be read, or the policy it was saved with isn't valid. The policy is base then.
func (r Revision) Apply(base chatguard.Policy) (policy chatguard.Policy, left []Change, err error) {
	if r.Unreadable != nil {
		return base, nil, r.Unreadable
	}
	if err := r.Policy.Validate(); err != nil { // once, because there may be a great many changes
		return base, nil, err
	}
	policy, left = Apply(base, r.Changes)
	return policy, left, nil
}

// Change is one key of a policy with another value, dotted as in the configuration: limit.burst.refill.
type Change struct {
	Key  string `json:"key"`
	From any    `json:"from"` // as JSON has it; nil where the key is new
	To   any    `json:"to"`   // nil where the key is gone
}
