package twitch

import (
	"context"
	"time"
)

// watch ends a connection that brings no welcome in time, or falls silent: a server that was silent for long is asked once whether it is still
// there.
func (s *session) watch(ctx context.Context) error {
	select {
	case <-s.welcome:
	case <-time.After(time.Until(s.began.Add(s.timing.Handshake))):
		return errHandshake
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		if err := s.awaitSilence(ctx); err != nil {
			return err
		}
		before := s.heard.Load()
		if err := s.write("PING :chatguard"); err != nil {
			return err
		}
		if err := pause(ctx, s.timing.PongWithin); err != nil {
			return err
		}
		if s.heard.Load() == before {
			return errSilence
		}
	}
}

// awaitSilence waits until the server has been silent for so long that it should be asked. The error is the context's.
func (s *session) awaitSilence(ctx context.Context) error {
	for {
		left := s.timing.PingAfter - time.Since(s.began.Add(time.Duration(s.heard.Load())))
		if left <= 0 {
			return nil
		}
		if err := pause(ctx, left); err != nil {
			return err
		}
	}
}

// hear notes that the server said something.
func (s *session) hear() { s.heard.Store(int64(time.Since(s.began))) }
