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

// number is the lease of a node number; nil if there is none.
type number struct{ lease atomic.Pointer[numberLease] }

type numberLease struct {
	held    bool
	value   int
	record  string    // what is stored at the number
	renewed time.Time // with a monotonic reading: when the last renewal began
}

// Number returns the number of this node, from 0 to 255, that no other live node of the namespace
// has. ok is false before Run has leased one, and if the lease couldn't be renewed for 9 minutes.
// Then Run leases another number.
func (s *Store) Number() (n int, ok bool) {
	lease := s.number.get()
	return lease.value, lease.held && time.Since(lease.renewed) < numberExpires-time.Minute
}

// renewNumber leases a number, or renews the lease once per minute.
func (s *Store) renewNumber(ctx context.Context) error {
	lease := s.number.get()
	if lease.held && time.Since(lease.renewed) < numberRenew {
		return nil
	}
	first, tries := lease.value, 1
	if !lease.held {
		first, tries = rand.IntN(numbers), numbers
	}
	for i := range tries {
		next := numberLease{held: true, value: (first + i) % numbers, renewed: time.Now()}
		next.record = s.instance + " " + strconv.FormatInt(s.since(), 10)
		stored, done, err := s.compareAndSet(ctx, s.keys.number(strconv.Itoa(next.value)), lease.record, next.record, numberExpires)
		if err != nil {
			return err
		}
		if done {
			s.number.set(next)
			return nil
		}
		if lease.held && strings.HasPrefix(stored, s.instance+" ") { // a renewal whose outcome wasn't known
			lease.record = stored
			s.number.set(lease)
			return nil
		}
	}
	s.number.set(numberLease{}) // the lease has expired, or all numbers are taken
	return nil
}

func (n *number) get() numberLease {
	if lease := n.lease.Load(); lease != nil {
		return *lease
	}
	return numberLease{}
}

func (n *number) set(lease numberLease) { n.lease.Store(&lease) }

// releaseNumber gives the number back.
func (s *Store) releaseNumber(ctx context.Context) {
	lease := s.number.get()
	if !lease.held {
		return
	}
	s.number.set(numberLease{})
	if _, _, err := s.compareAndSet(ctx, s.keys.number(strconv.Itoa(lease.value)), lease.record, "", 0); err != nil {
		s.options.Logger.Debug("redisstore: the node number stays leased for 10 minutes", "problem", err)
	}
}
