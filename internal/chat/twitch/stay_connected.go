package twitch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// StayConnected makes one connection after another until ctx ends. If final isn't nil,
// StayConnected also returns if connect's error matches final. connect makes a connection and
// blocks until the connection ends. It returns when the server sent the welcome, zero if it sent
// none, and why the connection ended. Meanwhile, consume processes what is read. StayConnected
// returns nil if ctx ended.
func StayConnected(
	ctx context.Context, r *Report, timing Timing, consume func(context.Context), connect func(context.Context) (welcomed time.Time, err error), final error,
) error {
	defer r.Enter(Stopped)
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		consume(running)
		return nil
	})
	group.Go(func() error { return r.connectAgain(running, timing, connect, final) })
	if err := group.Wait(); ctx.Err() == nil {
		r.Trouble(err)
		return err
	}
	return nil
}

func (r *Report) connectAgain(ctx context.Context, timing Timing, connect func(context.Context) (time.Time, error), final error) error {
	for failures := 0; ; failures++ {
		r.Enter(Connecting)
		welcomed, err := connect(ctx)
		if ctx.Err() != nil || final != nil && errors.Is(err, final) {
			return err
		}
		if !welcomed.IsZero() && r.clock.Now().Sub(welcomed) >= timing.Healthy {
			failures = 0
		}
		if err := r.delay(ctx, err, failures, timing); err != nil {
			return err
		}
	}
}

// delay waits before the next connection. If the server asked to reconnect and failures is 0, delay
// doesn't wait.
func (r *Report) delay(ctx context.Context, lost error, failures int, timing Timing) error {
	r.Enter(Waiting)
	r.Note(func(s *Status) { s.Reconnects, s.Failure = s.Reconnects+1, lost }) // after Enter, so that then no channel counts as joined
	if failures == 0 && errors.Is(lost, ErrReconnect) {
		r.Trouble(fmt.Errorf("%w; connecting again at once", lost))
		return nil
	}
	wait := Backoff(failures, timing.BackoffMin, timing.BackoffMax)
	r.Trouble(fmt.Errorf("%w; connecting again in %s", lost, wait.Round(100*time.Millisecond)))
	return r.clock.Sleep(ctx, wait)
}
