// Package limits holds the algorithms, as pure steps over a few machine words, and the table that keeps those words for millions of users.
//
// Time is a parameter everywhere: integer nanoseconds since the Unix epoch, from 1970 to 2116, so that a time plus any debt fits an
// int64. There is no clock here, no goroutine and no I/O, and nothing is known of messages, policies or penalties.
//
//	Params ──compile──> Rule (one limit) ──> Set (all limits of a channel, judged together) ──> Table (a row of words for each user)
package limits

import (
	"fmt"
	"math"
	"time"
)

// MaxTime is the first instant, in nanoseconds since the Unix epoch, that is too late to judge at: 2^62, in February 2116.
const MaxTime = 1 << 62

// Never is the instant that doesn't come.
const Never = math.MaxInt64

// MaxMessages is the greatest number that a limit can count to.
const MaxMessages = math.MaxInt32

// Params are a limit's parameters as people give them. Each algorithm reads its own and refuses the others.
type Params struct {
	Name      string
	Algorithm string
	Burst     int64
	Refill    time.Duration
	Messages  int64
	Timezone  string // IANA name; empty means DefaultZone
	ResetAt   string // "HH:MM"; empty means midnight

	DefaultZone string // the channel's zone, for limits that need one; empty means UTC
}

// given lists the names of the parameters that have a value.
func (p Params) given() []string {
	var names []string
	for _, param := range []struct {
		name string
		set  bool
	}{
		{"burst", p.Burst != 0},
		{"refill", p.Refill != 0},
		{"messages", p.Messages != 0},
		{"timezone", p.Timezone != ""},
		{"reset_at", p.ResetAt != ""},
	} {
		if param.set {
			names = append(names, param.name)
		}
	}
	return names
}

// Rule is one limit, compiled: an algorithm with its parameters in the form that its steps want. It is immutable.
type Rule struct {
	*algorithm
	name     string
	capacity int64     // messages it can hold at once
	interval int64     // nanoseconds; its meaning is the algorithm's
	calendar *Calendar // of a limit that counts by days
}

// Name is the limit's name.
func (r *Rule) Name() string { return r.name }

// compile checks the parameters. The error is without the limit's name.
func compile(p Params) (Rule, error) {
	a, err := algorithmNamed(p.Algorithm)
	if err != nil {
		return Rule{}, err
	}
	if err := a.refuseOthers(p); err != nil {
		return Rule{}, err
	}
	r := Rule{algorithm: a, name: p.Name}
	if err := a.compile(p, &r); err != nil {
		return Rule{}, err
	}
	return r, nil
}

// checkCount refuses a number of messages that a limit can't count to.
func checkCount(name string, n int64) error {
	switch {
	case n < 1:
		return fmt.Errorf("%s is %d, want 1 or more", name, n)
	case n > MaxMessages:
		return fmt.Errorf("%s is %d, want %d or less", name, n, MaxMessages)
	}
	return nil
}
