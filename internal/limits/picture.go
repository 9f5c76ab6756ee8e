package limits

// Picture is the state of a limit in the terms of its algorithm, for a drawing of it. Fields that
// the algorithm doesn't have are zero. Times are nanoseconds since the Unix epoch. The fractions
// are rounded; decisions never use them.
type Picture struct {
	// Tokens are those in a token bucket, or in a cascade's first bucket. They can be below 0 after
	// the capacity was lowered, or after messages that were allowed elsewhere. ExtraTokens are
	// those in a cascade's second bucket.
	Tokens, ExtraTokens float64

	// Count is the number of messages in a window or a log, or of those that wait in a leaky
	// bucket.
	Count int64
	// From and Until are the start and the end of the window that contains the time. They are 0 if
	// no window is open.
	From, Until int64
	// First is the time of the first message in a log, or when the first message leaves a leaky
	// bucket. It is 0 if Count is.
	First int64

	// A sliding window's From and Until are those of the current slice. Count is the count of all
	// slices but the oldest, Previous the count of the oldest. Weight is the part of that slice
	// which still counts, from 0 to 1. So the estimate is Previous × Weight + Count. Slices are the
	// counts from the current slice to the oldest; nil for a window of one slice.
	Previous int64
	Weight   float64
	Slices   []int64
}

func pictureOfTokens(r *Rule, state []uint64, at int64) Picture {
	debt := max(0, int64(state[0])-at)
	return Picture{Tokens: float64(r.capacity) - float64(debt)/float64(r.interval)}
}

func pictureOfCascade(r *Rule, state []uint64, at int64) Picture {
	first, second := &r.buckets[0], &r.buckets[1]
	p := pictureOfTokens(first, first.state(state), at)
	p.ExtraTokens = pictureOfTokens(second, second.state(state), at).Tokens
	return p
}

func pictureOfQueue(r *Rule, state []uint64, at int64) (p Picture) {
	if last := int64(state[0]) - r.interval; last > at { // when the last message leaves
		p.Count = (last-at-1)/r.interval + 1
		p.First = last - (p.Count-1)*r.interval
	}
	return p
}

// pictureOfWindow returns the picture of a window with one count.
func pictureOfWindow(r *Rule, start, count int64) Picture {
	return Picture{From: start, Until: start + r.interval, Count: count}
}

func pictureOfSliding(r *Rule, state []uint64, at int64) Picture {
	start, passed := r.sliceAt(state, at)
	p := Picture{From: start, Until: start + r.slice, Count: r.countWhole(state, passed), Previous: r.oldest(state, passed)}
	p.Weight = float64(min(p.Until-at, r.slice)) / float64(r.slice)
	for i := 0; r.slices > 1 && i <= r.slices; i++ {
		p.Slices = append(p.Slices, countOf(state, i-passed))
	}
	return p
}

func pictureOfLog(r *Rule, state []uint64, at int64) (p Picture) {
	times := r.countingTimes(state, at)
	if p.Count = int64(len(times)); p.Count > 0 {
		p.First = int64(times[0])
	}
	return p
}
