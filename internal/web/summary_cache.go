package web

import (
	"reflect"
	"sync"
	"time"
)

const (
	// summaryFresh is how long the summary of a running stream is reused.
	summaryFresh = time.Minute
	// mostSummaries is the maximum number of cached summaries.
	mostSummaries = 100
)

// summaryCache caches what the limits in force would have done to the messages of a period, because
// judging them takes a while. It is safe for concurrent use.
type summaryCache struct {
	mu   sync.Mutex
	kept map[summaryKey]keptSummary
}

// summaryKey identifies a period of a channel by its start.
type summaryKey struct {
	channel string
	from    int64
}

type keptSummary struct {
	until, at time.Time
	basis     basis
	part      *recordedPart
}

// find returns the result for a period under the given limits, or nil. For a running period, the
// result may be a minute old.
func (c *summaryCache) find(channel string, of timespan, b basis, now time.Time) *recordedPart {
	c.mu.Lock()
	known, ok := c.kept[summaryKey{channel, of.From.UnixNano()}]
	c.mu.Unlock()
	isOutdated := !known.until.Equal(of.Until) && (now.Before(known.at) || now.Sub(known.at) >= summaryFresh)
	if !ok || isOutdated || !reflect.DeepEqual(known.basis, b) {
		return nil
	}
	return known.part
}

// keep caches a result. If there are too many, it forgets the others.
func (c *summaryCache) keep(channel string, of timespan, b basis, part *recordedPart, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= mostSummaries {
		clear(c.kept)
	}
	c.kept[summaryKey{channel, of.From.UnixNano()}] = keptSummary{of.Until, now, b, part}
}
