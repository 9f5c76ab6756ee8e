// Package sequence draws the users of the benchmark programs, and who of them writes a message.
package sequence

import "math/rand/v2"

// Spread says how messages are distributed over the users.
type Spread string

// The spreads.
const (
	Uniform Spread = "uniform"
	Zipf    Spread = "Zipf 1.1" // a few users write most of the messages
)

// Rand returns a source of random values. Every run draws the same values.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }

// Crowd returns n distinct user IDs in random order. They are numbers, which the garbage collector
// needn't trace, so that its cost depends on the limiter alone.
func Crowd(n int) []uint64 {
	rng := Rand(1)
	seen := make(map[uint64]bool, n)
	crowd := make([]uint64, 0, n)
	for len(crowd) < n {
		if id := 1 + rng.Uint64N(1<<30); !seen[id] { // mostly 9 or 10 digits, as on Twitch
			seen[id] = true
			crowd = append(crowd, id)
		}
	}
	return crowd
}

// Order returns who writes each of n messages, as an index into the users.
func Order(rng *rand.Rand, n, users int, how Spread) []int {
	frequent := Rand(1).Perm(users) // frequency is independent of join order
	ranks := rand.NewZipf(rng, 1.1, 1, uint64(users-1))
	order := make([]int, n)
	for i := range order {
		if how == Zipf {
			order[i] = frequent[ranks.Uint64()]
		} else {
			order[i] = rng.IntN(users)
		}
	}
	return order
}
