package limits

import "time"

// Strikes defines how throttled messages count against their author.
type Strikes struct {
	Every time.Duration // minimum time between two strikes
	// Forget is the time without a new strike after which all strikes lapse; 0 means never.
	Forget time.Duration

	// Practice means that the limits only observe, and strikes are given for practice. Practice
	// strikes lapse as soon as the limits are enforced.
	Practice bool

	// Held means that the limits only observe for now, although the policy enforces. Existing
	// strikes stay, and no new ones are given.
	Held bool

	// Ladder holds, for each rung, how long the penalty silences the user, in nanoseconds.
	// UntilRetry stands for the time until the message would pass.
	Ladder []int64
}

// isPractice reports whether strikes are given for practice.
func (s *Strikes) isPractice() bool { return s.Practice && !s.Held }

// UntilRetry on the ladder silences a user until the message would pass, for at least LeastSilence
// and at most MostSilence.
const (
	UntilRetry   = -1
	LeastSilence = nanosPerSecond
	MostSilence  = 14 * secondsPerDay * nanosPerSecond
)

// strike counts a throttled message against its author, and reports whether the row has changed.
func (s *Set) strike(row []uint64, q *Request, d *Decision) (changed bool) {
	struckAt, meta, silentUntil := row[wordStrikeAt], row[wordMeta], row[wordSilentUntil]
	at := d.At
	since := at - int64(row[wordStrikeAt])
	if q.isBack(int64(row[wordStrikeAt])) {
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
	s.silence(row, q.At, d)
	return struckAt != row[wordStrikeAt] || meta != row[wordMeta] || silentUntil != row[wordSilentUntil]
}

// rewindStrikes adjusts strikes and silence to a clock that jumped back to at. A silence lasts as
// long from at as it would have lasted from last.
func rewindStrikes(row []uint64, last, at int64) {
	row[wordStrikeAt] = min(row[wordStrikeAt], uint64(at))
	if left := int64(row[wordSilentUntil]) - last; left > 0 {
		row[wordSilentUntil] = uint64(at + left)
	} else {
		row[wordSilentUntil] = 0
	}
}

// strikeOrPreview gives a strike for a throttled message. If strikes are held, it only sets the
// effect that a strike would have. It reports whether the row has changed.
func (s *Set) strikeOrPreview(row []uint64, q *Request, d *Decision) (changed bool) {
	if s.strikes.Held {
		s.previewStrike(row, d.At, d)
		return false
	}
	return s.strike(row, q, d)
}

// previewStrike sets the effect that a strike would have, without giving one.
func (s *Set) previewStrike(row []uint64, at int64, d *Decision) {
	d.Strikes, _ = s.countStrikes(row, at)
	if len(s.strikes.Ladder) > 0 {
		isNew := d.Strikes == 0 || at-int64(row[wordStrikeAt]) >= int64(s.strikes.Every)
		d.Rung = s.strikes.rung(d.Strikes+1, isNew)
	}
}

// silence sets the rung for the message and records the end of the user's silence, unless an
// existing one is longer.
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

// SilenceFor returns how long an UntilRetry penalty silences the user, in nanoseconds, rounded up
// to whole seconds. It returns 0 if waiting never helps.
func SilenceFor(retryAt, sentAt int64) int64 {
	if retryAt == Never {
		return 0
	}
	length := min(max(retryAt-sentAt, LeastSilence), MostSilence)
	return (length + nanosPerSecond - 1) / nanosPerSecond * nanosPerSecond
}

// rung returns the ladder index of a message's penalty. strikes is the number of strikes after the
// message. If the message gave no strike, the index is 0. The ladder must not be empty.
func (s *Strikes) rung(strikes int, isNew bool) int {
	if !isNew {
		return 0
	}
	return min(max(strikes, 1), len(s.Ladder)) - 1
}

// countStrikes returns the number of strikes that still count at that time, and when all of them
// lapse. The second result is Never if they don't lapse.
func (s *Set) countStrikes(row []uint64, at int64) (strikes int, lapseAt int64) {
	return s.strikes.countStrikes(strikeCount(row), int64(row[wordStrikeAt]), at)
}

// countStrikes does the same as Set.countStrikes for the given number of strikes, the last of which
// was given at struckAt.
func (s *Strikes) countStrikes(given int, struckAt, at int64) (strikes int, lapseAt int64) {
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
