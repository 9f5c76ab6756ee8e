package limits

import (
	"testing"
	"time"
)

func TestTokenBucket(t *testing.T) {
	limit := bucket(3, 4*time.Second)
	runAll(t, []scenario{
		{"three at once, then one per refill", limit, []step{
			{at: 0, ok: true}, {at: 0, ok: true}, {at: 0, ok: true}, {at: 0, retry: 4},
			{at: 4, ok: true}, {at: 4, retry: 4}, {at: 12, ok: true},
		}},
		{"late messages count as of the last", limit, []step{
			{at: 12, ok: true}, {at: 12, ok: true}, {at: 11.9, ok: true}, {at: 11.9, retry: 4.1},
		}},
		{"a cost above one", limit, []step{
			{at: 0, n: 2, ok: true}, {at: 0, n: 2, retry: 4}, {at: 0, n: 3, retry: 8}, {at: 0, n: 4, retry: -1}, {at: 0, n: 1, ok: true},
		}},
		{"tokens accrue continuously", limit, []step{
			{at: 0, n: 3, ok: true}, {at: 6, ok: true}, {at: 6, retry: 2}, {at: 7, retry: 1}, {at: 8, ok: true}, {at: 8, n: 3, retry: 12},
		}},
		{"a throttled message spends nothing", limit, []step{
			{at: 0, n: 3, ok: true}, {at: 1, retry: 3}, {at: 2, retry: 2}, {at: 3, retry: 1}, {at: 4, ok: true},
		}},
		{"it never holds more than burst", limit, []step{
			{at: 0, ok: true}, {at: 1e6, n: 3, ok: true}, {at: 1e6, retry: 4},
		}},
		{"a jump back keeps a full debt and no more", limit, []step{
			{at: 1000, n: 3, ok: true}, {at: 100, retry: 4}, {at: 104, ok: true}, {at: 104, retry: 4},
		}},
		{"a jump back keeps a debt that isn't full", limit, []step{
			{at: 1000, n: 2, ok: true}, {at: 900, ok: true}, {at: 900, retry: 4}, {at: 904, ok: true}, {at: 904, retry: 4},
		}},
		{"a jump back keeps what was owed right after the last message", limit, []step{
			// 12 s, then 4 + 4 s
			{at: 1000, n: 3, ok: true}, {at: 1008, ok: true}, {at: 100, ok: true}, {at: 100, retry: 4},
		}},
		{"a jump back throttles nobody who writes now and then", limit, []step{
			{at: 1000, ok: true}, {at: 1005, ok: true}, {at: 10, ok: true}, {at: 15, ok: true}, {at: 20, ok: true}, {at: 25, ok: true},
		}},
		{"a message exactly a minute late is late", limit, []step{
			{at: 100, n: 3, ok: true}, {at: 40, retry: 64}, {at: 39.999, retry: 4},
		}},
		{"a burst of one is an interval", bucket(1, 90*time.Second), []step{
			{at: 0, ok: true}, {at: 89, retry: 1}, {at: 90, ok: true}, {at: 90, n: 2, retry: -1},
		}},
	})
}

func TestTokenBucket_ExactToTheNanosecond(t *testing.T) {
	table := newTable(t, bucket(3, 7))
	for i, s := range []struct {
		at    int64
		ok    bool
		retry int64
	}{
		{0, true, 0}, {0, true, 0}, {0, true, 0}, {0, false, 7}, {6, false, 7}, {7, true, 0}, {7, false, 14}, {13, false, 14}, {20, true, 0}, {20, false, 21}, {21, true, 0},
	} {
		d := table.judge("7", Request{At: s.at, Cost: 1})
		if d.Allowed != s.ok || !s.ok && d.RetryAt != s.retry {
			t.Fatalf("step %d at %d ns: allowed is %v, retry at %d", i, s.at, d.Allowed, d.RetryAt)
		}
	}
}

func TestTokenBucket_146Years(t *testing.T) {
	table := newTable(t, bucket(1, MaxTime-1))
	if d := table.judge("7", Request{At: MaxTime - 1, Cost: 1}); !d.Allowed {
		t.Fatal("the first message is throttled")
	}
	if d := table.judge("7", Request{At: MaxTime - 1, Cost: 1}); d.Allowed || d.RetryAt != 2*(MaxTime-1) {
		t.Errorf("retry at %d, want %d", d.RetryAt, int64(2*(MaxTime-1)))
	}
}

func TestTokenBucket_NeitherMoreNorLess(t *testing.T) {
	// A user who tries every second gets 3 at once and then one every 4 s: at the seconds 0, 1, 2,
	// 4, 8, 12, …, 996.
	table := newTable(t, bucket(3, 4*time.Second))
	allowed := 0
	for second := range 1000 {
		if table.spendOne(float64(second)) {
			allowed++
		}
	}
	if want := 3 + 249; allowed != want {
		t.Errorf("%d messages in 1000 s, want %d", allowed, want)
	}
}
