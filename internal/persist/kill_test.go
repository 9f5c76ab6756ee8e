package persist

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/chatguard/chatguard"
)

// flushUntilKilled accepts messages and flushes all the while. It prints "checking n" before the nth message is judged and "flushed n" when a
// flush has ended that began after the nth was accepted.
func flushUntilKilled(ctx context.Context, path string) error {
	s, err := Open(ctx, path, &Options{Logger: quiet, Now: at(start)})
	if err != nil {
		return err
	}
	defer s.Close()
	g, err := chatguard.New(dailyOnly(), &chatguard.Options{Observer: s.Observe})
	if err != nil {
		return err
	}
	stats, err := s.Restore(ctx, g)
	if err != nil {
		return err
	}
	var accepted atomic.Int64
	go func() {
		for {
			n := accepted.Load()
			s.turn(ctx, g)
			fmt.Println("flushed", n)
		}
	}()
	for n := int64(1); ; n++ {
		fmt.Println("checking", n)
		if _, err := g.Check(ctx, message("u", start)); err != nil {
			return err
		}
		s.Observe(message("u", start), chatguard.Verdict{EntryID: stats.LastEntry + chatguard.EntryID(n), At: start, ChannelID: "c1", UserID: "u"})
		accepted.Store(n)
	}
}

func TestKilledProcessLosesLittleAndInventsNothing(t *testing.T) {
	path := databasePath(t)
	spentBefore, entriesBefore := 0, 0
	for _, until := range []struct {
		kind string
		n    int
	}{{"checking", 1}, {"checking", 50}, {"flushed", 100}, {"checking", 300}, {"flushed", 600}} {
		c := startChild(t, "flush", path)
		flushed, checking := 0, 0
		for _, line := range append(c.until(t, until.kind, until.n), c.kill(t)...) {
			fmt.Sscanf(line, "flushed %d", &flushed)
			fmt.Sscanf(line, "checking %d", &checking)
		}

		s := open(t, path, nil)
		g := guardOf(t, s, dailyOnly())
		spent := plenty - remaining(t, g, "u", start) - spentBefore
		if spent < flushed || spent > checking {
			t.Errorf("until %v: restored %d messages; %d were flushed and %d sent", until, spent, flushed, checking)
		}
		entries := s.count(t, "SELECT count(*) FROM journal") - entriesBefore
		if entries < flushed || entries > checking {
			t.Errorf("until %v: %d entries; %d were flushed and %d made", until, entries, flushed, checking)
		}
		if n := s.count(t, "SELECT count(*) FROM journal WHERE outcome_result <> 'skipped' OR outcome_reason <> ?", interruptedReason); n != 0 {
			t.Errorf("until %v: %d entries aren't called interrupted", until, n)
		}
		spentBefore, entriesBefore = spentBefore+spent, entriesBefore+entries
		must(t, s.Close())
	}
}
