package peers

import (
	"time"

	"github.com/chatguard/chatguard"
)

// redisrate has the facts in rate_test.go of github.com/go-redis/redis_rate/v10 10.0.1. Its clock
// goes on during the tests, so it allows 10 ms more or less for the times; here they are exact.
func redisrate(f *facts) {
	f.group("10 per second", redisrateAllow)
	f.group("a cost of 0", redisrateZero)
	f.group("as many as possible", redisrateAtMost)
	f.group("the wait is at most the refill", func(f *facts) {
		g := f.guard(chatguard.TokenBucketLimit("x", 1, time.Millisecond))
		f.every("a refused message waits for at most 1ms", 1000, func(i int) bool {
			a, err := check(g, step{at: time.Duration(i) * 10 * time.Microsecond}.message())
			return err == nil && (a.Allowed || a.RetryAfter > 0 && a.RetryAfter <= time.Millisecond)
		})
	})
	f.lacks(2, "a limit as a text, and whether it is the zero value")
}

// tenPerSecond is the limit in all tests but one.
var tenPerSecond = chatguard.TokenBucketLimit("x", 10, redisrateRefill)

const redisrateRefill = 100 * time.Millisecond

// redisrateAnswer is what the peer's tests expect of an answer: how much of the cost is spent, how
// much is left, and the tenths of a second until all is there again. There is no wait.
func redisrateAnswer(spent, rest, tenths int) []fact {
	return []fact{
		{name: "spent", of: func(a answer) any { return max(a.Spent, a.taken) }, theirs: spent},
		remaining(rest), retryAfter(0), resetAfter(time.Duration(tenths) * redisrateRefill),
	}
}

// redisrateTooMuch is what they expect of a cost of 1000.
func redisrateTooMuch() []fact {
	want := redisrateAnswer(0, 0, 10)
	want[2] = retryAfter(99*time.Second).but(time.Duration(0),
		"the peer answers a cost of 1000 with a wait of 99 s, after which a burst of 10 refuses it again; chatguard says that waiting never helps, and is right")
	return want
}

func redisrateAllow(f *facts) {
	f.run(tenPerSecond,
		step{want: redisrateAnswer(1, 9, 1)},
		step{do: reset},
		step{want: redisrateAnswer(1, 9, 1)},
		step{cost: 2, want: redisrateAnswer(2, 7, 3)},
		step{cost: 7, want: redisrateAnswer(7, 0, 10)},
		step{cost: 1000, want: redisrateTooMuch()},
	)
}

func redisrateZero(f *facts) {
	for range 2 { // all or nothing, and as many as possible
		f.run(tenPerSecond,
			step{do: left, want: redisrateAnswer(0, 10, 0)},
			step{want: redisrateAnswer(1, 9, 1)},
			step{do: left, want: redisrateAnswer(0, 9, 1)},
		)
	}
}

func redisrateAtMost(f *facts) {
	none := redisrateAnswer(0, 0, 10)
	none[2] = retryAfter(redisrateRefill)
	f.run(tenPerSecond,
		step{want: redisrateAnswer(1, 9, 1)},
		step{do: upTo, cost: 2, want: redisrateAnswer(2, 7, 3)},
		step{do: left, want: redisrateAnswer(0, 7, 3)},
		step{do: upTo, cost: 10, want: redisrateAnswer(7, 0, 10)},
		step{do: left, want: redisrateAnswer(0, 0, 10)},
		step{do: upTo, cost: 1000, want: none},
		step{cost: 1000, want: redisrateTooMuch()},
	)
}
