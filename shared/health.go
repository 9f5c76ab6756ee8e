package shared

import "time"

// Health describes the state of a Store, as a page or a metric shows it. Package redisstore's Store
// returns it from its method Health. In JSON, what is zero is left out, except Up.
type Health struct {
	// Up means that the server answers. If it is false, calls fail at once.
	Up bool `json:"up"`
	// Refusing means that the server answers, but rows can't be swapped, for example because its
	// memory is full. Verdicts are then degraded, as if the server were away.
	Refusing bool      `json:"refusing,omitempty"`
	Since    time.Time `json:"since,omitzero"` // start of the current state, up or away
	// Problem is one line that names the problem and how to fix it. It may be set while Up. It
	// never contains the password.
	Problem string `json:"problem,omitempty"`

	RoundTrip time.Duration `json:"round_trip_ns,omitempty"` // the fastest at the last measurement of the clock
	Offset    time.Duration `json:"offset_ns,omitempty"`     // the server's clock minus this machine's
	// Jump is how far the server's clock has jumped. The nodes' time goes on as before, and follows
	// slowly if the jump lasts; Jump is 0 when it has followed.
	Jump time.Duration `json:"jump_ns,omitempty"`
	Skew time.Duration `json:"skew_ns,omitempty"` // the maximum difference between the clocks of two nodes; see Store

	Nodes  int    `json:"live_nodes,omitempty"` // including this one; 0 before they are known
	Server string `json:"server,omitempty"`     // for example "valkey 8.1.1"; empty if it was never reached
	// IfEqual means that the server itself compares and sets, by SET with IFEQ. Otherwise swaps are
	// made by a script, which takes the server about twice as long.
	IfEqual bool `json:"if_equal,omitempty"`
}
