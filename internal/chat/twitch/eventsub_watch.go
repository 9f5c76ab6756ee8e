package twitch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// whyRefused is why Twitch doesn't tell us what a channel's moderators do.
type whyRefused int

const (
	notRefused   whyRefused = iota
	notModerator            // for as long as the bot is none there
	notScoped               // or whatever else it is; asking again wouldn't help
)

// watchModerators subscribes to what moderators do, wherever the bot is one of them.
func (s *eventSession) watchModerators(ctx context.Context) error {
	if err := s.lookForStanding(ctx); err != nil {
		return err
	}
	refused, err := s.subscribeAll(ctx, kindModerate)
	if err != nil || len(refused) == 0 {
		return err
	}
	// Twitch's refusal is the same whether the bot is no moderator or its token lacks a scope.
	moderated, err := s.events.Helix.ModeratedChannels(ctx, s.userID)
	if errors.Is(err, ErrToken) || ctx.Err() != nil {
		return err
	}
	for _, login := range refused {
		channelID := s.ids[login]
		if err == nil && channelID != s.userID && !slices.Contains(moderated, channelID) {
			s.refused[channelID] = notModerator
			s.events.tellModerates(channelID, false)
			s.events.lacks(login, ErrNotModerator.Error())
			continue
		}
		s.refused[channelID] = notScoped
		s.events.lacks(login, notTold)
	}
	return nil
}

// lookForStanding lets those channels be tried again where the bot has become a moderator.
func (s *eventSession) lookForStanding(ctx context.Context) error {
	if !slices.Contains(slices.Collect(maps.Values(s.refused)), notModerator) {
		return nil
	}
	moderated, err := s.events.Helix.ModeratedChannels(ctx, s.userID)
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

// revoke takes note that the server ended a subscription. It is tried for again, which shows whether that can help.
func (s *eventSession) revoke(frame eventFrame) {
	told := frame.Payload.Subscription
	sub := subscription{told.Kind, told.Condition.ChannelID}
	s.forget(sub)
	if login, ok := s.events.login(sub.channelID); ok {
		s.events.lost(sub, login, fmt.Sprintf("Twitch ended the subscription to %s: %s", sub.kind, told.Status))
		if told.Status == "moderator_removed" {
			s.events.tellModerates(sub.channelID, false)
		}
	}
	s.wake()
}

// subscribed takes note of a subscription.
func (e *EventSub) subscribed(sub subscription, login string) {
	if sub.kind == kindChat {
		e.learnRoom(login, sub.channelID)
		return
	}
	e.tellModerates(sub.channelID, true)
	e.lacks(login, "")
}

// lost takes note that there is no subscription, and why.
func (e *EventSub) lost(sub subscription, login, problem string) {
	if sub.kind == kindChat {
		e.shutOut(login, problem)
		return
	}
	e.lacks(login, problem)
}

// lacks notes what isn't as it should be in a channel that is read, and tells it once; empty for nothing.
func (e *EventSub) lacks(login, problem string) {
	problem = oneLine(problem)
	e.mu.Lock()
	room := e.roster.rooms[login]
	fresh := room != nil && room.Joined && room.Problem != problem
	if fresh {
		room.Problem = problem
	}
	e.mu.Unlock()
	if fresh && problem != "" {
		e.trouble(fmt.Errorf("channel #%s: %s", login, problem))
	}
}

// login returns the login of the channel with this ID; false for one that isn't read.
func (e *EventSub) login(roomID string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	login, ok := e.rooms[roomID]
	return login, ok
}

// sessionID is the ID by which subscriptions name the session.
func (s *eventSession) sessionID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.socket.session
}

// subscriptions returns those there are, and their IDs.
func (s *eventSession) subscriptions() map[subscription]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.subs)
}

func (s *eventSession) remember(sub subscription, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs[sub] = id
}

func (s *eventSession) forget(sub subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subs, sub)
}
