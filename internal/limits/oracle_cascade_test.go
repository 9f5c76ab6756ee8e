package limits

import "slices"

// plainCascade is two token buckets that fill by themselves. The first that holds a message's whole
// cost pays it alone.
type plainCascade struct{ first, second plainBucket }

func (p plainNumbers) extra() plainNumbers {
	return plainNumbers{capacity: p.extraCapacity, every: p.extraEvery}
}

func (c *plainCascade) fits(at, n int64, p plainNumbers) bool {
	return c.first.fits(at, n, p) || c.second.fits(at, n, p.extra())
}

func (c *plainCascade) spend(at, n int64, p plainNumbers) {
	if c.first.fits(at, n, p) {
		c.first.spend(at, n, p)
	} else {
		c.second.spend(at, n, p.extra())
	}
}

func (c *plainCascade) charge(at, n int64, p plainNumbers) {
	c.first.charge(at, n, p)
	c.second.charge(at, n, p.extra())
}

// refund fills the second bucket first, with whole messages.
func (c *plainCascade) refund(at, n int64, p plainNumbers) {
	part := int64(0)
	for ; part < n && part*p.extraEvery < c.second.debtAt(at); part++ {
	}
	c.second.refund(at, part, p.extra())
	c.first.refund(at, n-part, p)
}

func (c *plainCascade) jump(last, to int64, p plainNumbers) {
	c.first.jump(last, to, p)
	c.second.jump(last, to, p.extra())
}

func (c *plainCascade) clone() ledger { d := *c; return &d }

// bucketsOf returns a cascade's buckets as limits of their own. Only the first one has the grants.
func (s usedLimit) bucketsOf(c *plainCascade) (first, second usedLimit) {
	first, second = s, s
	first.ledger = &c.first
	second.ledger, second.p, second.plainRow = &c.second, s.p.extra(), &plainRow{last: s.last}
	return first, second
}

// isLow reports whether a message of cost n would be of low priority at that time: the first bucket
// of a deciding cascade doesn't hold it.
func isLow(deciding []usedLimit, at, n int64) bool {
	return slices.ContainsFunc(deciding, func(s usedLimit) bool {
		c, ok := s.ledger.(*plainCascade)
		if !ok {
			return false
		}
		first, _ := s.bucketsOf(c)
		return !first.fits(at, n)
	})
}

// reserveFor returns how much more a limit must have room for.
func (s usedLimit) reserveFor(low bool) int64 {
	if low {
		return s.Reserve
	}
	return 0
}

// passes reports whether n would fit the limits at that time, at the priority that the deciding ones
// give it.
func passes(deciding, limits []usedLimit, at, n int64) bool {
	low := isLow(deciding, at, n)
	return !slices.ContainsFunc(limits, func(s usedLimit) bool { return !s.fits(at, n+s.reserveFor(low)) })
}

// partOf returns how much of n passes, at least 1: as much as does at normal priority, and if that
// is nothing, as much as does with the second bucket of the cascades whose first bucket is empty.
func partOf(deciding []usedLimit, at, n int64) int64 {
	for part := n; part > 0; part-- {
		if !isLow(deciding, at, part) && passes(deciding, deciding, at, part) {
			return part
		}
	}
	mixed := func(s usedLimit, part int64) bool { // the first bucket has something, but not enough
		c, ok := s.ledger.(*plainCascade)
		if !ok {
			return false
		}
		first, _ := s.bucketsOf(c)
		return first.fits(at, 1) && !first.fits(at, part)
	}
	for part := n; part > 0; part-- {
		if passes(deciding, deciding, at, part) && !slices.ContainsFunc(deciding, func(s usedLimit) bool { return mixed(s, part) }) {
			return part
		}
	}
	return 1
}

// shorterWay returns the limits as they judge a message of one priority: the one at which it passes
// sooner. At normal priority, only a cascade's first bucket pays. At low priority, any does, and the
// reserves apply.
func shorterWay(usedLimits, deciding, limits []usedLimit, at, n int64) []usedLimit {
	var normal, low []usedLimit
	for _, s := range usedLimits {
		c, ok := s.ledger.(*plainCascade)
		switch {
		case ok && slices.ContainsFunc(deciding, s.is):
			first, _ := s.bucketsOf(c)
			normal = append(normal, first)
		case slices.ContainsFunc(limits, s.is):
			normal = append(normal, s)
		}
	}
	for _, s := range limits {
		s.kept = s.Reserve
		low = append(low, s)
	}
	if firstFit(low, at, n) < firstFit(normal, at, n) {
		return low
	}
	if longest, _ := longestWait(normal, at, n); !slices.ContainsFunc(limits, longest.is) {
		return low // a cascade that doesn't block the message makes it wait for its normal priority
	}
	return normal
}

func (s usedLimit) is(other usedLimit) bool { return s.Name == other.Name }
