package redisstore

import (
	"context"
	"strings"
)

const evictionFix = "set maxmemory-policy to noeviction or volatile-ttl"

// evicts reports whether a server with this maxmemory-policy and a full memory deletes rows that
// still have an effect.
func evicts(policy string) bool {
	return policy != "" && policy != "noeviction" && policy != "volatile-ttl"
}

// evictionText says what a maxmemory-policy does.
func evictionText(policy string) string {
	return "the server evicts rows when its memory is full, and users get new allowances: maxmemory-policy is " + printable(policy)
}

// evictionBeats is how many heartbeats are between two checks of the maxmemory-policy. While the
// server evicts rows, each heartbeat checks it.
const evictionBeats = 10

// checkEviction notes for Health whether the server evicts rows. It returns false if INFO is
// refused: then what was noted before stays. It sends INFO alone, because the client of a Cluster
// panics if a command without a key is sent together with others.
func (s *server) checkEviction(ctx context.Context) bool {
	results, err := s.requestAnyway(ctx, func(b builder) command { return b.Info().Section("memory").Build() })
	if err != nil {
		return true
	}
	memory, err := results[0].ToString()
	if err != nil {
		return false
	}
	policy := infoField(memory, "maxmemory_policy")
	if !evicts(policy) || strings.Trim(infoField(memory, "maxmemory"), "0") == "" {
		s.evicting.Store(nil)
		return true
	}
	text := evictionText(policy) + ": " + evictionFix
	s.evicting.Store(&text)
	return true
}

// infoField returns a field of a reply to INFO.
func infoField(text, name string) string {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
