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
	problems, refusing := s.problems()
	if text := s.server.clock.jumpText(); text != "" {
		problems = append(problems, text+": "+jumpFix)
	}
	h.Refusing, h.Problem = refusing, strings.Join(problems, "; ")
	return h
}

// problems returns what is wrong while the server answers, apart from a jump of its clock, which
// checkJump logs. refusing reports whether swaps are refused.
func (s *Store) problems() (problems []string, refusing bool) {
	if refused := s.server.refusing.Load(); refused != nil {
		refusing, problems = true, append(problems, refused.problem)
	}
	if s.server.clock.inLastMinute(&s.misplaced) {
		refusing, problems = true, append(problems, s.server.options.misplaced())
	}
	if problem := s.registry.unlisted.Load(); problem != nil && !slices.Contains(problems, *problem) {
		problems = append(problems, *problem)
	}
	if key := s.server.otherType.Load(); key != nil {
		if problem := s.server.where + ": " + otherType(*key).text; !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	if evicting := s.server.evicting.Load(); evicting != nil {
		problems = append(problems, *evicting)
	}
	if s.registry.namesake.Load() {
		problems = append(problems, fmt.Sprintf("another node is named %s too: set another %s", s.server.options.Node, s.server.options.nameOf("Node")))
	}
	if name := s.registry.otherPolicy.Load(); name != nil {
		problems = append(problems, fmt.Sprintf("node %s has another policy than this node: deploy the same policy on all nodes, with the same key of texts", printable(*name)))
	}
	if problem := s.registry.otherMode.Load(); problem != nil {
		problems = append(problems, *problem)
	}
	if problem := s.server.clock.foreignRecord(s.server.keys.clock()); problem != "" {
		problems = append(problems, problem+": "+foreignRecordFix)
	}
	if problem := s.writer.replicas.problem(); problem != "" {
		problems = append(problems, problem)
	}
	return problems, refusing
}

// logProblems logs each problem when it begins and when it is over.
func (s *Store) logProblems() {
	problems, _ := s.problems()
	for _, problem := range problems {
		if !slices.Contains(s.logged, problem) {
			s.server.options.Logger.Warn("redisstore: the shared store has a problem", "address", s.server.where, "problem", problem)
		}
	}
	for _, problem := range s.logged {
		if !slices.Contains(problems, problem) {
			s.server.options.Logger.Info("redisstore: a problem of the shared store is over", "address", s.server.where, "problem", problem)
		}
	}
	s.logged = problems
}
