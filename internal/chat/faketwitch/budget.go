package faketwitch

import (
	"net/http"
	"strconv"
	"time"
)

// Twitch's request budget.
const (
	helixBudget = 800
	pointBack   = 100 * time.Millisecond // until a point has come back: about what Twitch was measured at
)

// budget is a token bucket for requests. The zero value refuses nothing and tells nothing. The Server's mu guards it.
type budget struct {
	size int       // points it holds
	full time.Time // when all of them are there again
}

// newBudget returns a full one: of Twitch's size for 0, without bounds for less.
func newBudget(size int) budget {
	switch {
	case size == 0:
		return budget{size: helixBudget}
	case size < 0:
		return budget{}
	}
	return budget{size: size}
}

// take takes a point, and reports whether there was one.
func (b *budget) take(now time.Time) bool {
	if b.size > 0 && b.left(now) == 0 {
		return false
	}
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(pointBack)
	return true
}

func (b *budget) left(now time.Time) int {
	missing := max(0, b.full.Sub(now))
	return b.size - int((missing+pointBack-1)/pointBack)
}

// describe tells how the budget is in the headers of an answer. Reset is when it is full again.
func (b *budget) describe(h http.Header, now time.Time) {
	if b.size == 0 {
		return
	}
	reset := now
	if b.full.After(now) {
		reset = b.full.Add(time.Second - 1) // in whole seconds, but never too early
	}
	h.Set("Date", now.UTC().Format(http.TimeFormat)) // by the clock that Reset is told by
	h.Set("Ratelimit-Limit", strconv.Itoa(b.size))
	h.Set("Ratelimit-Remaining", strconv.Itoa(b.left(now)))
	h.Set("Ratelimit-Reset", strconv.FormatInt(reset.Unix(), 10))
}
