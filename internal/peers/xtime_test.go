package peers

import (
	"time"

	"github.com/chatguard/chatguard"
)

// xtime has the facts in rate_test.go of golang.org/x/time/rate v0.16.0.
func xtime(f *facts) {
	f.group("burst of 1", func(f *facts) {
		const d = 100 * time.Millisecond
		f.run(chatguard.TokenBucketLimit("x", 1, d), []step{
			{at: 0, do: left, want: []fact{remaining(1)}},
			{at: 0, want: []fact{yes}},
			{at: 0, want: []fact{no}},
			{at: 2 * d, cost: 2, want: []fact{no}},
		}...)
	})
}
