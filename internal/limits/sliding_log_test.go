package limits

import (
	"testing"
	"time"
)

func TestSlidingLog(t *testing.T) {
	limit := window("sliding-log", 3, 10*time.Second)
	runAll(t, []scenario{
		{"a message counts for every, and then no longer", limit, []step{
			{at: 0, ok: true}, {at: 4, ok: true}, {at: 8, ok: true}, {at: 8, retry: 2},
			{at: 10, ok: true}, {at: 10, retry: 4}, {at: 14, ok: true}, {at: 14, retry: 4},
		}},
		{"a cost above one", limit, []step{
			{at: 0, ok: true}, {at: 4, ok: true}, {at: 8, n: 2, retry: 2}, {at: 8, n: 3, retry: 6}, {at: 8, n: 4, retry: -1},
			{at: 14, n: 3, ok: true}, {at: 14, retry: 10},
		}},
		{"a late message counts as of the last", limit, []step{
			{at: 10, ok: true}, {at: 5, ok: true}, {at: 10, ok: true}, {at: 9, retry: 11}, {at: 15, retry: 5}, {at: 20, n: 3, ok: true},
		}},
		{"messages after a jump back are of the present", limit, []step{
			{at: 1000, ok: true}, {at: 1004, ok: true}, {at: 1008, ok: true}, {at: 100, retry: 10}, {at: 110, n: 3, ok: true},
		}},
		{"what no longer counted does not count after a jump back", limit, []step{
			{at: 1000, ok: true}, {at: 1004, ok: true}, {at: 1012, ok: true}, {at: 100, ok: true}, {at: 100, retry: 10},
		}},
	})
}

func TestSlidingLog_JumpBack(t *testing.T) {
	table := newTable(t, window("sliding-log", 3, 200*time.Second))
	run(t, table, []step{
		{at: 100, ok: true}, {at: 104, ok: true}, {at: 200, ok: true},
		{at: 105, retry: 195}, // 100, 104 and 105 count
		{at: 300, ok: true}, {at: 300, retry: 4}, {at: 304, ok: true}, {at: 304, retry: 1}, {at: 305, ok: true},
	})
}

func TestSlidingLog_ReusesRoom(t *testing.T) {
	// A user tries every 3 s. In 10 s there is room for three, so three of four pass.
	table := newTable(t, window("sliding-log", 3, 10*time.Second))
	for i := range 400 {
		s := step{at: float64(3 * i), ok: i%4 != 3}
		if !s.ok {
			s.retry = 1
		}
		run(t, table, []step{s})
	}
}

func TestSlidingLog_Longest(t *testing.T) {
	table := newTable(t, window("sliding-log", maxLog, time.Hour))
	for i := range maxLog {
		run(t, table, []step{{at: float64(i), ok: true}})
	}
	run(t, table, []step{{at: maxLog, retry: 3600 - maxLog}, {at: 3600, ok: true}, {at: 3600, retry: 1}, {at: 3600, n: 1024, retry: 3600}})
}
