package peers

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
)

// clipperhouse has the facts in bucket_test.go, limiter_allow_test.go, limiter_peek_test.go,
// limiter_wait_test.go and limiters_allow_test.go of github.com/clipperhouse/rate at commit 6020d83
// of 1 September 2025, each once: the peer repeats most of them for its variants of one method.
func clipperhouse(f *facts) {
	f.group("bucket", clipperBucket)
	f.group("next token", clipperNext)
	f.group("one limit", clipperOne)
	f.group("several limits", clipperSeveral)
	f.group("edge cases", clipperEdges)
	f.group("many at once", clipperMany)
	f.group("wait", clipperWait)
	f.lacks(14, "the number of buckets and the identity of one: rows of users are the Guard's own, and go when nothing is used")
	f.lacks(10, "lists of limits that a function chooses for a key: roles and a user's own numbers choose here")
}

// perTime is a bucket of n that regains n in a time.
func perTime(n int, period time.Duration) chatguard.Limit {
	return chatguard.TokenBucketLimit(fmt.Sprintf("per-%d", n), n, period/time.Duration(n))
}

// asks are the costs that would pass at a time, and those that wouldn't.
func asks(at time.Duration, pass, miss []int) (steps []step) {
	for _, cost := range pass {
		steps = append(steps, step{at: at, do: peek, cost: cost, want: []fact{yes}})
	}
	for _, cost := range miss {
		steps = append(steps, step{at: at, do: peek, cost: cost, want: []fact{no}})
	}
	return steps
}

// pass holds that all rounds of a loop pass.
func (f *facts) pass(g *chatguard.Guard, do operation, s step, rounds int) {
	f.Helper()
	f.every("allowed", rounds, func(int) bool {
		a, err := do(g, s.message())
		return err == nil && a.Allowed
	})
}

func clipperBucket(f *facts) {
	const token = time.Second / 9
	nine := perTime(9, time.Second)
	g := f.guard(nine)
	f.pass(g, peek, step{}, 9)
	f.steps(g, step{do: left, want: []fact{remaining(9)}}, step{cost: 9}, step{do: peek, want: []fact{no}}, step{at: token, do: peek, want: []fact{yes}})
	f.run(nine, join([]step{{cost: 3}}, asks(0, []int{1, 6}, []int{7}), []step{{cost: 5}}, asks(0, []int{1}, []int{2, 7}),
		[]step{{do: upTo, cost: 5}}, asks(0, nil, []int{1, 2}))...)
	f.lacks(5, "a bucket in debt: what it doesn't hold isn't allowed")
	const two = 2 * time.Second
	f.run(nine, join(asks(0, []int{9}, []int{10}), asks(two, []int{9}, []int{10}), []step{{at: two, cost: 3}}, asks(two, []int{6}, []int{7}),
		asks(2*two, []int{9}, []int{10}))...)
	f.run(nine, step{do: left, want: []fact{remaining(9)}}, step{at: time.Hour, do: left, want: []fact{remaining(9)}})
	f.run(perTime(11, time.Second), step{do: left, want: []fact{remaining(11)}}, step{want: []fact{remaining(10)}}, step{cost: 2, want: []fact{remaining(8)}})
	f.run(perTime(11, time.Second), step{cost: 11}, step{do: peek, want: []fact{no}}, step{at: time.Hour, cost: 10}, step{at: time.Hour, do: peek, want: []fact{yes}},
		step{at: time.Hour}, step{at: time.Hour, do: peek, want: []fact{no}})
	const eleventh = time.Second / 11
	f.run(perTime(11, time.Second), step{do: left, want: []fact{resetAfter(0)}}, step{cost: 5, want: []fact{remaining(6)}}, step{at: 1, do: left, want: []fact{resetAfter(5*eleventh - 1)}},
		step{at: 4 * eleventh, do: left, want: []fact{remaining(10), resetAfter(eleventh)}}, step{at: 5 * eleventh, do: left, want: []fact{remaining(11), resetAfter(0)}})
	f.holds("time of a token of 10 per second", perTime(10, time.Second).Refill, 100*ms)
}

const clipperBeyond = "the peer's wait is for more than the bucket can ever hold; chatguard says that waiting never helps, and is right"

func clipperNext(f *facts) {
	tenth := 100 * ms
	wait := func(at time.Duration, cost int, d time.Duration) step {
		return step{at: at, do: peek, cost: cost, want: []fact{retryAfter(d)}}
	}
	ten := perTime(10, time.Second)
	f.run(ten, wait(0, 1, 0), step{cost: 10}, wait(0, 1, tenth), wait(0, 5, 5*tenth))
	f.run(ten, step{cost: 3}, wait(0, 1, 0), wait(0, 7, 0), wait(0, 8, tenth), wait(0, 9, 2*tenth), wait(0, 10, 3*tenth))
	const aged = 2 * time.Second
	f.run(ten, step{cost: 10}, wait(aged, 1, 0), wait(aged, 5, 0), wait(aged, 10, 0),
		step{at: aged, do: peek, cost: 15, want: []fact{retryAfter(5*tenth).but(time.Duration(0), clipperBeyond)}})
	f.run(ten, step{cost: 10}, wait(time.Second/2, 1, 0), wait(time.Second, 1, 0))
	f.run(ten, step{cost: 10}, wait(tenth/2, 1, tenth/2), wait(tenth, 1, 0), wait(tenth, 2, tenth))
	f.run(ten, wait(0, 5, 0), wait(0, 10, 0))

	g := f.guard(ten)
	f.steps(g, step{cost: 3})
	two, err := check(g, step{cost: 2}.message())
	if err != nil {
		f.Fatal(err)
	}
	if err := g.Refund(f.Context(), two.Verdict); err != nil { // the peer consumes -2
		f.Fatal(err)
	}
	f.steps(g, wait(0, 7, 0), wait(0, 8, tenth))
	nothing := step{do: left, want: []fact{retryAfter(0)}}
	f.run(ten, nothing, step{cost: 5}, nothing)
	f.lacks(2, "a request for a negative number")
	f.lacks(18, "the instant at which a token was or will be there, in the past too: RetryAfter is counted from now")
}

func clipperOne(f *facts) {
	const token = time.Second / 9
	full := func(g *chatguard.Guard, user string) {
		f.pass(g, check, step{user: user}, 9)
		f.steps(g, step{user: user, want: []fact{no}})
	}
	g := f.guard(perTime(9, time.Second))
	full(g, "a")
	f.steps(g, step{at: token, user: "a", want: []fact{yes}})
	g = f.guard(perTime(9, time.Second))
	f.pass(g, peek, step{user: "a"}, 18)
	for _, user := range []string{"a", "b", "c"} {
		full(g, user)
	}
	f.run(perTime(9, time.Second), step{want: []fact{yes}}, step{cost: 8, want: []fact{yes}}, step{want: []fact{no}},
		step{at: 3 * token, cost: 2, want: []fact{yes}}, step{at: 3 * token, want: []fact{yes}}, step{at: 3 * token, want: []fact{no}})
	f.run(perTime(5, time.Second), step{want: []fact{yes, remaining(4), retryAfter(0)}})
	f.run(perTime(2, time.Second), step{do: peek, want: []fact{yes}}, step{do: left, want: []fact{remaining(2)}}, step{want: []fact{yes, remaining(1)}})
}

func clipperEdges(f *facts) {
	five := perTime(5, time.Second)
	f.steps(f.guard(), step{want: []fact{yes, retryAfter(0), remaining(0).but(-1, "without limits nothing remains there, and a count is unknown here; either is right")}})
	f.run(five, step{do: left, want: []fact{yes, remaining(5), retryAfter(0)}})
	f.run(five, step{cost: 1_000_000, want: []fact{no, remaining(5), retryAfter(999_995*time.Second/5).but(time.Duration(0), clipperBeyond)}})
	f.run(five, step{cost: 10, want: []fact{no, remaining(5), retryAfter(time.Second).but(time.Duration(0), clipperBeyond)}})
	g := f.guard(five)
	f.every("5 of 5 left at each look", 5, func(int) bool {
		a, err := look(g, step{}.message())
		return err == nil && a.Allowed && a.Remaining == 5
	})
	f.steps(g, step{want: []fact{yes, remaining(4)}})
	const later = 10 * time.Second
	f.run(five, step{cost: 3, want: []fact{yes}}, step{at: later, want: []fact{yes, remaining(4)}})
	f.lacks(3, "an empty key: a message without a user is a mistake, and an error")
}

// clipperMany has the peer's tests with many goroutines.
func clipperMany(f *facts) {
	passing := func(g *chatguard.Guard, at time.Duration, users, each int) int {
		var passed atomic.Int32
		var all sync.WaitGroup
		for user := range users {
			for range each {
				all.Go(func() {
					if a, err := check(g, step{at: at, user: fmt.Sprint("user", user)}.message()); err == nil && a.Allowed {
						passed.Add(1)
					}
				})
			}
		}
		all.Wait()
		return int(passed.Load())
	}
	g := f.guard(perTime(9, time.Second))
	f.holds("of 9 each for 3 users pass", passing(g, 0, 3, 9), 27)
	f.holds("of 1 more each for 3 users pass", passing(g, 0, 3, 1), 0)
	f.holds("of 9 each for 3 users pass when refilled", passing(g, time.Second, 3, 9), 27)
	g = f.guard(perTime(2, time.Second), perTime(3, time.Minute))
	f.holds("of 2 each for 3 users pass two limits", passing(g, 0, 3, 2), 6)
	f.holds("of 1 more each for 3 users pass two limits", passing(g, 0, 3, 1), 0)
	f.holds("of 1 each for 3 users pass two limits a second later", passing(g, time.Second, 3, 1), 3)
	f.holds("of 1 more each for 3 users pass two limits a second later", passing(g, time.Second, 3, 1), 0)
	f.holds("of 2 each for 3 users pass two limits when refilled", passing(g, 61*time.Second, 3, 2), 6)
}

func clipperWait(f *facts) {
	f.bubble(func(f *facts) {
		g := f.guardNow(chatguard.TokenBucketLimit("x", 2, 50*ms))
		f.holds("a wait for 2", waited(f.Context(), g, 2), "passed after 0s")
		f.holds("a wait for 1", waited(f.Context(), g, 1), "passed after 50ms")
		cancelled, cancel := context.WithCancel(f.Context())
		cancel()
		f.holds("a wait with an ended context", waited(cancelled, g, 1), "error after 0s")
		f.holds("a wait for 2 again", waited(f.Context(), g, 2), "passed after 100ms")
		f.holds("a wait for 2 with an ended context", waited(cancelled, g, 2), "error after 0s")
	})
}
