package irc

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/clock"
)

// keepAlive ends a connection that isn't welcomed in time or falls silent. It sends a silent server
// one PING before it ends the connection.
func (s *session) keepAlive(ctx context.Context) error {
	select {
	case <-s.welcome:
	case <-time.After(time.Until(s.began.Add(s.timing.Handshake))):
		return twitch.ErrHandshake
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		if err := s.awaitSilence(ctx); err != nil {
			return err
		}
		before := s.lastHeard.Load()
		if err := s.write("PING :chatguard"); err != nil {
			return err
		}
		if err := clock.Sleep(ctx, s.timing.PongWithin); err != nil {
			return err
		}
		if s.lastHeard.Load() == before {
			return twitch.ErrSilent
		}
	}
}

// awaitSilence waits until the server has been silent long enough for a PING. The error is the
// context's.
func (s *session) awaitSilence(ctx context.Context) error {
	for {
		left := s.timing.PingAfter - time.Since(s.began.Add(time.Duration(s.lastHeard.Load())))
		if left <= 0 {
			return nil
		}
		if err := clock.Sleep(ctx, left); err != nil {
			return err
		}
	}
}

// noteHeard records that the server sent something.
func (s *session) noteHeard(at time.Time) { s.lastHeard.Store(int64(at.Sub(s.began))) }
