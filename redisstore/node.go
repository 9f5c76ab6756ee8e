package redisstore

import (
	"time"

	"github.com/chatguard/chatguard/shared"
)

const (
	heartbeatEvery = time.Second
	nodeExpires    = 5 * time.Second
)

// Node is what the nodes of a namespace know of each other. Options.Describe completes what a Store
// can't know: Address and Figures.
type Node struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Address string      `json:"address,omitempty"` // where people reach the node
	Mode    shared.Mode `json:"mode,omitempty"`    // how the node shares limits
	Formats []int       `json:"formats,omitempty"` // the versions of rows that the node reads
	Policy  string      `json:"policy,omitempty"`  // see PolicyHash of shared.Guard
	Number  int         `json:"number"`            // see Store.Number; -1 if it has none
	Tasks   int         `json:"tasks,omitempty"`   // how many Leaderships of the node are running
	Started time.Time   `json:"started"`
	// Offset is the server's clock minus the node's. Error is how far the clock that the node uses
	// may be from the server's.
	Offset  time.Duration    `json:"offset_ns"`
	Error   time.Duration    `json:"error_ns"`
	Figures map[string]int64 `json:"figures,omitempty"` // what the program counts

	Instance string `json:"instance"` // random: a process and its successor have different ones
	Self     bool   `json:"-"`        // this node
}
