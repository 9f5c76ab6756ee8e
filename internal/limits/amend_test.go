package limits

import (
	"math"
	"testing"
	"time"
)

func TestRefund(t *testing.T) {
	type refund struct {
		spentAt float64
		n       int64
		now     float64
	}
	three, log := bucket(3, 4*time.Second), window("sliding-log", 3, 10*time.Second)
	minute, user, sliding := window("fixed-window", 3, time.Minute), window("user-window", 3, time.Minute), window("sliding-window", 5, 10*time.Second)
	for _, test := range []struct {
		name   string
		limit  Limit
		before []step
		refund refund
		after  []step
	}{
		{"a bucket gets tokens back", three, []step{{at: 0, n: 3, ok: true}}, refund{0, 2, 0}, []step{{at: 0, n: 2, ok: true}, {at: 0, retry: 4}}},
		{"a bucket is full at most", three, []step{{at: 0, n: 2, ok: true}}, refund{0, math.MaxInt64, 0}, []step{{at: 0, n: 3, ok: true}, {at: 0, retry: 4}}},
		{"a bucket has got some back by itself", three, []step{{at: 0, n: 3, ok: true}}, refund{0, 1, 6}, []step{{at: 6, n: 3, retry: 2}, {at: 6, n: 2, ok: true}}},
		{"of a bucket only what still counts", three, []step{{at: 0, ok: true}, {at: 3.9, n: 2, ok: true}}, refund{0, 1, 3.9}, []step{{at: 3.9, ok: true}, {at: 3.9, retry: 4}}},
		{"of a bucket nothing that was paid off before the next", bucket(100, 60*time.Second), []step{{at: 0, ok: true}, {at: 5900, n: 100, ok: true}}, refund{0, 1, 5901},
			[]step{{at: 5901, retry: 59}}},
		{"a window that is over", minute, []step{{at: 10, n: 2, ok: true}, {at: 60, n: 3, ok: true}}, refund{10, 2, 60}, []step{{at: 60, retry: 60}}},
		{"a window's first instant", minute, []step{{at: 60, n: 3, ok: true}}, refund{60, 1, 60}, []step{{at: 60, ok: true}, {at: 60, retry: 60}}},
		{"a user's window starts again when everything is refunded", user, []step{{at: 10, n: 3, ok: true}}, refund{10, 3, 20}, []step{{at: 20, n: 3, ok: true}, {at: 20, retry: 60}}},
		{"a part of the count before", sliding, []step{{at: 8, n: 5, ok: true}}, refund{8, 1, 12},
			[]step{{at: 12, n: 2, retry: 0.5}, {at: 12, ok: true}}}, // 4 × 0.75 = 3
		{"a sliding window's count from further back", sliding, []step{{at: 8, n: 2, ok: true}, {at: 25, n: 5, ok: true}}, refund{8, 2, 25}, []step{{at: 25, retry: 7}}},
		{"of a log only what is of that time", log, []step{{at: 0, n: 2, ok: true}, {at: 4, ok: true}}, refund{4, 3, 5}, []step{{at: 5, ok: true}, {at: 5, retry: 5}}},
		{"of a log what isn't there", log, []step{{at: 0, n: 2, ok: true}, {at: 4, ok: true}}, refund{1, 3, 5}, []step{{at: 5, retry: 5}}},
		{"of a log what is over", log, []step{{at: 0, ok: true}, {at: 4, n: 2, ok: true}, {at: 10, ok: true}}, refund{0, 1, 10}, []step{{at: 10, retry: 4}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := newTable(t, test.limit)
			run(t, table, test.before)
			table.Refund("7", Refund{At: nanos(test.refund.spentAt), N: test.refund.n}, nanos(test.refund.now))
			run(t, table, test.after)
		})
	}
}

func TestReset(t *testing.T) {
	table := newTableWithStrikes(t, Strikes{Every: 10 * time.Second, Ladder: []int64{1000 * nanosPerSecond}}, sevenLimits()...)
	own := Own{Numbers: map[string]Numbers{"fixed-window": {Messages: 4}}}
	must(t, table.SetOwn("7", own, nanos(0)))
	run(t, table, []step{{at: 0, n: 3, ok: true}, {at: 0, retry: day}})
	table.Grant("7", "daily", 2, nanos(0))
	table.Reset("7")
	d, levels, s := table.Explain("7", &Request{At: nanos(0), Cost: 3})
	if !d.Allowed || s.Strikes != 0 || s.SilentUntil != 0 || len(table.OwnOf("7", 0).Numbers) != 1 {
		t.Errorf("%+v, %+v", d, s)
	}
	for _, l := range levels {
		if l.Used != 0 || l.Granted != 0 {
			t.Errorf("%s: %+v", l.Limit.Name(), l)
		}
	}
	run(t, table, []step{{at: 0, n: 3, ok: true}, {at: 0, retry: day}})
	if s := table.standing(0); s.Strikes != 1 {
		t.Errorf("%d strikes after a reset and one more, want 1", s.Strikes)
	}
	table.Reset("8")
	table.Refund("8", Refund{At: nanos(0), N: 2}, nanos(0))
	if table.Users() != 1 {
		t.Error("a reset or a refund of somebody never seen makes a row")
	}
}

func TestPardon(t *testing.T) {
	counted := window("fixed-window", 5, time.Hour).withCountThrottled()
	table := newTableWithStrikes(t, Strikes{Every: 10 * time.Second, Ladder: []int64{1000 * nanosPerSecond}}, bucket(1, time.Hour), counted)
	run(t, table, []step{{at: 0, ok: true}, {at: 1, n: 3, retry: -1}})
	var p place
	table.fillPlace("7", &p)
	p.find()
	offence := Offence{ID: 1, At: nanos(1), Counted: 3, Silence: 1000 * nanosPerSecond, Series: seriesOf(p.shard.row(p.slot)), NewStrike: true}
	for i, want := range []bool{true, false, false} {
		if done := table.Pardon("7", offence, nanos(2)); done != want {
			t.Errorf("pardon %d: done is %v", i, done)
		}
		s := table.standing(2)
		if used := table.usage(t, 2, "fixed-window"); s.Strikes != 0 || s.SilentUntil != 0 || used != 1 {
			t.Errorf("pardon %d: %+v, %d are used; want 1, what the allowed message spent", i, s, used)
		}
		if used := table.usage(t, 2, "burst"); used != 1 {
			t.Errorf("pardon %d: the bucket, of which nothing was spent, has %d used", i, used)
		}
	}
	if d := table.send(3, 1); d.Strikes != 1 || !d.NewStrike {
		t.Errorf("the next: %+v, want the first strike", d)
	}
	if table.Pardon("7", offence, nanos(4)) || table.standing(4).Strikes != 1 {
		t.Error("a third pardon takes another strike back")
	}
	if table.Pardon("8", offence, nanos(4)) {
		t.Error("somebody never seen is pardoned")
	}
}

func TestPardon_RemovesItsOwnStrike(t *testing.T) {
	const forget = 1800
	for _, test := range []struct {
		name    string
		strikes []float64 // the times at which strikes are given
		pardons []int     // indexes of pardoned strikes
		now     float64
		want    int // strikes afterwards
	}{
		{"the only one", []float64{0}, []int{0}, 1, 0},
		{"the first of two", []float64{0, 10}, []int{0}, 11, 1},
		{"the second of two", []float64{0, 10}, []int{1}, 11, 1},
		{"both, in their order", []float64{0, 10}, []int{0, 1}, 11, 0},
		{"both, the last first", []float64{0, 10}, []int{1, 0}, 11, 0},
		{"three, the middle one last", []float64{0, 10, 20}, []int{0, 2, 1}, 21, 0},
		{"three, the last first", []float64{0, 10, 20}, []int{2, 1, 0}, 21, 0},
		{"twice the same", []float64{0, 10}, []int{0, 0}, 11, 1},
		{"in a long series", []float64{0, 1700, 3400}, []int{0}, 3401, 2},
		{"when they have lapsed", []float64{0, 10}, []int{0, 1}, 10 + forget, 0},
		{"one that had lapsed before many", []float64{0, 1860, 1920, 1980}, []int{0}, 1981, 3},
		{"one of many whose next was pardoned", []float64{0, 1700, 3400}, []int{1, 0}, 3401, 1},
		{"one that had lapsed before the next", []float64{0, forget}, []int{0}, forget + 1, 1},
		{"the next after one that had lapsed", []float64{0, forget}, []int{1}, forget + 1, 0},
	} {
		table := newTable(t, bucket(1, 1000*time.Hour))
		table.send(0, 1)
		var offences []Offence
		for i, at := range test.strikes {
			d := table.send(at, 1)
			if !d.NewStrike {
				t.Fatalf("%s: message %d gives no strike", test.name, i)
			}
			offences = append(offences, Offence{ID: int64(i + 1), At: d.At, Series: d.Series, NewStrike: true})
		}
		for _, i := range test.pardons {
			table.Pardon("7", offences[i], nanos(test.now))
		}
		if got := table.standing(test.now).Strikes; got != test.want {
			t.Errorf("%s: %d strikes are left, want %d", test.name, got, test.want)
		}
	}
}
