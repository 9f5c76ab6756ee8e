package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// exchange sends what all users have spent, until that has taken long enough. It measures only the
// exchanges. The first one isn't measured, because it creates the rows.
func (n *node) exchange(ctx context.Context) (*result, error) {
	g, ok := n.limiter.(*guard)
	if !ok {
		return nil, fmt.Errorf("%s can't exchange rows", n.Limiter)
	}
	if _, err := n.exchangeOnce(ctx, g); err != nil {
		return nil, err
	}
	stop, err := n.startProfile()
	if err != nil {
		return nil, err
	}
	defer stop()
	all := &result{}
	var took time.Duration
	for took < n.Seconds {
		one, err := n.exchangeOnce(ctx, g)
		if err != nil {
			return nil, err
		}
		took += one.Wall
		if err := all.add(one); err != nil {
			return nil, err
		}
	}
	all.Wall = took
	return all, nil
}

// exchangeOnce makes all users write a message, and measures the exchange of their rows.
func (n *node) exchangeOnce(ctx context.Context, g *guard) (*result, error) {
	w := &n.workers[0]
	for user := range n.users {
		n.ask(ctx, w, user)
	}
	if failed := w.failed.Load(); failed > 0 {
		return nil, fmt.Errorf("%d checks have failed: %s", failed, *n.problem.Load())
	}
	var before, after result
	if err := n.snapshot(&before); err != nil {
		return nil, err
	}
	other := make(chan error, 1)
	go func() { other <- g.Shared().Exchange(ctx) }() // as Store.Run does if there are many rows
	err := errors.Join(g.Shared().Exchange(ctx), <-other, n.snapshot(&after))
	if err != nil {
		return nil, err
	}
	one := n.between(&before, &after)
	rows := int64(len(n.users))
	if s := g.Shared().Counts(); s.Pending > 0 || one.RoundTrips < rows { // an exchange may have to repeat a swap
		return nil, fmt.Errorf("%d rows were swapped and %d are still pending, want at least %d and none", one.RoundTrips, s.Pending, rows)
	}
	one.Asked, one.Allowed = rows, rows
	return one, nil
}
