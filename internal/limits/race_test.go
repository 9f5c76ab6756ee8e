package limits

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestTable_ConcurrentUse(t *testing.T) {
	// Whatever else happens to the table, no user gets more than the limit, and a user who retries
	// often enough gets no less.
	const users, tries, capacity, granted = 12, 600, 40, 3
	limits := []Limit{bucket(capacity, 1e6*time.Second), dailyLimit(1000, "UTC", ""), window("sliding-log", 900, time.Hour)}
	other := append(limits[:3:3], bucket(1000, time.Second).withName("other"))
	table := newTable(t, limits...)
	name := func(i int) string {
		if i%3 == 0 {
			return "anna" + strconv.Itoa(i)
		}
		return strconv.Itoa(i)
	}
	var allowed [users]atomic.Int64
	var talking, meddling sync.WaitGroup
	var done atomic.Bool
	for range 2 {
		talking.Go(func() {
			for i := range users * tries / 4 {
				if d := table.judge(name(i%users), Request{At: nanos(0), Cost: 1}); d.Allowed {
					allowed[i%users].Add(d.Taken)
				}
			}
		})
		talking.Go(func() {
			cases := make([]Case, 20)
			for i := range users * tries / 4 / len(cases) {
				for k := range cases {
					cases[k] = Case{User: name((i + k) % users), Request: Request{At: nanos(0), Cost: 1 + int64(k%2), UpTo: true}}
				}
				table.JudgeAll(cases)
				for k, c := range cases {
					allowed[(i+k)%users].Add(c.Decision.Taken)
				}
			}
		})
	}
	for k, meddle := range []func(i int){
		func(i int) { table.Peek(name(i%users), &Request{At: nanos(0), Cost: 1}) },
		func(i int) {
			if _, levels, _ := table.Explain(name(i%users), &Request{At: nanos(0), Cost: 1}); levels[0].Used > capacity {
				t.Errorf("%d are used", levels[0].Used)
			}
		},
		func(i int) { table.mustChange(t, 0, [][]Limit{limits, other}[i%2]...) },
		func(i int) {
			if i < users*granted {
				table.Grant(name(i%users), "burst", 1, nanos(0))
			}
		},
		func(i int) { table.Reset("gone" + strconv.Itoa(i%3)) },
		func(i int) { table.Pardon(name(i%users), Offence{ID: int64(i + 1), At: nanos(0)}, nanos(0)) },
		func(i int) {
			b := table.allDirty()
			if len(b.Rows) > table.CountDirty() {
				if _, err := table.Forgotten(b.Rows[0], nanos(0)); err != nil {
					t.Error(err)
				}
			}
			if i%2 == 0 {
				b.Confirm()
			} else {
				b.Release()
			}
		},
		func(i int) {
			own := []Own{{}, {Numbers: map[string]Numbers{"sliding-log": {Messages: 900}}}, {Timezone: "Asia/Tokyo"}}[i%3]
			if err := table.SetOwn(name(i%users), own, nanos(0)); err != nil {
				t.Error(err)
			}
			table.OwnOf(name(i%users), nanos(0))
		},
		func(i int) { table.judge("gone"+strconv.Itoa(i%100), Request{At: nanos(0), Cost: 1}) },
	} {
		meddling.Go(func() {
			for i := 0; i < 50+k || !done.Load(); i++ {
				meddle(i)
			}
		})
	}
	talking.Wait()
	done.Store(true)
	meddling.Wait()
	for i := range users {
		for range capacity + granted {
			if table.judge(name(i), Request{At: nanos(0), Cost: 1}).Allowed {
				allowed[i].Add(1)
			}
		}
		if n := allowed[i].Load(); n != capacity+granted {
			t.Errorf("user %s was allowed %d messages, want %d and %d granted", name(i), n, capacity, granted)
		}
	}
}

func TestRefund_ConcurrentIsBounded(t *testing.T) {
	table := newTable(t, bucket(10, 1e6*time.Second), window("fixed-window", 10, 1000*time.Hour))
	var allowed, refunded atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 500 {
				if table.send(0, 1).Allowed {
					allowed.Add(1)
				}
				if i%7 == 0 {
					table.Refund("7", Refund{At: nanos(0), N: 1}, nanos(0))
					refunded.Add(1)
				}
			}
		})
	}
	all.Wait()
	if most := 10 + refunded.Load(); allowed.Load() > most || table.usage(t, 0, "burst") > 10 {
		t.Errorf("%d messages, want %d at most", allowed.Load(), most)
	}
}

func TestOwn_ConcurrentForAllUsers(t *testing.T) {
	// New users, in shards that don't exist yet.
	table := newTable(t, dailyLimit(1, "UTC", ""))
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 300 {
				user := strconv.Itoa(4*i + g)
				switch i % 3 {
				case 0:
					table.Grant(user, "", 1, nanos(0))
				case 1:
					if err := table.SetOwn(user, Own{Exemption: Exempt}, nanos(0)); err != nil {
						t.Error(err)
					}
				case 2:
					if err := table.Restore(StateRow{User: user, Limit: "+", Data: []byte("\x02\xff{\"exemption\":1}")}, nanos(0)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if table.Users() != 1200 {
		t.Errorf("%d users", table.Users())
	}
}
