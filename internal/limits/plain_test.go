package limits

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// For plain requests, judgePlain replaces hearing.judge, and judgePlainWith does if there are rows
// of repeated text, too. Both make the same decisions and leave the same rows.
func TestJudgePlain_EqualsHearing(t *testing.T) {
	twins := []Limit{window("fixed-window", 3, time.Minute), window("user-window", 3, time.Minute).withRole("subscriber", Numbers{Messages: 5})}
	log := []Limit{window("sliding-log", 4, time.Minute), window("sliding-window", 5, time.Minute), dailyLimit(12, "UTC", "")}
	again := window("sliding-log", 2, time.Minute).withName("again").withRole("subscriber", Numbers{Messages: 3}).withScope(PerUserText)
	copies := bucket(6, 4*time.Second).withName("copies").withScope(PerText)
	watched := window("user-window", 3, time.Minute).withName("watched").withScope(PerText).withObserves()
	for _, limits := range [][]Limit{{bucket(3, 4*time.Second), dailyLimit(20, "UTC", "")}, twins, log, nil, append(log, again), append(twins, again, copies), {copies, watched}} {
		strikes := Strikes{Every: 10 * time.Second, Forget: time.Minute, Ladder: []int64{0, UntilRetry, 30 * nanosPerSecond}}
		for _, strikes.Practice = range []bool{false, true} {
			sets := compileSets(t, strikes, limits...)
			var tables []*Table
			for _, set := range append([]*Set{sets[PerUser]}, sets.Texts()...) {
				table := NewTable(set, 1<<30, new(Dropped))
				table.CountUnsent()
				tables = append(tables, table)
			}
			compareJudges(t, tables[0], tables[1:])
		}
	}
}

// compareJudges judges random messages by Table.Judge, and by a hearing.
func compareJudges(t *testing.T, table *Table, texts []*Table) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	at := nanos(0)
	for i := range 3000 {
		at += rng.Int64N(8*nanosPerSecond) - 2*nanosPerSecond
		q := Request{At: at, Cost: 1 + rng.Int64N(5)*rng.Int64N(2), Roles: []Roles{{}, rolesOf("subscriber"), rolesOf("vip"), rolesOf("subscriber", "vip")}[rng.IntN(4)], Exempt: rng.IntN(20) == 0, UpTo: rng.IntN(5) == 0}
		if rng.IntN(50) == 0 {
			q.At -= rng.Int64N(5 * int64(time.Minute))
		}
		places := []Place{{Table: table, User: string(rune('1' + rng.IntN(3)))}}
		for _, text := range texts {
			n := rng.Uint64N(4)
			places = append(places, Place{Table: text, Text: Hash{n, n<<1 | 1}})
		}
		var got, want Decision
		h := table.dryRun(places[0].User, &q, &want, places[1:])
		h.judge()
		if table.Judge(places[0].User, &q, &got, places[1:]...); !equalDecisions(got, want) {
			t.Fatalf("message %d, %+v: %+v, want %+v", i, q, got, want)
		}
		for k, place := range places {
			set, got, wantRow := place.Table.set, place.copy(&Request{}).row, h.accounts[k].row
			for _, row := range [][]uint64{got, wantRow} {
				row[wordUser], row[max(set.low, wordUser)] = 0, 0          // not set in a new row
				row[wordMeta] = row[wordMeta] & (1<<seriesShift - 1) &^ 15 // series begin at random
			}
			if !slices.Equal(got, wantRow) {
				t.Fatalf("message %d, %+v: row %v, want %v", i, q, got, wantRow)
			}
		}
	}
}
