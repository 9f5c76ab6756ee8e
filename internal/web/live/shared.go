package live

import "github.com/chatguard/chatguard/shared"

// The modes of a node without a shared store, besides those of shared.Mode.
const (
	ShareOff    shared.Mode = "off"    // this node is alone
	ShareShares shared.Mode = "shares" // each node has its own part of the limits
)

// ShareModes are the known modes.
var ShareModes = []shared.Mode{ShareOff, shared.Exact, shared.Synchronised, ShareShares}

// Shared is how this node shares limits. The zero value means that this node is alone. Up is true
// if the mode needs no store. Problem may have commands in `backticks`.
type Shared struct {
	Mode shared.Mode `json:"mode"`
	shared.Health
}

// IsAway reports whether this node decides on its own because the store doesn't answer.
func (s Shared) IsAway() bool { return s.Mode != "" && !s.Up }

// IsRefusing reports whether this node decides on its own although the store answers.
func (s Shared) IsRefusing() bool { return s.Up && s.Refusing }
