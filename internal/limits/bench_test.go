package limits

import (
	"strconv"
	"testing"
	"time"
)

// BenchmarkChange changes a limit with a million users, and reports how long a shard was locked for
// it. A decision waits for at most one shard.
func BenchmarkChange(b *testing.B) {
	const users = 1_000_000
	table := newTable(b, bucket(3, 4*time.Second), dailyLimit(300, "", ""))
	for i := range users {
		table.judge(strconv.Itoa(100_000_000+i*37), Request{At: nanos(0), Cost: 1})
	}
	refill := 4 * time.Second
	var longest, all time.Duration
	shards := 0
	for b.Loop() {
		refill += time.Second
		set, err := newTestSet([]Limit{bucket(3, refill), dailyLimit(300, "", "")}, Strikes{})
		if err != nil {
			b.Fatal(err)
		}
		table.mu.Lock()
		c := conversionOf(table.set, set, nil, nanos(1))
		table.forEach(func(s *shard) {
			begin := time.Now()
			s.change(&c, s.count)
			held := time.Since(begin)
			longest, all, shards = max(longest, held), all+held, shards+1
		})
		table.set = c.set
		table.mu.Unlock()
	}
	b.ReportMetric(float64(longest.Microseconds()), "longest-µs/shard")
	b.ReportMetric(float64(all.Microseconds())/float64(shards), "µs/shard")
}

// BenchmarkCompile compiles a policy whose limits have other numbers for each role.
func BenchmarkCompile(b *testing.B) {
	for _, of := range []Limit{bucket(3, 4*time.Second), dailyLimit(300, "Europe/Berlin", "04:00")} {
		b.Run(of.Algorithm, func(b *testing.B) {
			limits := manyLimits(MaxLimits, of)
			for i := range limits {
				limits[i].Roles = map[string]Numbers{}
				for _, role := range testRoles.Names() {
					limits[i].Roles[role] = Numbers{Burst: of.Burst * 2, Messages: of.Messages * 2}
				}
			}
			for b.Loop() {
				if _, err := Compile(limits, testRoles, Strikes{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSlidingWindow judges messages of 1,000 users, most of them throttled, by a sliding
// window of some numbers of slices.
func BenchmarkSlidingWindow(b *testing.B) {
	users := make([]string, 1000)
	for i := range users {
		users[i] = strconv.Itoa(1000 + i)
	}
	for _, slices := range []int64{1, 6, maxSlices} {
		b.Run(strconv.FormatInt(slices, 10), func(b *testing.B) {
			table := newTable(b, window("sliding-window", 15, time.Minute).withSlices(slices))
			at := epoch.UnixNano()
			var d Decision
			for i := 0; b.Loop(); i++ {
				at += int64(time.Millisecond)
				table.Judge(users[i%len(users)], &Request{At: at, Cost: 1}, &d)
			}
		})
	}
}
