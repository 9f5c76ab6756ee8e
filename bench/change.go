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
	"github.com/chatguard/chatguard/bench/internal/report"
	"github.com/chatguard/chatguard/bench/internal/sequence"
	"github.com/chatguard/chatguard/internal/inner"
)

const (
	changes = 20 // number of policy changes
	// asked is the number of messages in the sequence that is checked again and again. It is small,
	// so that the garbage collector has little to trace here.
	asked = 1 << 16
	// expected is the expected number of decisions of each kind. It is large, so that the slice of
	// results is seldom reallocated.
	expected = 1 << 22
)

// measureChange measures the longest decision while a limit is being changed. Sometimes the machine
// itself interrupts a decision. For comparison, each change is therefore followed by an equally
// long span without a change.
func measureChange(s *settings, crowd []uint64) error {
	if !s.only.MatchString("change") {
		return nil
	}
	log.Print("Change: filling")
	guard, err := chatguard.New(enforcing(s.refill), nil)
	if err != nil {
		return err
	}
	fill(checkNow{guard}, crowd, burst+1)
	w := &watch{guard: guard, draws: newDraws(asked, crowd, sequence.Uniform, s.layout)}
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

	t := &report.Table{
		Title: "Decisions while a limit is changed, µs",
		Head:  []string{"", "decisions", "median", "99.99 %", "longest", "longest, median of spans"},
		Note: fmt.Sprintf("%d changes of refill and messages of a day, with SetPolicy taking %v (median), and as many spans of the "+
			"same length without a change.", changes, report.Median(spent).Round(time.Microsecond)),
	}
	w.addRow(t, "while changing", 0)
	w.addRow(t, "without a change", 1)
	t.Print(s.out, s.markdown)
	return nil
}

// watch checks messages without pause and records how long each decision takes. Spans with even
// numbers contain a change, and those with odd numbers don't. Outside all spans, the number is -1.
type watch struct {
	guard   *chatguard.Guard
	draws   []draw
	span    atomic.Int64
	stop    atomic.Bool
	taken   [2][]int64         // ns per decision: during a change, and without one
	longest [2 * changes]int64 // ns, per span
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
			span = end // a change began during the decision: count the decision there
		}
		if span >= 0 {
			w.taken[span%2] = append(w.taken[span%2], taken)
			w.longest[span] = max(w.longest[span], taken)
		}
	}
	return nil
}

// alternate switches back and forth between two policies and returns how long each change took.
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
		if err := inner.At(w.guard, start).SetChannelPolicy(channelID, policy); err != nil {
			return nil, err
		}
		spent[i] = time.Since(start)
		w.span.Store(int64(2*i + 1))
		time.Sleep(spent[i])
		w.span.Store(-1)
	}
	return spent, nil
}

// addRow adds a line to the table. Kind 0 stands for the spans with a change, and kind 1 for those
// without.
func (w *watch) addRow(t *report.Table, name string, kind int) {
	taken := slices.Sorted(slices.Values(w.taken[kind]))
	if len(taken) == 0 {
		t.Add(name, "0", "", "", "", "")
		return
	}
	var longest []int64
	for span := kind; span < len(w.longest); span += 2 {
		longest = append(longest, w.longest[span])
	}
	us := func(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1000) }
	t.Add(name, fmt.Sprint(len(taken)), us(taken[len(taken)/2]), us(taken[len(taken)*9999/10000]), us(taken[len(taken)-1]), us(report.Median(longest)))
}
