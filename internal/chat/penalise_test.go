package chat

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
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
