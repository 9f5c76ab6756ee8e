package live

import (
	"time"

	"github.com/chatguard/chatguard/shared"
)

// ShareMode says how the nodes of a chat share limits.
type ShareMode string

// The modes.
const (
	ShareOff          ShareMode = "off"          // this node is alone
	ShareExact        ShareMode = "exact"        // one allowance on all nodes
	ShareSynchronised ShareMode = "synchronised" // each node decides, and compares regularly
	ShareShares       ShareMode = "shares"       // each node has its own part; there is no shared store
)

// ShareModes are the known modes.
var ShareModes = []ShareMode{ShareOff, ShareExact, ShareSynchronised, ShareShares}

// Shared is the state of the store that nodes share. The zero value means that this node is alone.
type Shared struct {
	Mode ShareMode `json:"mode"`
	// Up reports whether the store answers. It is true if the mode needs no store.
	Up bool `json:"up"`
	// Refusing reports whether the store answers, but refuses changes. Problem says why.
	Refusing bool      `json:"refusing,omitempty"`
	Since    time.Time `json:"since,omitzero"` // start of the current state, up or away
	// Problem is one line for people that names the problem and its fix, with commands in
	// `backticks`. It may be set while Up.
	Problem string `json:"problem,omitempty"`
}

// NodesShare reports whether other nodes share limits with this one.
func (s Shared) NodesShare() bool { return s.Mode != "" && s.Mode != ShareOff }

// IsAway reports whether this node decides on its own because the store doesn't answer.
func (s Shared) IsAway() bool { return s.Mode != "" && !s.Up }

// IsRefusing reports whether this node decides on its own although the store answers.
func (s Shared) IsRefusing() bool { return s.Up && s.Refusing }

// AddProblem sets Problem if the Guard can't read a row, unless Problem is already set.
func (s *Shared) AddProblem(sharing shared.Counts) {
	if s.Problem == "" && sharing.Problem != "" {
		s.Problem = "A row can't be read: " + sharing.Problem
	}
}
