package eventsub

import (
	"context"
	"errors"

	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
)

// subscribe requests a subscription. If Twitch has just refused another subscription because of a
// limit of the account, subscribe returns that error without a request.
func (s *session) subscribe(ctx context.Context, sub helix.Subscription) (id string, err error) {
	s.mu.Lock()
	limit := s.limit
	s.mu.Unlock()
	if limit != nil {
		return "", limit
	}
	return s.conn.Helix.Subscribe(ctx, sub, s.sessionID(), s.userID)
}

// noteFailure records why a subscription is missing, if it may be made later.
func (s *session) noteFailure(err error) {
	if !helix.CanSubscribeLater(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = true
	if errors.Is(err, helix.ErrSubscriptionLimit) {
		s.limit = err
	}
}

func (s *session) clearFailures() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed, s.limit = false, nil
}

func (s *session) hasFailures() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}
