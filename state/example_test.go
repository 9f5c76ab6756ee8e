package state_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/state"
)

// noon is when the example happens.
var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// newGuard returns a Guard with this limit, whose clock shows noon.
func newGuard(limit chatguard.Limit) *chatguard.Guard {
	policy := chatguard.Policy{Limits: []chatguard.Limit{limit}}
	guard, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return noon }})
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

// memoryStore is a store of one's own. A real one would be a table with the primary key
// (channel_id, user_id, limit).
type memoryStore struct {
	rows  map[[3]string][]byte
	entry int64 // EntryID of the last throttled message
	full  bool
}

// save writes what has changed. A server calls it once per second, and once at the end.
func (s *memoryStore) save(guard state.Guard) {
	batch := guard.Dirty()
	guard.SetDegraded(s.full)
	if s.full {
		batch.Release() // the next batch has these rows again
		return
	}
	rows := slices.AppendSeq(make([]state.Row, 0, batch.Len()), batch.Rows()) // for one transaction
	for _, row := range rows {
		s.rows[[3]string{row.ChannelID, row.UserID, row.Limit}] = row.Data
	}
	batch.Confirm()
}

// sorted returns the rows in the order in which Restore needs them.
func (s *memoryStore) sorted() (rows []state.Row) {
	for key, data := range s.rows {
		rows = append(rows, state.Row{ChannelID: key[0], UserID: key[1], Limit: key[2], Data: data})
	}
	slices.SortFunc(rows, func(a, b state.Row) int {
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.Limit, b.Limit))
	})
	return rows
}

// restore gives a new Guard what was saved. A server calls it before the first message.
func (s *memoryStore) restore(guard state.Guard, at time.Time) error {
	guard.RestoreEntryID(s.entry)
	for _, row := range s.sorted() {
		if err := guard.Restore(row, at); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes rows that have no effect any more. A server calls it now and then.
func (s *memoryStore) sweep(guard state.Guard, at time.Time) error {
	for _, row := range s.sorted() {
		forgotten, err := guard.Forgotten(row, at)
		if err != nil {
			return err
		}
		if forgotten {
			delete(s.rows, [3]string{row.ChannelID, row.UserID, row.Limit})
		}
	}
	return nil
}

func Example() {
	store := memoryStore{rows: map[[3]string][]byte{}}
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	burst := chatguard.TokenBucketLimit("burst", 2, 4*time.Second)
	for range 2 { // the server runs twice
		guard := newGuard(burst)
		if err := store.restore(guard.State(), guard.Now()); err != nil {
			log.Fatal(err)
		}
		for range 2 {
			verdict, err := guard.Check(context.Background(), message)
			if err != nil {
				log.Fatal(err)
			}
			store.entry = max(store.entry, int64(verdict.EntryID))
			fmt.Println(verdict)
		}
		store.save(guard.State())
	}

	guard := newGuard(burst)
	store.full = true
	store.save(guard.State())
	verdict, err := guard.Check(context.Background(), message)
	fmt.Println("degraded:", verdict.Degraded, err)

	store.full = false
	guard.State().DirtyAll() // the database was lost: the next batch has everything
	store.save(guard.State())
	rows := len(store.rows)
	err = store.sweep(guard.State(), noon.Add(time.Hour))
	fmt.Println(rows > 0, err)
	// Output:
	// allowed, 1 left of burst
	// allowed, 0 left of burst
	// throttled by burst, retry after 4s
	// throttled by burst, retry after 4s
	// degraded: true <nil>
	// true <nil>
}
