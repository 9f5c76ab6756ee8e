package persist

import (
	"slices"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

func entryIDs(r records) (ids []chatguard.EntryID) {
	for _, e := range r.entries {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestQueueKeepsTheNewest(t *testing.T) {
	q := queue{limit: 4}
	for id := chatguard.EntryID(1); id <= 3; id++ {
		q.addEntry(&journal.Entry{ID: id})
	}
	taken := q.take()
	for id := chatguard.EntryID(4); id <= 6; id++ {
		q.addEntry(&journal.Entry{ID: id})
	}
	q.putBack(taken)
	if waiting, dropped := q.state(); waiting != 4 || dropped != 2 {
		t.Errorf("%d waiting, %d dropped", waiting, dropped)
	}
	if got := entryIDs(q.take()); !slices.Equal(got, []chatguard.EntryID{3, 4, 5, 6}) {
		t.Errorf("kept %v", got)
	}
	if r := q.take(); !r.empty() {
		t.Errorf("taken twice: %+v", r)
	}
}

func TestQueueKeepsTheOrderOfOutcomes(t *testing.T) {
	q := queue{limit: 10}
	q.addOutcome(outcome(1, journal.Failed, "first"))
	q.addOutcome(outcome(2, journal.Failed, "first"))
	taken := q.take()
	q.addOutcome(outcome(1, journal.Done, ""))
	q.addEntry(&journal.Entry{ID: 2})
	q.putBack(taken)
	r := q.take()
	if len(r.outcomes) != 2 || r.outcomes[0].Reason != "first" || r.outcomes[1].Result != journal.Done {
		t.Errorf("%+v", r.outcomes)
	}
	if r.entries[0].Outcome.Reason != "first" {
		t.Errorf("the entry lacks its outcome: %+v", r.entries[0])
	}
}
