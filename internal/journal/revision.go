package journal

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
)

// Revision is one change of a channel's policy by a person.
type Revision struct {
	ChannelID string `json:"channel"`
	// Number is 1, 2, 3 … in each channel. 0 is the configuration's policy.
	Number  int              `json:"number"`
	Author  string           `json:"author"`
	At      time.Time        `json:"at"`
	Policy  chatguard.Policy `json:"policy"`  // complete policy after the change
	Changes []Change         `json:"changes"` // differences from the configuration

	// Unreadable is the reason why the stored Policy or Changes cannot be read; both are then
	// empty. Nil means that they can be read.
	Unreadable error `json:"-"`
}

// IsEmpty reports whether the revision changes nothing, like a return to the configuration.
func (r Revision) IsEmpty() bool { return len(r.Changes) == 0 && r.Unreadable == nil }

// Change is a new value for one key of a policy. The key is dotted as in the configuration, such as
// limit.burst.refill. The key "order" has the names of the limits, in order; limits that count in
// all channels are left out.
type Change struct {
	Key  string `json:"key"`
	From any    `json:"from"` // in JSON form; nil if the key is new
	To   any    `json:"to"`   // nil if the key was removed
}

// ValueText formats a value of a Change for people: "none" for nil.
func ValueText(value any) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprint(value)
}
