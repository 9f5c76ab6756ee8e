package chatguard_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
)

// memoryStore is a store of one's own. A real one would be a table with the primary key
// (channel_id, user_id, limit).
type memoryStore struct {
	rows  map[[3]string][]byte
	entry chatguard.EntryID // of the last throttled message
	full  bool
}

// save writes what has changed. A server calls it once per second, and once at the end.
func (s *memoryStore) save(guard *chatguard.Guard) {
	state := guard.State()
	batch := state.Dirty()
	state.SetDegraded(s.full)
	if s.full {
		batch.Release() // the next batch has these rows again
		return
	}
	rows := slices.AppendSeq(make([]chatguard.StateRow, 0, batch.Len()), batch.Rows()) // for one transaction
	for _, row := range rows {
		s.rows[[3]string{row.ChannelID, row.UserID, row.Limit}] = row.Data
	}
	batch.Confirm()
}

// sorted returns the rows in the order in which Restore needs them.
func (s *memoryStore) sorted() (rows []chatguard.StateRow) {
	for key, data := range s.rows {
		rows = append(rows, chatguard.StateRow{ChannelID: key[0], UserID: key[1], Limit: key[2], Data: data})
	}
	slices.SortFunc(rows, func(a, b chatguard.StateRow) int {
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.Limit, b.Limit))
	})
	return rows
}

// restore gives a new Guard what was saved. A server calls it before the first message.
func (s *memoryStore) restore(guard *chatguard.Guard) error {
	state := guard.State()
	state.RestoreEntryID(s.entry)
	for _, row := range s.sorted() {
		if err := state.Restore(row, guard.Now()); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes rows that have no effect any more. A server calls it now and then.
func (s *memoryStore) sweep(guard *chatguard.Guard, at time.Time) error {
	for _, row := range s.sorted() {
		forgotten, err := guard.State().Forgotten(row, at)
		if err != nil {
			return err
		}
		if forgotten {
			delete(s.rows, [3]string{row.ChannelID, row.UserID, row.Limit})
		}
	}
	return nil
}

func ExampleState() {
	store := memoryStore{rows: map[[3]string][]byte{}}
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	burst := chatguard.TokenBucketLimit("burst", 2, 4*time.Second)
	for range 2 { // the server runs twice
		guard := newGuard(burst)
		if err := store.restore(guard); err != nil {
			log.Fatal(err)
		}
		for range 2 {
			verdict, err := guard.Check(context.Background(), message)
			if err != nil {
				log.Fatal(err)
			}
			store.entry = max(store.entry, verdict.EntryID)
			fmt.Println(verdict)
		}
		store.save(guard)
	}

	guard := newGuard(burst)
	store.full = true
	store.save(guard)
	verdict, err := guard.Check(context.Background(), message)
	fmt.Println("degraded:", verdict.Degraded, err)

	store.full = false
	guard.State().DirtyAll() // the database was lost: the next batch has everything
	store.save(guard)
	rows := len(store.rows)
	err = store.sweep(guard, noon.Add(time.Hour))
	fmt.Println(rows > 0, err)
	// Output:
	// allowed, 1 left of burst
	// allowed, 0 left of burst
	// throttled by burst, retry after 4s
	// throttled by burst, retry after 4s
	// degraded: true <nil>
	// true <nil>
}
