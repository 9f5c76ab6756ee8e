package redisstore

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	numbers       = 256
	numberExpires = 10 * time.Minute
	numberRenew   = time.Minute
)

// number leases a node number for this node.
type number struct {
	writer *writer
	lease  atomic.Pointer[numberLease] // nil if there is none
	lost   atomic.Bool                 // the server may have lost the lease
}

type numberLease struct {
	value   int
	record  string    // what is stored at the number
	renewed time.Time // with a monotonic reading: when the last renewal began
}

// current returns the number. ok is false if none is leased, or the lease is about to expire.
func (n *number) current() (value int, ok bool) {
	lease := n.lease.Load()
	if lease == nil || time.Since(lease.renewed) >= numberExpires-time.Minute {
		return 0, false
	}
	return lease.value, true
}

// renew leases a number, or renews the lease once per minute. If the server may have lost the
// lease, renew leases the same number again at once.
func (n *number) renew(ctx context.Context) error {
	lease := n.lease.Load()
	if lease == nil {
		return n.take(ctx)
	}
	if time.Since(lease.renewed) < numberRenew && !n.lost.Load() {
		return nil
	}
	stored, done, err := n.set(ctx, lease.value, lease.record)
	if _, held := n.current(); err == nil && !done && stored == "" && held {
		stored, done, err = n.set(ctx, lease.value, "")
	}
	switch {
	case err != nil:
		return err
	case !done && strings.HasPrefix(stored, n.writer.server.instance+" "): // a renewal whose outcome wasn't known
		n.lease.Store(&numberLease{lease.value, stored, lease.renewed})
		return nil
	case !done: // the lease has expired, or another node has the number
		n.lease.Store(nil)
	}
	n.lost.Store(false)
	return nil
}

// take leases a number that no node has, if there is one.
func (n *number) take(ctx context.Context) error {
	first := rand.IntN(numbers)
	for i := range numbers {
		if _, done, err := n.set(ctx, (first+i)%numbers, ""); err != nil || done {
			return err
		}
	}
	return nil
}

// set leases a number if what is stored there is still was.
func (n *number) set(ctx context.Context, value int, was string) (stored string, done bool, err error) {
	next := &numberLease{value: value, renewed: time.Now()}
	next.record = n.writer.server.instance + " " + strconv.FormatInt(n.writer.server.since(), 10)
	stored, done, err = n.writer.compareAndSet(ctx, n.writer.server.keys.number(strconv.Itoa(value)), was, next.record, numberExpires)
	if done {
		n.lease.Store(next)
	}
	return stored, done, err
}

// release gives the number back.
func (n *number) release(ctx context.Context) {
	lease := n.lease.Swap(nil)
	if lease == nil {
		return
	}
	if _, _, err := n.writer.compareAndSet(ctx, n.writer.server.keys.number(strconv.Itoa(lease.value)), lease.record, "", 0); err != nil {
		n.writer.server.options.Logger.Debug("redisstore: the node number stays leased for 10 minutes", "problem", err)
	}
}
