package limits

import "time"

// Strikes says how throttled messages count against their author.
type Strikes struct {
	Every  time.Duration // at most one strike in this time
	Forget time.Duration // all strikes lapse after this time without a new one; 0 means never

	// Practice means that the limits only observe. Strikes given for practice lapse when that ends.
	Practice bool

	// Silence is for how long, in nanoseconds, a penalty silences the user: the one that a throttled message draws which made it so many
	// strikes, the last of them new or not, and which has to wait so long (Never: for ever). Nil means that none does.
	Silence func(strikes int, isNew bool, wait int64) int64
}

// strike counts a throttled message against its author.
func (s *Set) strike(row []uint64, at int64, d *Decision) {
	since := at - int64(row[wordStrikeAt])
	if since < -clockJump {
		row[wordStrikeAt] = uint64(at) // the clock has jumped back since
	}
	since = max(0, since)
	count := strikeCount(row)
	if count > 0 && s.strikes.Forget > 0 && since >= int64(s.strikes.Forget) {
		count = 0
	}
	if d.NewStrike = count == 0 || since >= int64(s.strikes.Every); d.NewStrike {
		count = min(count+1, maxStrikes)
		row[wordStrikeAt] = uint64(at)
	}
	d.Strikes = count
	setStrikeCount(row, count)
	s.silence(row, at, d)
}

// silence notes until when the penalty silences the user, and lets no shorter one replace it.
func (s *Set) silence(row []uint64, at int64, d *Decision) {
	if s.strikes.Silence == nil {
		return
	}
	wait := int64(Never)
	if d.RetryAt != Never {
		wait = d.RetryAt - d.at
	}
	length := s.strikes.Silence(d.Strikes, d.NewStrike, wait)
	if length == 0 {
		return
	}
	until := min(at, MaxTime-1) + min(length, MaxTime)
	if d.Silenced = until < int64(row[wordSilentUntil]); !d.Silenced {
		row[wordSilentUntil] = uint64(until)
	}
}

// lapse returns the number of strikes that still count at that time, and when they all lapse; Never where they don't.
func (s *Set) lapse(row []uint64, at int64) (strikes int, lapseAt int64) {
	strikes, lapseAt = strikeCount(row), Never
	if strikes == 0 {
		return 0, 0
	}
	if s.strikes.Forget > 0 {
		lapseAt = int64(row[wordStrikeAt]) + int64(s.strikes.Forget)
	}
	if lapseAt <= at {
		return 0, 0
	}
	return strikes, lapseAt
}
