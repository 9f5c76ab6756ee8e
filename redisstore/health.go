package redisstore

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Health describes the state of a Store.
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
	Skew      time.Duration // the maximum difference between the clocks of two nodes; see shared.Store
	Nodes     int           // live nodes, including this one; 0 before Run
	Server    string        // for example "valkey 8.1.1"; empty if it was never reached
	// IfEqual means that the server has SET with IFEQ. Otherwise swaps are made by a script, which
	// takes the server about twice as long.
	IfEqual bool
}

// Health returns the current state of the Store. It never waits for the server.
func (s *Store) Health() Health {
	h := Health{Up: true, Since: s.server.started.Add(time.Duration(s.server.breaker.changed.Load())), Nodes: int(s.leases.nodes.Load())}
	_, h.Skew = s.server.clock.now()
	h.Offset = s.server.clock.offset()
	if r := s.server.clock.reading.Load(); r != nil {
		h.RoundTrip = time.Duration(r.trip)
	}
	if known := s.server.known.Load(); known != nil {
		h.Server, h.IfEqual = known.name, known.ifEqual
	}
	if out := s.server.breaker.away.Load(); out != nil {
		h.Up, h.Problem = false, out.problem
		return h
	}
	var problems []string
	refusing := s.writer.refusing.Load()
	h.Refusing = refusing != nil
	for _, problem := range []*string{refusing, s.registry.refusing.Load()} {
		if problem != nil && !slices.Contains(problems, *problem) {
			problems = append(problems, *problem)
		}
	}
	if s.recently(&s.misplaced) {
		h.Refusing, problems = true, append(problems, s.server.options.misplaced())
	}
	if problem, _ := s.server.explain.reply("WRONGTYPE"); s.recently(&s.writer.foreign) && !slices.Contains(problems, s.server.where+": "+problem) {
		problems = append(problems, s.server.where+": "+problem)
	}
	problems = append(problems, s.lasting()...)
	h.Problem = strings.Join(problems, "; ")
	return h
}

// recently reports whether something happened in the last minute.
func (s *Store) recently(at *atomic.Int64) bool {
	last := at.Load()
	return last != 0 && time.Duration(s.server.since()-last) < time.Minute
}

// lasting returns the problems that stay until somebody changes the configuration, here or at the
// server.
func (s *Store) lasting() (problems []string) {
	if evicting := s.server.evicting.Load(); evicting != nil {
		problems = append(problems, *evicting)
	}
	if s.registry.namesake.Load() {
		problems = append(problems, fmt.Sprintf("another node is named %s too: set another %s", s.server.options.Node, s.server.options.nameOf("Node")))
	}
	if name := s.registry.otherPolicy.Load(); name != nil {
		problems = append(problems, fmt.Sprintf("node %s has another policy than this node: deploy the same policy on all nodes", printable(*name)))
	}
	if problem := s.writer.replicas.problem(); problem != "" {
		problems = append(problems, problem)
	}
	return problems
}

// logLasting logs each lasting problem once. A problem that ends, and comes back after a minute, is
// logged again. last maps each problem to when it was last seen, in ns since the Store was opened.
func (s *Store) logLasting(last map[string]int64) {
	now := s.server.since()
	for _, problem := range s.lasting() {
		if at, known := last[problem]; !known || time.Duration(now-at) > time.Minute {
			s.server.options.Logger.Warn("redisstore: limits may be wrong", "address", s.server.where, "problem", problem)
		}
		last[problem] = now
	}
}
