package twitch

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is how long to wait after the given number of earlier failures in a row: doubling from min up to max, of which a random half is taken
// off so that many who lost the same server don't return to it at the same moment.
func backoff(failures int, min, max time.Duration) time.Duration {
	d := max
	if failures < 32 && min<<failures>>failures == min && min<<failures < max {
		d = min << failures
	}
	return d - rand.N(d/2+1)
}

// pause waits for d, or until ctx ends; then it returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
