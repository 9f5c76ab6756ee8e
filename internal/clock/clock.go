package clock

import (
	"context"
	"time"
)

// Clock tells the time and sleeps. The zero value is the machine's wall clock. A test that replaces
// both functions controls time.
type Clock struct {
	NowFunc   func() time.Time                           // nil means time.Now
	SleepFunc func(context.Context, time.Duration) error // nil means Sleep
}

// Now returns the current time.
func (c Clock) Now() time.Time {
	if c.NowFunc == nil {
		return time.Now()
	}
	return c.NowFunc()
}

// Sleep waits for d. If ctx ends first, it returns the context's error.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error {
	if c.SleepFunc == nil {
		return Sleep(ctx, d)
	}
	return c.SleepFunc(ctx, d)
}

// Sleep waits for d. If ctx ends first, it returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
