package persist

import (
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// A caller that waits for a flush learns if the flush fails. A caller that arrives while the
// database is known to fail doesn't wait. No change is lost.
func TestCommit_FailingFlush(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, &Options{FlushInterval: time.Hour, Now: at(start)})
	repair := failures["disk full"].harm(t, s)
	stop := startRun(t, s, guardOf(t, s, policy()))
	for burst := 1; burst <= 3; burst++ {
		r, saved, err := s.SaveRevision(ctx, revision("c1", burst))
		if saved || err != nil || r.Number != burst {
			t.Errorf("revision %d: saved %v, %v", r.Number, saved, err)
		}
	}
	s.wantHealth(t, Failing, diskFull)
	repair()
	stop()
	must(t, s.Close())
	s = open(t, path, nil)
	s.wantRows(t, "revision", 3)
	startRun(t, s, guardOf(t, s, policy()))
	if r := saveRevision(t, s, revision("c1", 4)); r.Number != 4 {
		t.Errorf("after a restart number %d", r.Number)
	}
	s.wantCount(t, 4, "SELECT max(id) FROM audit")
}

// Once a change is reported as saved, all earlier changes are in the database, including those in
// the Guard.
func TestCommit_IncludesGuard(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, &Options{FlushInterval: time.Hour, Now: at(start)})
	startRun(t, s, g)
	for _, user := range []string{"1", "2", "3"} {
		_, err := inner.At(g, start).Grant(t.Context(), chatguard.Key{ChannelID: "c1", UserID: user}, "daily", 5)
		must(t, err)
		wantSaved(t, true)(s.Record(ctx, journal.Audit{At: start, Action: journal.UserGranted, ChannelID: "c1", UserID: user}))
		s.wantCount(t, 1, "SELECT count(*) FROM state WHERE user_id = ? AND limit_name = '+'", user)
	}
}

// If Run ends while many callers wait, each caller gets an answer, and changes reported as saved
// are saved.
func TestCommit_WhenRunEnds(t *testing.T) {
	t.Parallel()
	for range 8 {
		s := open(t, newDatabase(t), &Options{FlushInterval: time.Hour, Now: at(start)})
		stop := startRun(t, s, guardOf(t, s, policy()))
		var mu sync.Mutex
		var promised []string
		var authors sync.WaitGroup
		for _, channelID := range []string{"1", "2", "3", "4", "5", "6"} {
			authors.Go(func() {
				for range 3 {
					if _, saved, err := s.SaveRevision(ctx, revision(channelID, 1)); err != nil {
						t.Error(err)
					} else if saved {
						mu.Lock()
						promised = append(promised, channelID)
						mu.Unlock()
					}
				}
			})
		}
		stop()
		authors.Wait()
		stored := map[string]int{}
		for _, channelID := range promised {
			stored[channelID]++
		}
		for channelID, n := range stored {
			if got := s.count(t, "SELECT count(*) FROM revision WHERE channel_id = ?", channelID); got < n {
				t.Errorf("channel %s: %d revisions are stored of %d that are saved", channelID, got, n)
			}
		}
		must(t, s.Close())
	}
}
