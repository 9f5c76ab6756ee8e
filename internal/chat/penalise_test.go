package chat

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// A ban waits until its entry is stored, but only for a second. No other penalty waits, neither for
// the store nor for the ban.
func TestBan_WaitsForCommit(t *testing.T) {
	var stored chan struct{}
	commit := func(ctx context.Context) bool {
		select {
		case <-stored:
			return true
		case <-ctx.Done():
			return false
		}
	}
	testWithBot(t, Options{Commit: commit}, func(s *stage) {
		stored = make(chan struct{})
		s.say("a1", "b1", "a2")
		s.say("a3")
		s.say("b2")
		s.checkRequests("delete a2", "delete b2")
		s.wait(commitTime - time.Millisecond)
		s.checkRequests()
		s.wait(time.Millisecond)
		s.checkRequests("ban a")
		s.say("b3")
		s.checkRequests()
		close(stored)
		synctest.Wait()
		s.checkRequests("ban b")
	}, "delete", "ban")
}

// countingStore is a shared store for one Guard, which counts its calls.
type countingStore struct {
	rows  map[string][]byte
	calls atomic.Int64
}

func (s *countingStore) Swap(_ context.Context, swaps []*shared.Swap) {
	s.calls.Add(1)
	for _, swap := range swaps {
		swap.Done = true
		for i := range swap.Rows {
			r := &swap.Rows[i]
			r.Now = s.rows[r.ChannelID+"/"+r.UserID]
			swap.Done = swap.Done && bytes.Equal(r.Now, r.Was)
		}
		for _, r := range swap.Rows {
			if swap.Done {
				s.rows[r.ChannelID+"/"+r.UserID] = r.Is
			}
		}
	}
}

func (s *countingStore) Timeout() time.Duration            { return time.Second }
func (s *countingStore) Clock() (time.Time, time.Duration) { return time.Now(), 0 }
func (s *countingStore) Number() (int, bool)               { return 0, true }

func (s *countingStore) Overrides(context.Context, string) ([]string, error) {
	s.calls.Add(1)
	return nil, nil
}

// TestPenalise_NoStoreCalls checks that a penalty asks the shared store nothing: a user who floods
// is refused from memory, and each of the messages is deleted without a round trip.
func TestPenalise_NoStoreCalls(t *testing.T) {
	store := &countingStore{rows: map[string][]byte{}}
	testWithGuard(t, &chatguard.Options{Shared: store}, Options{}, func(s *stage) {
		policy := s.guard.Policy()
		policy.Penalties.StrikeEvery = time.Minute // a strike changes the row
		must(t, s.guard.SetPolicy(policy))
		s.say("a1", "a2", "a3")
		s.checkRequests("delete a2", "delete a3")
		before := store.calls.Load()
		if before == 0 {
			t.Error("the first messages are judged without the store")
		}
		for i := 4; i < 9; i++ {
			id := fmt.Sprint("a", i)
			s.say(id)
			s.checkRequests("delete " + id)
		}
		if calls := store.calls.Load() - before; calls > 0 {
			t.Errorf("%d calls of the store for five penalties, want none", calls)
		}
	}, "delete")
}
