package limitinfo_test

import (
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
)

// A program makes the fields of a form from the engine's own table, so it needs none of its own.
func ExampleAlgorithms() {
	for _, algorithm := range limitinfo.Algorithms() {
		if algorithm.Name != chatguard.TokenBucket && !algorithm.PerMessage {
			continue // this program offers only these
		}
		fmt.Printf("%s, %d bytes of state\n", algorithm.Name, algorithm.StateBytes)
		for _, p := range algorithm.Parameters {
			fmt.Println("\t" + describe(p))
		}
	}
	// Output:
	// token-bucket, 8 bytes of state
	// 	burst: 1 to 2147483647, 3 for example
	// 	refill: 1µs or more, 4s for example
	// 	reserve: 0 to 2147483646, 0 for example, the same for all
	// sliding-log, 8 bytes of state
	// 	messages: 1 to 1024, 10 for example
	// 	every: 1µs or more, 30s for example, the same for all
	// 	reserve: 0 to 1023, 0 for example, the same for all
}

// describe writes a parameter in words.
func describe(p limitinfo.Parameter) (text string) {
	switch p.Kind {
	case limitinfo.KindCount:
		text = fmt.Sprintf("%s: %d to %d, %d for example", p.Name, p.Least, p.Most, p.Suggested)
	case limitinfo.KindDuration:
		text = fmt.Sprintf("%s: %s or more, %s for example", p.Name, time.Duration(p.Least), time.Duration(p.Suggested))
	case limitinfo.KindZone:
		text = p.Name + ": a time zone"
	case limitinfo.KindClock:
		text = p.Name + ": a time of day"
	}
	if !p.Overridable {
		text += ", the same for all"
	}
	return text
}

// How many people fit, before the server starts.
func ExampleCapacity() {
	policy := chatguard.DefaultPolicy()
	users, everywhere, err := limitinfo.Capacity(policy, chatguard.DefaultMemory)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("over 6 million in each room:", users > 6_000_000, everywhere)
	// Output: over 6 million in each room: true 0
}

func ExampleMemory() {
	bytes, err := limitinfo.Memory(chatguard.DefaultPolicy(), 100_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("100,000 users take under 10 MB:", bytes < 10_000_000)
	// Output: 100,000 users take under 10 MB: true
}
