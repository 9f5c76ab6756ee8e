package redisstore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// Health returns the current state of the Store. Its Nodes are 0 before Run. Health never waits for
// the server.
func (s *Store) Health() shared.Health {
	h := shared.Health{Up: true, Since: s.server.started.Add(time.Duration(s.server.breaker.changed.Load())), Nodes: int(s.leases.nodes.Load())}
	_, h.Skew = s.server.clock.now()
	h.Offset, h.Jump = s.server.clock.offset(), s.server.clock.jump()
	last, _, _ := s.server.clock.current()
	h.RoundTrip = time.Duration(last.trip)
	if known := s.server.known.Load(); known != nil {
		h.Server, h.IfEqual = known.name, known.ifEqual
	}
	if out := s.server.breaker.away.Load(); out != nil {
		h.Up, h.Problem = false, out.problem
		return h
	}
	var problems []string
	if refused := s.server.refusing.Load(); refused != nil {
		h.Refusing, problems = true, append(problems, refused.problem)
	}
	if problem := s.registry.refusing.Load(); problem != nil && !slices.Contains(problems, *problem) {
		problems = append(problems, *problem)
	}
	if s.server.clock.inLastMinute(&s.misplaced) {
		h.Refusing, problems = true, append(problems, s.server.options.misplaced())
	}
	problem := s.server.where + ": " + s.server.options.otherProgram()
	if s.server.clock.inLastMinute(&s.writer.foreign) && !slices.Contains(problems, problem) {
		problems = append(problems, problem)
	}
	if text := s.server.clock.jumpText(); text != "" {
		problems = append(problems, text+": "+jumpFix)
	}
	problems = append(problems, s.lasting()...)
	h.Problem = strings.Join(problems, "; ")
	return h
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
		problems = append(problems, fmt.Sprintf("node %s has another policy than this node: deploy the same policy on all nodes, with the same key of texts", printable(*name)))
	}
	if problem := s.server.clock.foreignRecord(s.server.keys.clock()); problem != "" {
		problems = append(problems, problem+": "+foreignRecordFix)
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
