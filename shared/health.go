package shared

import "time"

// Health describes the state of a Store, as a page or a metric shows it. Package redisstore's Store
// returns it from its method Health.
type Health struct {
	// Up means that the server answers. If it is false, calls fail at once.
	Up bool
	// Refusing means that the server answers, but rows can't be swapped, for example because its
	// memory is full. Verdicts are then degraded, as if the server were away.
	Refusing bool
	Since    time.Time // start of the current state, up or away
	// Problem is one line that names the problem and how to fix it. It may be set while Up. It
	// never contains the password.
	Problem   string
	RoundTrip time.Duration // the fastest at the last measurement of the clock
	Offset    time.Duration // the server's clock minus this machine's
	Skew      time.Duration // the maximum difference between the clocks of two nodes; see Store
	Nodes     int           // live nodes, including this one; 0 before they are known
	Server    string        // for example "valkey 8.1.1"; empty if it was never reached
	// IfEqual means that the server itself compares and sets, by SET with IFEQ. Otherwise swaps are
	// made by a script, which takes the server about twice as long.
	IfEqual bool
}
