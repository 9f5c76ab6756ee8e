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

// number is the node number that this node leases.
type number struct {
	writer *writer
	lease  atomic.Pointer[numberLease] // nil if there is none
}

type numberLease struct {
	held    bool
	value   int
	record  string    // what is stored at the number
	renewed time.Time // with a monotonic reading: when the last renewal began
}

// current returns the number. ok is false if none is leased, or the lease is about to expire.
func (n *number) current() (value int, ok bool) {
	lease := n.get()
	return lease.value, lease.held && time.Since(lease.renewed) < numberExpires-time.Minute
}

// renew leases a number, or renews the lease once per minute.
func (n *number) renew(ctx context.Context) error {
	lease := n.get()
	if lease.held && time.Since(lease.renewed) < numberRenew {
		return nil
	}
	first, tries := lease.value, 1
	if !lease.held {
		first, tries = rand.IntN(numbers), numbers
	}
	for i := range tries {
		next := numberLease{held: true, value: (first + i) % numbers, renewed: time.Now()}
		next.record = n.writer.server.instance + " " + strconv.FormatInt(n.writer.server.since(), 10)
		stored, done, err := n.writer.compareAndSet(ctx, n.writer.server.keys.number(strconv.Itoa(next.value)), lease.record, next.record, numberExpires)
		if err != nil {
			return err
		}
		if done {
			n.set(next)
			return nil
		}
		if lease.held && strings.HasPrefix(stored, n.writer.server.instance+" ") { // a renewal whose outcome wasn't known
			lease.record = stored
			n.set(lease)
			return nil
		}
	}
	n.set(numberLease{}) // the lease has expired, or all numbers are taken
	return nil
}

func (n *number) get() numberLease {
	if lease := n.lease.Load(); lease != nil {
		return *lease
	}
	return numberLease{}
}

func (n *number) set(lease numberLease) { n.lease.Store(&lease) }

// release gives the number back.
func (n *number) release(ctx context.Context) {
	lease := n.get()
	if !lease.held {
		return
	}
	n.set(numberLease{})
	if _, _, err := n.writer.compareAndSet(ctx, n.writer.server.keys.number(strconv.Itoa(lease.value)), lease.record, "", 0); err != nil {
		n.writer.server.options.Logger.Debug("redisstore: the node number stays leased for 10 minutes", "problem", err)
	}
}
