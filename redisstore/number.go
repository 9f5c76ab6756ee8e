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

// renew leases a number, or renews the lease once per minute.
func (n *number) renew(ctx context.Context) error {
	first, tries, was := rand.IntN(numbers), numbers, ""
	lease := n.lease.Load()
	if lease != nil {
		if time.Since(lease.renewed) < numberRenew {
			return nil
		}
		first, tries, was = lease.value, 1, lease.record
	}
	for i := range tries {
		next := &numberLease{value: (first + i) % numbers, renewed: time.Now()}
		next.record = n.writer.server.instance + " " + strconv.FormatInt(n.writer.server.since(), 10)
		stored, done, err := n.writer.compareAndSet(ctx, n.writer.server.keys.number(strconv.Itoa(next.value)), was, next.record, numberExpires)
		if err != nil {
			return err
		}
		if done {
			n.lease.Store(next)
			return nil
		}
		if lease != nil && strings.HasPrefix(stored, n.writer.server.instance+" ") { // a renewal whose outcome wasn't known
			n.lease.Store(&numberLease{lease.value, stored, lease.renewed})
			return nil
		}
	}
	n.lease.Store(nil) // the lease has expired, or all numbers are taken
	return nil
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
