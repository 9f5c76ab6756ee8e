package faketwitch

import (
	"net/http"
	"strconv"
	"time"
)

// Twitch's request budget.
const (
	helixBudget = 800
	pointBack   = 100 * time.Millisecond // time per restored point, as measured at Twitch
)

// budget is a token bucket for requests. The zero value refuses nothing and adds no headers. The
// Server's mu guards it.
type budget struct {
	size int       // capacity in points
	full time.Time // when the bucket is full again
}

// newBudget returns a full budget. Size 0 means Twitch's size, a negative size means no limit.
func newBudget(size int) budget {
	switch {
	case size == 0:
		return budget{size: helixBudget}
	case size < 0:
		return budget{}
	}
	return budget{size: size}
}

// take takes a point and reports whether there was one.
func (b *budget) take(now time.Time) bool {
	if b.size > 0 && b.remaining(now) == 0 {
		return false
	}
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(pointBack)
	return true
}

func (b *budget) remaining(now time.Time) int {
	missing := max(0, b.full.Sub(now))
	return b.size - int((missing+pointBack-1)/pointBack)
}

// describe sets the headers of an answer that describe the budget. The reset header is the time at
// which the budget is full again.
func (b *budget) describe(h http.Header, now time.Time) {
	if b.size == 0 {
		return
	}
	reset := now
	if b.full.After(now) {
		reset = b.full.Add(time.Second - 1) // in whole seconds, rounded up
	}
	h.Set("Date", now.UTC().Format(http.TimeFormat)) // same clock as Reset
	h.Set("Ratelimit-Limit", strconv.Itoa(b.size))
	h.Set("Ratelimit-Remaining", strconv.Itoa(b.remaining(now)))
	h.Set("Ratelimit-Reset", strconv.FormatInt(reset.Unix(), 10))
}
