package limits

import (
	"maps"
	"math/big"
)

// The oracle implements each limit as DESIGN.md describes it, in the simplest way, without regard
// for speed. A ledger can't calculate waiting times. To find out when a message will fit, the
// caller tries one instant after another.

// ledger is a limit's state of one user. The numbers are those that apply to the user at that time.
// Times don't go back, except in jump.
type ledger interface {
	// fits reports whether n would fit at that time if nothing happened until then.
	fits(at, n int64, p plainNumbers) bool
	spend(at, n int64, p plainNumbers)
	charge(at, n int64, p plainNumbers)  // for a throttled message
	refund(at, n int64, p plainNumbers)  // n was spent at the same time
	jump(last, to int64, p plainNumbers) // the clock has gone back
	clone() ledger
}

// plainNumbers are a limit's parameters as they apply to a user.
type plainNumbers struct {
	// capacity is the burst, the messages, or the queue plus the message being released.
	capacity int64
	every    int64 // or the refill
	// extraCapacity and extraEvery are a cascade's second bucket.
	extraCapacity, extraEvery int64
	slices                    int64          // of a sliding window
	calendar                  *plainCalendar // of a daily window in the user's zone; nil if the user has none
}

func (p plainNumbers) full() int64 { return p.capacity * p.every }

// plainBucket is a token bucket that counts missing tokens. Each missing token is a debt of one
// refill, and each nanosecond pays off one nanosecond of the debt. In a leaky bucket, the messages
// that have not left are the debt.
type plainBucket struct {
	owed int64
	asOf int64
}

func (b *plainBucket) debtAt(at int64) int64 { return max(0, b.owed-(at-b.asOf)) }

func (b *plainBucket) fits(at, n int64, p plainNumbers) bool {
	return b.debtAt(at)+n*p.every <= p.full()
}

func (b *plainBucket) spend(at, n int64, p plainNumbers) {
	b.owed, b.asOf = b.debtAt(at)+n*p.every, at
}

func (b *plainBucket) charge(at, n int64, p plainNumbers) {
	owes := b.debtAt(at)
	b.owed, b.asOf = max(owes, min(owes+n*p.every, p.full())), at
}

func (b *plainBucket) refund(at, n int64, p plainNumbers) {
	if owes := b.debtAt(at); owes > 0 {
		b.owed, b.asOf = max(0, owes-min(n, p.capacity)*p.every), at
	}
}

// jump keeps the debt at the last use, but no more than a whole bucket, to be paid off from now on.
func (b *plainBucket) jump(last, to int64, p plainNumbers) {
	b.owed, b.asOf = min(b.debtAt(last), p.full()), to
}

func (b *plainBucket) clone() ledger { c := *b; return &c }

// convert keeps the number of tokens used, including fractions; part of a nanosecond is owed as a
// whole one.
func (b *plainBucket) convert(at, refill, newRefill int64) {
	used := big.NewRat(b.debtAt(at), refill)
	owes := used.Mul(used, big.NewRat(newRefill, 1))
	whole, rest := new(big.Int).DivMod(owes.Num(), owes.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	b.owed, b.asOf = whole.Int64(), at
}

// plainFixed counts in windows that begin at multiples of every.
type plainFixed struct {
	start int64
	count int64
}

func (f *plainFixed) countAt(at int64, p plainNumbers) int64 {
	if at/p.every*p.every == f.start {
		return f.count
	}
	return 0
}

func (f *plainFixed) fits(at, n int64, p plainNumbers) bool {
	return f.countAt(at, p)+n <= p.capacity
}

func (f *plainFixed) spend(at, n int64, p plainNumbers) {
	f.count = f.countAt(at, p) + n
	f.start = at / p.every * p.every
}

func (f *plainFixed) charge(at, n int64, p plainNumbers) {
	f.spend(at, min(n, max(0, p.capacity-f.countAt(at, p))), p)
}

func (f *plainFixed) refund(at, n int64, p plainNumbers) {
	f.spend(at, -min(n, f.countAt(at, p)), p)
}

// jump drops usage that had expired at the last use, and turns a later window into the current one.
func (f *plainFixed) jump(last, to int64, p plainNumbers) {
	f.count = f.countAt(last, p)
	f.start = min(f.start, to/p.every*p.every)
}

func (f *plainFixed) clone() ledger { c := *f; return &c }

// convert counts the usage of the old window in the new one that contains the time.
func (f *plainFixed) convert(at int64, old, p plainNumbers) {
	f.count = f.countAt(at, old)
	f.start = at / p.every * p.every
}

// plainUser counts in windows that begin with their first message.
type plainUser struct {
	start int64
	count int64
}

func (u *plainUser) countAt(at int64, p plainNumbers) int64 {
	if at < u.start+p.every {
		return u.count
	}
	return 0
}

func (u *plainUser) fits(at, n int64, p plainNumbers) bool { return u.countAt(at, p)+n <= p.capacity }

func (u *plainUser) spend(at, n int64, p plainNumbers) {
	if u.countAt(at, p) == 0 {
		u.start, u.count = at, 0
	}
	u.count += n
}

func (u *plainUser) charge(at, n int64, p plainNumbers) {
	u.spend(at, min(n, max(0, p.capacity-u.countAt(at, p))), p)
}

func (u *plainUser) refund(at, n int64, p plainNumbers) {
	u.spend(at, -min(n, u.countAt(at, p)), p)
}

// jump drops usage that had expired at the last use, and lets a later window begin now.
func (u *plainUser) jump(last, to int64, p plainNumbers) {
	u.count = u.countAt(last, p)
	u.start = min(u.start, to)
}

func (u *plainUser) clone() ledger { c := *u; return &c }

// plainSliding estimates from the counts of slices, using fractions.
type plainSliding struct {
	counts map[int64]int64 // by the slice's number since the epoch
}

func (p plainNumbers) slice() int64 { return p.every / p.slices }

// whole returns the sum of the counts of all slices that lie in the window of that time.
func (s *plainSliding) whole(at int64, p plainNumbers) (sum int64) {
	for i := range p.slices {
		sum += s.counts[at/p.slice()-i]
	}
	return sum
}

func (s *plainSliding) oldest(at int64, p plainNumbers) int64 {
	return s.counts[at/p.slice()-p.slices]
}

// usage returns oldest × (1 − elapsed/slice) + whole.
func (s *plainSliding) usage(at int64, p plainNumbers) *big.Rat {
	share := new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(at%p.slice(), p.slice()))
	sum := share.Mul(share, big.NewRat(s.oldest(at, p), 1))
	return sum.Add(sum, big.NewRat(s.whole(at, p), 1))
}

func (s *plainSliding) fits(at, n int64, p plainNumbers) bool {
	usage := s.usage(at, p)
	return usage.Add(usage, big.NewRat(n, 1)).Cmp(big.NewRat(p.capacity, 1)) <= 0
}

func (s *plainSliding) spend(at, n int64, p plainNumbers) { s.counts[at/p.slice()] += n }

func (s *plainSliding) charge(at, n int64, p plainNumbers) {
	s.spend(at, min(n, max(0, p.capacity-s.whole(at, p))), p)
}

func (s *plainSliding) refund(at, n int64, p plainNumbers) {
	s.spend(at, -min(n, s.counts[at/p.slice()]), p)
}

// jump makes the slice of the last use the current one. The usage from the oldest slice stays the
// same, so its count must change. It is rounded down, so that whatever fitted still fits, and
// limited to 32 bits.
func (s *plainSliding) jump(last, to int64, p plainNumbers) {
	then := *s
	s.counts = map[int64]int64{}
	for i := range p.slices {
		s.counts[to/p.slice()-i] = then.counts[last/p.slice()-i]
	}
	counted := then.oldest(last, p) * (p.slice() - last%p.slice())
	left := p.slice() - to%p.slice()
	s.counts[to/p.slice()-p.slices] = min(counted/left, 1<<32-1)
}

// convert counts the usage, rounded up, in the slice that contains the time.
func (s *plainSliding) convert(at int64, old, p plainNumbers) {
	if old.every == p.every && old.slices == p.slices {
		return
	}
	usage := s.usage(at, old)
	whole, rest := new(big.Int).DivMod(usage.Num(), usage.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	s.counts = map[int64]int64{at / p.slice(): whole.Int64()}
}

func (s *plainSliding) clone() ledger { return &plainSliding{maps.Clone(s.counts)} }

// plainLog stores every message.
type plainLog struct {
	times []int64 // a message of cost n is stored n times
}

func (l *plainLog) countingTimes(at int64, p plainNumbers) (times []int64) {
	for _, t := range l.times {
		if t > at-p.every {
			times = append(times, t)
		}
	}
	return times
}

func (l *plainLog) fits(at, n int64, p plainNumbers) bool {
	return int64(len(l.countingTimes(at, p)))+n <= p.capacity
}

func (l *plainLog) spend(at, n int64, _ plainNumbers) {
	for range n {
		l.times = append(l.times, at)
	}
}

func (l *plainLog) charge(at, n int64, p plainNumbers) {
	l.times = l.countingTimes(at, p)
	most := max(len(l.times), int(p.capacity))
	for range min(n, p.capacity) {
		l.times = append(l.times, at)
	}
	l.times = l.times[max(0, len(l.times)-most):]
}

func (l *plainLog) refund(at, n int64, _ plainNumbers) {
	for n > 0 && len(l.times) > 0 && l.times[len(l.times)-1] == at {
		l.times = l.times[:len(l.times)-1]
		n--
	}
}

// jump drops messages that had expired at the last use, and moves the others back.
func (l *plainLog) jump(last, to int64, p plainNumbers) {
	l.times = l.countingTimes(last, p)
	for i := range l.times {
		l.times[i] = min(l.times[i], to)
	}
}

func (l *plainLog) clone() ledger { return &plainLog{append([]int64(nil), l.times...)} }
