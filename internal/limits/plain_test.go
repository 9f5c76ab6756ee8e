package limits

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// For plain requests, judgePlain replaces hearing.judge. Both make the same decisions and leave the
// same rows.
func TestJudgePlain_EqualsHearing(t *testing.T) {
	twins := []Limit{window("fixed-window", 3, time.Minute), window("user-window", 3, time.Minute).withRole("subscriber", Numbers{Messages: 5})}
	log := []Limit{window("sliding-log", 4, time.Minute), window("sliding-window", 5, time.Minute), dailyLimit(12, "UTC", "")}
	for _, limits := range [][]Limit{{bucket(3, 4*time.Second), dailyLimit(20, "UTC", "")}, twins, log, nil} {
		strikes := Strikes{Every: 10 * time.Second, Forget: time.Minute, Ladder: []int64{0, UntilRetry, 30 * nanosPerSecond}}
		for _, strikes.Practice = range []bool{false, true} {
			table := newTableWithStrikes(t, strikes, limits...)
			rng := rand.New(rand.NewPCG(1, 2))
			at := nanos(0)
			for i := range 3000 {
				at += rng.Int64N(8*nanosPerSecond) - 2*nanosPerSecond
				q := Request{At: at, Cost: 1 + rng.Int64N(5)*rng.Int64N(2), Roles: []Roles{{}, rolesOf("subscriber"), rolesOf("vip"), rolesOf("subscriber", "vip")}[rng.IntN(4)], Exempt: rng.IntN(20) == 0, UpTo: rng.IntN(5) == 0}
				if rng.IntN(50) == 0 {
					q.At -= rng.Int64N(5 * int64(time.Minute))
				}
				user := string(rune('1' + rng.IntN(3)))
				var want Decision
				h := table.dryRun(user, &q, &want, nil)
				h.judge()
				if got := table.judge(user, q); !equalDecisions(got, want) {
					t.Fatalf("message %d, %+v: %+v, want %+v", i, q, got, want)
				}
				got, wantRow := Place{Table: table, User: user}.copy(&Request{}).row, h.accounts[0].row
				for _, row := range [][]uint64{got, wantRow} {
					row[wordUser] = 0                                          // not set in the row of a new user
					row[wordMeta] = row[wordMeta] & (1<<seriesShift - 1) &^ 15 // series begin at random
				}
				if !slices.Equal(got, wantRow) {
					t.Fatalf("message %d, %+v: row %v, want %v", i, q, got, wantRow)
				}
			}
		}
	}
}
