package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/bench/internal/sequence"
)

// messagesFrom returns n messages of a user, in batches.
func messagesFrom(id uint64, n int) (batches [][]draw) {
	return slices.Collect(slices.Chunk(slices.Repeat([]draw{{id: fmt.Sprint(id)}}, n), batch))
}

func TestContestant_Limits(t *testing.T) {
	for _, c := range slices.Concat(contestants, memoryContestants()) {
		t.Run(c.name, func(t *testing.T) {
			a, err := c.open(100, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := closeAsker(a); err != nil {
					t.Error(err)
				}
			}()
			want := burst
			if c.enforces == "nothing" {
				want = 40
			}
			for _, id := range []uint64{7, 1 << 29} {
				passed := 0
				for _, messages := range messagesFrom(id, 40) {
					passed += fork(a).take(messages) // forks must share the limiter's state
				}
				if passed != want {
					t.Errorf("user %d: %d of 40 passed, want %d", id, passed, want)
				}
			}
		})
	}
}

func TestContestant_Refills(t *testing.T) {
	for _, c := range contestants {
		a, err := c.open(100, time.Microsecond) // the shortest that chatguard accepts
		if err != nil {
			t.Fatal(err)
		}
		for i, messages := range messagesFrom(7, 4) {
			for k := range messages {
				for since := time.Now(); time.Since(since) < 10*burst*time.Microsecond; {
				}
				if a.take(messages[k:k+1]) != 1 {
					t.Errorf("%s: message %d did not pass", c.name, i+k)
				}
			}
		}
		if err := closeAsker(a); err != nil {
			t.Error(err)
		}
	}
}

func TestFill_EveryUser(t *testing.T) {
	f := newFloor(1000)
	crowd := sequence.Crowd(1000)
	fill(floorNow{f}, crowd, 3)
	for _, user := range crowd {
		if got := f.count(user); got != 3 {
			t.Fatalf("user %d wrote %d times, want 3", user, got)
		}
	}
}
