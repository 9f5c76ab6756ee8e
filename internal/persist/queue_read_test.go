package persist

import (
	"slices"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Decisions on messages don't wait for readers of the pending records. Records that are dropped in
// the meantime stay unchanged for these readers.
func TestQueue_ReadersDelayNobody(t *testing.T) {
	t.Parallel()
	q := queue{limit: 6}
	next := 1
	say := func() bool {
		if !q.mu.TryLock() {
			t.Fatal("the queue is locked")
		}
		q.mu.Unlock()
		q.observeEntry(next)
		next++
		return true
	}
	for range 3 {
		say()
	}
	var users []string
	for _, m := range q.matchingMessages(func(*timelineRow) bool { return say() }) {
		users = append(users, m.UserID)
	}
	if !slices.Equal(users, []string{"1", "2", "3"}) {
		t.Errorf("the timeline had 1 to 3, and found are %q", users)
	}
	q.take()
	say()
	q.report(outcome(7, journal.Done, ""))
	entries, _, _ := q.entries(func(*journal.Entry) bool { return say() })
	ids := []chatguard.EntryID{}
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	if !slices.Equal(ids, []chatguard.EntryID{7, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("waiting was entry 7, being written were 1 to 6, and found are %d", ids)
	}
	if e, found := q.entry(func(*journal.Entry) bool { return say() }); !found || e.ID == 0 {
		t.Errorf("found %v: %+v", found, e)
	}
}
