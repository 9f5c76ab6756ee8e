package limits

import "time"

// Strikes says how throttled messages count against their author.
type Strikes struct {
	Every  time.Duration // at most one strike in this time
	Forget time.Duration // all strikes lapse after this time without a new one; 0 means never

	// Practice means that the limits only observe. Strikes given for practice lapse when that ends.
	Practice bool

	// Held means that limits in earnest only observe for a while: what is given stays, and nothing is given.
	Held bool

	// Ladder says for how long, in nanoseconds, the penalty on each rung silences the user; UntilRetry is until the message would pass.
	Ladder []int64
}

// rehearses reports whether strikes are given for practice.
func (s *Strikes) rehearses() bool { return s.Practice && !s.Held }

// UntilRetry, on the ladder, silences a user until the message would pass, for LeastSilence at least and MostSilence at most.
const (
	UntilRetry   = -1
	LeastSilence = nanosPerSecond
	MostSilence  = 14 * secondsPerDay * nanosPerSecond
)

// strike counts a message that was sent at that time and is throttled against its author, and reports whether the row has changed.
func (s *Set) strike(row []uint64, sentAt int64, d *Decision) (changed bool) {
	struckAt, meta, silentUntil := row[wordStrikeAt], row[wordMeta], row[wordSilentUntil]
	at := d.At
	since := at - int64(row[wordStrikeAt])
	if since < -clockJump {
		rewindStrikes(row, int64(row[wordStrikeAt]), at)
	}
	since = max(0, since)
	count := strikeCount(row)
	if count > 0 && s.strikes.Forget > 0 && since >= int64(s.strikes.Forget) {
		count = 0
	}
	if d.NewStrike = count == 0 || since >= int64(s.strikes.Every); d.NewStrike {
		if count == 0 {
			nextSeries(row)
		}
		count = min(count+1, maxStrikes)
		row[wordStrikeAt] = uint64(at)
	}
	setStrikeCount(row, count)
	d.Strikes, d.Series = count, seriesOf(row)
	s.silence(row, sentAt, d)
	return struckAt != row[wordStrikeAt] || meta != row[wordMeta] || silentUntil != row[wordSilentUntil]
}

// rewindStrikes brings strikes and silence to a clock that jumped back to at. What was left of a silence at the time last is left now.
func rewindStrikes(row []uint64, last, at int64) {
	row[wordStrikeAt] = min(row[wordStrikeAt], uint64(at))
	if left := int64(row[wordSilentUntil]) - last; left > 0 {
		row[wordSilentUntil] = uint64(at + left)
	} else {
		row[wordSilentUntil] = 0
	}
}

// judge gives a message that is throttled a strike, or says what that would do where none are given, and reports whether the row has changed.
func (s *Set) judge(row []uint64, sentAt int64, d *Decision) (changed bool) {
	if s.strikes.Held {
		s.foretell(row, d.At, d)
		return false
	}
	return s.strike(row, sentAt, d)
}

// foretell says what a strike would do that isn't given.
func (s *Set) foretell(row []uint64, at int64, d *Decision) {
	d.Strikes, _ = s.lapse(row, at)
	if len(s.strikes.Ladder) > 0 {
		isNew := d.Strikes == 0 || at-int64(row[wordStrikeAt]) >= int64(s.strikes.Every)
		d.Rung = s.strikes.rung(d.Strikes+1, isNew)
	}
}

// silence says which rung the message draws, notes until when that silences the user, and lets no shorter time replace it.
func (s *Set) silence(row []uint64, sentAt int64, d *Decision) {
	if len(s.strikes.Ladder) == 0 {
		return
	}
	d.Rung = s.strikes.rung(d.Strikes, d.NewStrike)
	length := s.strikes.Ladder[d.Rung]
	if length == UntilRetry {
		length = SilenceFor(d.RetryAt, sentAt)
	}
	if length == 0 {
		return
	}
	until := d.At + length
	if d.Silenced = until < int64(row[wordSilentUntil]); !d.Silenced {
		row[wordSilentUntil] = uint64(until)
	}
}

// SilenceFor is how long a penalty of the length UntilRetry is, in nanoseconds: whole seconds, and 0 where no waiting helps.
func SilenceFor(retryAt, sentAt int64) int64 {
	if retryAt == Never {
		return 0
	}
	length := min(max(retryAt-sentAt, LeastSilence), MostSilence)
	return (length + nanosPerSecond - 1) / nanosPerSecond * nanosPerSecond
}

// rung returns the place on the ladder, which isn't empty, that a message comes to which made it so many strikes: the first where it gave none.
func (s *Strikes) rung(strikes int, isNew bool) int {
	if !isNew {
		return 0
	}
	return min(max(strikes, 1), len(s.Ladder)) - 1
}

// lapse returns the number of strikes that still count at that time, and when they all lapse; Never where they don't.
func (s *Set) lapse(row []uint64, at int64) (strikes int, lapseAt int64) {
	return s.strikes.lapse(strikeCount(row), int64(row[wordStrikeAt]), at)
}

// lapse is Set.lapse for so many strikes, the last of which was given at struckAt.
func (s *Strikes) lapse(given int, struckAt, at int64) (strikes int, lapseAt int64) {
	if given == 0 {
		return 0, 0
	}
	lapseAt = Never
	if s.Forget > 0 {
		lapseAt = struckAt + int64(s.Forget)
	}
	if lapseAt <= at {
		return 0, 0
	}
	return given, lapseAt
}
