package shared

import "time"

// Node is what the nodes that share limits know of each other. Package redisstore's Store returns
// the nodes from its method Nodes.
type Node struct {
	Name       string    `json:"name"`
	Version    string    `json:"version,omitempty"`
	Address    string    `json:"address,omitempty"`     // where people reach the node
	Mode       Mode      `json:"mode,omitempty"`        // how the node shares limits
	Formats    []int     `json:"formats,omitempty"`     // the versions of rows that the node reads
	PolicyHash string    `json:"policy_hash,omitempty"` // of the node's Guard
	Number     int       `json:"number"`                // see Store.Number; -1 if it has none
	Tasks      int       `json:"tasks,omitempty"`       // how many of redisstore's Leaderships are running there
	Started    time.Time `json:"started,omitzero"`
	// Offset is the server's clock minus the node's. Error is how far the clock that the node uses
	// may be from the server's.
	Offset time.Duration `json:"offset_ns"`
	Error  time.Duration `json:"error_ns"`
	Counts Counts        `json:"counts"`

	// MessagesPerSecond are the messages that the node judges; 0 if its program doesn't count them.
	MessagesPerSecond float64 `json:"messages_per_second"`
	// Overshoot is how many messages exceeded a limit in the last hour, because nodes hadn't
	// compared yet. It is a fraction of the messages that the node allowed: 0.01 is 1 %. Nil means
	// that the mode isn't Synchronised, that the program doesn't count it, or that no messages were
	// allowed.
	Overshoot *float64 `json:"overshoot,omitempty"`

	Instance string `json:"instance"` // random: a process and its successor have different ones
	Self     bool   `json:"self"`     // the node that has asked for the list
}
