package redisstore

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

func (h Histogram) total() (n int64) {
	for _, count := range h.Counts {
		n += count
	}
	return n
}

// TestStats checks that swaps, repetitions, failures and exchanges are counted.
func TestStats(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{Interval: 20 * time.Millisecond})
	if got := s.Stats(); got.Swaps.total() != 0 || got.Exchanges.total() != 0 || got.Failed != 0 || got.Repeated != 0 {
		t.Errorf("at the start: %+v", got)
	}
	check(t, s, one("a", "", "1"), true)
	attempt(t, s, one("a", "", "2")) // a conflict
	got := s.Stats()
	if got.Swaps.total() != 2 || got.Swaps.Sum <= 0 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	before := got.Repeated
	r.must("SCRIPT", "FLUSH")
	check(t, s, one("b", "", "1"), true)
	if got := s.Stats(); got.Repeated == before {
		t.Errorf("a lost script isn't repeated: %+v", got)
	}
	if attempt(t, s, &shared.Swap{}); s.Stats().Failed != 1 {
		t.Errorf("a swap without rows isn't counted: %+v", s.Stats())
	}
	g, err := chatguard.New(enforced(), &chatguard.Options{Shared: s, SharedMode: shared.Synchronised})
	must(t, err)
	stop := run(t, s, g.Shared())
	n := node{Guard: g, store: s}
	for _, user := range []string{"1", "2", "3"} {
		n.check(t, user, time.Now())
	}
	// All rows are compared once more when the node subscribes.
	eventually(t, "the rows are exchanged", func() bool { return s.Stats().ExchangeRows.Sum >= 3 })
	if got := s.Stats(); got.Exchanges.total() < 1 || got.ExchangeRows.Counts[0] == got.ExchangeRows.total() {
		t.Errorf("%+v", got)
	}
	stop()
	r.Kill()
	s.server.goAway(errServerGone)
	failed := s.Stats().Failed
	swaps := s.Stats().Swaps.total()
	s.Swap(t.Context(), []*shared.Swap{one("a", "", "1"), one("b", "", "1")})
	if got := s.Stats(); got.Failed != failed+2 || got.Swaps.total() != swaps {
		t.Errorf("two swaps while the server is away: %+v", got)
	}
}
