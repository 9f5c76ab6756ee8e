package twitch

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// How the subscriptions are looked after.
const (
	subscribers = 8               // subscriptions made at once: Twitch wants the first within 10 s, and has only so many requests for us
	lookAgain   = time.Minute     // after which what couldn't be subscribed to is tried again
	calmDown    = 2 * time.Second // before what the server has just changed is looked at
)

// The problems with a channel.
const (
	noSuchChannel = "Twitch has no channel of this name"
	notLetIn      = "Twitch doesn't let the bot read this chat; it may be banned there, or its token lacks a scope: run `chatguard login` again"
	notTold       = "what other moderators remove isn't seen, because the token lacks scopes; run `chatguard login` again"
)

// errOtherUser ends the session of a user whose token the bot doesn't have any more.
var errOtherUser = errors.New("the bot is another account by now")

// keepSubscribed makes the subscriptions what they should be, again and again until the session ends, and says why it ended. A token that is refused
// ends it only where there is nothing to read.
func (s *eventSession) keepSubscribed(ctx context.Context) error {
	for failures := 0; ; {
		if s.events.UserID() != s.userID {
			return errOtherUser
		}
		channels, _, changed := s.events.wanted()
		wait, err := lookAgain, s.arrange(ctx, channels)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, ErrToken) && len(s.subscriptions()) == 0:
			return err
		case err != nil:
			s.events.trouble(err)
			wait = backoff(failures, s.timing.BackoffMin, s.timing.BackoffMax)
			failures++
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		case <-time.After(wait):
		case <-s.uneasy:
			if pause(ctx, calmDown) != nil {
				return context.Cause(ctx)
			}
		}
	}
}

// arrange subscribes to what is wanted and isn't there, chat before everything else, and ends what isn't wanted any more.
func (s *eventSession) arrange(ctx context.Context, channels []Channel) error {
	if err := s.identify(ctx, channels); err != nil {
		return err
	}
	s.endUnwanted(ctx)
	refused, err := s.subscribeAll(ctx, kindChat)
	if err != nil {
		return err
	}
	for _, login := range refused {
		s.events.shutOut(login, notLetIn)
	}
	return s.watchModerators(ctx)
}

// identify learns the IDs of channels, and tells of each that is new. Those that don't exist are named, and looked up again the next time.
func (s *eventSession) identify(ctx context.Context, channels []Channel) error {
	ids, err := s.events.lookUp(ctx, channels)
	if err != nil {
		return err
	}
	before := s.ids
	s.ids = ids
	for _, c := range channels {
		switch id := ids[c.Login]; {
		case id == "":
			s.events.shutOut(c.Login, noSuchChannel)
		case before[c.Login] == "":
			s.enterRoom(c.Login, id)
		}
	}
	s.events.setRooms(ids)
	return nil
}

// enterRoom tells of a channel. One that comes back may still have subscriptions, which couldn't be ended when it was left.
func (s *eventSession) enterRoom(login, channelID string) {
	if s.events.Entered != nil {
		s.events.Entered(login, channelID)
	}
	have := s.subscriptions()
	for _, kind := range []string{kindChat, kindModerate} {
		sub := subscription{kind, channelID}
		if _, there := have[sub]; there {
			s.events.subscribed(sub, login)
		}
	}
}

// lookUp returns the IDs of channels, for which Twitch is asked once, however many sessions there are. Those that don't exist are missing from the
// result.
func (e *EventSub) lookUp(ctx context.Context, channels []Channel) (map[string]string, error) {
	ids := make(map[string]string)
	var unknown []string
	for _, c := range channels {
		if id, known := e.ids[c.Login]; known {
			ids[c.Login] = id
		} else {
			unknown = append(unknown, c.Login)
		}
	}
	accounts, err := e.Helix.Users(ctx, unknown...)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		if isID(a.ID) {
			ids[a.Login] = a.ID
		}
	}
	e.ids = ids // without those that aren't wanted any more
	return ids, nil
}

// setRooms makes these the channels whose events are taken.
func (e *EventSub) setRooms(ids map[string]string) {
	rooms := make(map[string]string, len(ids))
	for login, id := range ids {
		rooms[id] = login
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rooms = rooms
}

// endUnwanted ends the subscriptions of channels that aren't read any more, where their IDs are known. Others end with the session; what they tell
// is not listened to. Where one can't be ended, that and the rest is tried again the next time.
func (s *eventSession) endUnwanted(ctx context.Context) {
	for sub, id := range s.subscriptions() {
		if id == "" || s.events.reads(sub.channelID) {
			continue
		}
		if err := s.events.Helix.unsubscribe(ctx, id); err != nil {
			s.events.log.Warn("twitch chat: can't leave a channel for good; trying again", "channel", sub.channelID, "error", oneLine(err.Error()))
			return
		}
		s.forget(sub)
	}
}

// subscribeAll subscribes to a kind of event in all channels where that is missing, and returns the logins of those where Twitch doesn't let us.
// A channel where something else goes wrong is named; only a token that is refused stops the others.
func (s *eventSession) subscribeAll(ctx context.Context, kind string) (refused []string, err error) {
	have := s.subscriptions()
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(subscribers)
	for login, channelID := range s.ids {
		sub := subscription{kind, channelID}
		if _, there := have[sub]; there || kind == kindModerate && s.refused[channelID] != notRefused {
			continue
		}
		group.Go(func() error {
			id, err := s.events.Helix.subscribe(ctx, sub, s.sessionID(), s.userID)
			switch {
			case err == nil:
				s.remember(sub, id)
				s.events.subscribed(sub, login)
			case errors.Is(err, ErrToken) || ctx.Err() != nil:
				return err
			case errors.Is(err, errNotTold) || errors.Is(err, ErrScope):
				mu.Lock()
				defer mu.Unlock()
				refused = append(refused, login)
			default:
				s.events.lost(sub, login, err.Error())
			}
			return nil
		})
	}
	err = group.Wait()
	return refused, err
}
