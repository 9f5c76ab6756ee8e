package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
)

const (
	changes  = 20      // how often the policy is changed
	asked    = 1 << 16 // messages that are asked about in turn: few, so that the garbage collector has little to follow here
	expected = 1 << 22 // decisions of each kind, so that noting them seldom moves the notes
)

// change measures the longest decision while a limit is changed. Because the machine itself interrupts a decision now and then, each change
// is followed by as long a time without one, for comparison.
func change(s *settings, crowd []uint64) error {
	if !s.only.MatchString("change") {
		return nil
	}
	log.Print("Change: filling")
	guard, err := chatguard.New(enforcing(s.refill), nil)
	if err != nil {
		return err
	}
	fill(checkNow{guard}, crowd, burst+1)
	w := &watch{guard: guard, draws: newDraws(asked, crowd, uniform, s.layout)}
	for kind := range w.taken {
		w.taken[kind] = make([]int64, 0, expected)
	}
	w.span.Store(-1)
	watched := make(chan error)
	go func() { watched <- w.run() }()
	spent, err := w.alternate(s.refill)
	w.stop.Store(true)
	if err := errors.Join(err, <-watched); err != nil {
		return err
	}

	t := &table{
		title: "Decisions while a limit is changed, µs",
		head:  []string{"", "decisions", "median", "99.99 %", "longest", "longest, median of spans"},
		note: fmt.Sprintf("%d changes of refill and messages of a day, each of which took SetPolicy %v (median), and as many spans of the "+
			"same length without a change.", changes, median(spent).Round(time.Microsecond)),
	}
	w.add(t, "while changing", 0)
	w.add(t, "without a change", 1)
	t.print(s.out, s.markdown)
	return nil
}

// watch asks without pause and notes how long each decision took. Spans with even numbers are changes, odd ones are not, -1 is neither.
type watch struct {
	guard   *chatguard.Guard
	draws   []draw
	span    atomic.Int64
	stop    atomic.Bool
	taken   [2][]int64         // ns of each decision: in a change, in none
	longest [2 * changes]int64 // ns, of each span
}

func (w *watch) run() error {
	ctx := context.Background()
	for i := 0; !w.stop.Load(); i = (i + 1) % len(w.draws) {
		m := w.draws[i].message()
		span, start := w.span.Load(), time.Now()
		_, err := w.guard.Check(ctx, m)
		taken := time.Since(start).Nanoseconds()
		if err != nil {
			return err
		}
		if end := w.span.Load(); end >= 0 && (span < 0 || end%2 == 0) {
			span = end // a decision that a change came into is the change's
		}
		if span >= 0 {
			w.taken[span%2] = append(w.taken[span%2], taken)
			w.longest[span] = max(w.longest[span], taken)
		}
	}
	return nil
}

// alternate changes the policy to and fro, and returns how long each change took.
func (w *watch) alternate(refill time.Duration) ([]time.Duration, error) {
	spent := make([]time.Duration, changes)
	for i := range spent {
		log.Printf("Change: %d of %d", i+1, changes)
		policy := enforcing(refill * time.Duration(1+i%2))
		for k := range policy.Limits {
			if policy.Limits[k].Messages > 0 {
				policy.Limits[k].Messages += 100 * (i % 2)
			}
		}
		start := time.Now()
		w.span.Store(int64(2 * i))
		if err := w.guard.SetPolicy(channelID, policy, start); err != nil {
			return nil, err
		}
		spent[i] = time.Since(start)
		w.span.Store(int64(2*i + 1))
		time.Sleep(spent[i])
		w.span.Store(-1)
	}
	return spent, nil
}

// add puts the line of the changes (kind 0) or of the time without (kind 1) into the table.
func (w *watch) add(t *table, name string, kind int) {
	taken := slices.Sorted(slices.Values(w.taken[kind]))
	if len(taken) == 0 {
		t.add(name, "0", "", "", "", "")
		return
	}
	var longest []int64
	for span := kind; span < len(w.longest); span += 2 {
		longest = append(longest, w.longest[span])
	}
	us := func(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1000) }
	t.add(name, fmt.Sprint(len(taken)), us(taken[len(taken)/2]), us(taken[len(taken)*9999/10000]), us(taken[len(taken)-1]), us(median(longest)))
}
