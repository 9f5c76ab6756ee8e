package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/bench/internal/sequence"
)

// count returns how often a user's row was written, found by a full scan.
func (f *floor) count(user uint64) (n int) {
	for i := range f.shards {
		for _, row := range f.shards[i].rows {
			if row[floorUser] == user+1 {
				n += int(row[floorCount])
			}
		}
	}
	return n
}

// users returns the number of rows.
func (f *floor) users() (n int) {
	for i := range f.shards {
		for _, row := range f.shards[i].rows {
			if row[floorUser] != 0 {
				n++
			}
		}
	}
	return n
}

func TestFloor_FindsRows(t *testing.T) {
	const users = 5000
	f := newFloor(users)
	forms := []asker{floorNow{f}, &floorAt{f, 1}, floorAll{f}}
	crowd := sequence.Crowd(users)
	for _, form := range forms {
		fill(form, crowd, 2) // pairs: a batch has the same user twice
	}
	if got := f.users(); got != users {
		t.Errorf("%d rows, want %d", got, users)
	}
	for _, user := range crowd[:100] {
		if got, want := f.count(user), 2*len(forms); got != want {
			t.Errorf("user %d was written %d times, want %d", user, got, want)
		}
	}
}

func TestFloor_CountsConcurrently(t *testing.T) {
	a, err := newFloorAll(100, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var messages []draw
	for i := range batch {
		messages = append(messages, draw{id: fmt.Sprint(1 + i%5)})
	}
	const goroutines, rounds = 4, 1000
	var done sync.WaitGroup
	for range goroutines {
		done.Go(func() {
			for range rounds {
				fork(a).take(messages)
			}
		})
	}
	done.Wait()
	f := a.(floorAll).floor
	if got, want := f.count(1), goroutines*rounds*4; got != want || f.users() != 5 {
		t.Errorf("user 1 was written %d times, want %d; %d users, want 5", got, want, f.users())
	}
}
