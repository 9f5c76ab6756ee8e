package eventsub

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
)

// refusal is why Twitch doesn't report the actions of a channel's moderators.
type refusal int

const (
	notRefused   refusal = iota
	notModerator         // the bot isn't a moderator there now
	notScoped            // a scope is missing, or another lasting reason
)

// watchModerators subscribes to moderation events wherever the bot is a moderator.
func (s *session) watchModerators(ctx context.Context) error {
	if err := s.recheckModerator(ctx); err != nil {
		return err
	}
	refused, err := s.subscribeAll(ctx, helix.KindModerate)
	if err != nil || len(refused) == 0 {
		return err
	}
	// Ask where the bot is a moderator. Twitch's refusal doesn't show whether the bot isn't a
	// moderator or its token lacks a scope.
	moderated, err := s.conn.Helix.ModeratedChannels(ctx, s.userID)
	if errors.Is(err, twitch.ErrToken) || ctx.Err() != nil {
		return err
	}
	for _, login := range refused {
		channelID := s.ids[login]
		if err == nil && channelID != s.userID && !slices.Contains(moderated, channelID) {
			s.refused[channelID] = notModerator
			s.conn.reportModerates(channelID, false)
			s.conn.report.NoteProblem(login, twitch.ErrNotModerator.Error())
			continue
		}
		s.refused[channelID] = notScoped
		s.conn.report.NoteProblem(login, notTold)
	}
	return nil
}

// recheckModerator finds refused channels in which the bot has become a moderator, and marks them
// to be tried again.
func (s *session) recheckModerator(ctx context.Context) error {
	if !slices.Contains(slices.Collect(maps.Values(s.refused)), notModerator) {
		return nil
	}
	moderated, err := s.conn.Helix.ModeratedChannels(ctx, s.userID)
	if err != nil {
		return err
	}
	for _, channelID := range moderated {
		if s.refused[channelID] == notModerator {
			delete(s.refused, channelID)
		}
	}
	return nil
}

// noteRevoked records that the server ended a subscription. keepSubscribed then tries to subscribe
// again.
func (s *session) noteRevoked(frame frame) {
	told := frame.Payload.Subscription
	sub := helix.Subscription{Kind: told.Kind, ChannelID: told.Condition.ChannelID}
	s.forget(sub)
	if login, ok := s.conn.login(sub.ChannelID); ok {
		s.conn.noteMissing(sub, login, fmt.Sprintf("Twitch ended the subscription to %s: %s", sub.Kind, told.Status))
		if told.Status == "moderator_removed" {
			s.conn.reportModerates(sub.ChannelID, false)
		}
	}
	s.scheduleCheck()
}

// noteSubscribed records that a subscription exists.
func (e *Conn) noteSubscribed(sub helix.Subscription, login string) {
	switch sub.Kind {
	case helix.KindChat:
		e.report.LearnRoom(login, sub.ChannelID)
	case helix.KindModerate:
		e.reportModerates(sub.ChannelID, true)
		e.reportModes(sub.ChannelID, true)
		e.report.NoteProblem(login, "")
	case helix.KindNotice:
		e.noteNotices(login, "")
	}
}

// noteMissing records that a subscription is missing, and why.
func (e *Conn) noteMissing(sub helix.Subscription, login, problem string) {
	switch sub.Kind {
	case helix.KindChat:
		e.report.ShutOut(login, twitch.OtherRefusal, problem)
	case helix.KindModerate:
		e.reportModes(sub.ChannelID, false)
		e.report.NoteProblem(login, problem)
	case helix.KindNotice:
		e.noteNotices(login, noNotices+problem)
	}
}

// noteNotices records a problem with a channel's notices; an empty one means none. A problem with
// moderation events is worse, so it stays.
func (e *Conn) noteNotices(login, problem string) {
	e.report.ReplaceProblem(login, problem, func(present string) bool {
		return present == "" || strings.HasPrefix(present, noNotices)
	})
}

// login returns the login of the channel with this ID, or false if the channel isn't read.
func (e *Conn) login(roomID string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	login, ok := e.rooms[roomID]
	return login, ok
}

// sessionID returns the ID that subscriptions refer to.
func (s *session) sessionID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.socket.session
}

// subscriptions returns the existing subscriptions and their IDs.
func (s *session) subscriptions() map[helix.Subscription]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.subs)
}

func (s *session) remember(sub helix.Subscription, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs[sub] = id
}

func (s *session) forget(sub helix.Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subs, sub)
}
