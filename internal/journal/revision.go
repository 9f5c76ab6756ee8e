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
}

// Change is one key of a policy with another value, dotted as in the configuration: limit.burst.refill.
type Change struct {
	Key  string `json:"key"`
	From any    `json:"from"` // as JSON has it; nil where the key is new
	To   any    `json:"to"`   // nil where the key is gone
}
