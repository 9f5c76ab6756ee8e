package eventsub

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/hostile"
)

// Parameters for maintaining subscriptions.
const (
	// subscribers is how many subscriptions are made concurrently. Twitch requires the first
	// subscription within 10 s and allows a limited number of requests.
	subscribers = 8
	retryEvery  = time.Minute     // time until a failed subscription is retried
	settleTime  = 2 * time.Second // delay before checking a change by the server
)

// Problems with a channel.
const (
	noSuchChannel = "Twitch has no channel of this name"
	notLetIn      = "Twitch doesn't let the bot read this chat; it may be banned there, or its token lacks a scope: run `chatguard login` again"
	noNotices     = "messages in notices, such as shared resubscriptions, aren't seen: " // the reason follows
	notTold       = "removals by other moderators aren't seen, because the token lacks scopes; run `chatguard login` again"
)

// errOtherUser ends a session whose user is no longer the owner of the bot's token.
var errOtherUser = errors.New("the bot's account has changed")

// keepSubscribed keeps the subscriptions up to date until the session ends, and returns why it
// ended. A refused token ends the session only if there is no subscription.
func (s *session) keepSubscribed(ctx context.Context) error {
	for failures := 0; ; {
		if s.conn.UserID() != s.userID {
			return errOtherUser
		}
		channels, _, changed := s.conn.report.Wanted()
		wait, err := retryEvery, s.reconcile(ctx, channels)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, twitch.ErrToken) && len(s.subscriptions()) == 0:
			return err
		case err != nil:
			s.conn.report.Trouble(err)
			fallthrough
		case s.hasFailures():
			wait = twitch.Backoff(failures, s.timing.BackoffMin, s.timing.BackoffMax)
			failures++
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		case <-time.After(wait):
		case <-s.recheck:
			if clock.Sleep(ctx, settleTime) != nil {
				return context.Cause(ctx)
			}
		}
	}
}

// reconcile ends unwanted subscriptions, and then makes missing ones. Subscriptions to chat come
// first, and those to notices last.
func (s *session) reconcile(ctx context.Context, channels []twitch.Channel) error {
	if err := s.identify(ctx, channels); err != nil {
		return err
	}
	s.endUnwanted(ctx)
	s.clearFailures()
	refused, err := s.subscribeAll(ctx, helix.KindChat)
	if err != nil {
		return err
	}
	for _, login := range refused {
		s.conn.report.ShutOut(login, twitch.NotAllowed, notLetIn)
	}
	if err := s.watchModerators(ctx); err != nil || len(s.ids) > maxNoticeChannels {
		return err
	}
	refused, err = s.subscribeAll(ctx, helix.KindNotice)
	for _, login := range refused {
		s.conn.noteNotices(login, noNotices+"Twitch doesn't let the bot read them")
	}
	return err
}

// identify looks up the channels' IDs and announces new channels. Channels that don't exist are
// reported and looked up again the next time.
func (s *session) identify(ctx context.Context, channels []twitch.Channel) error {
	ids, err := s.conn.lookUp(ctx, channels)
	if err != nil {
		return err
	}
	before := s.ids
	s.ids = maps.Clone(ids)
	for _, c := range channels {
		id := ids[c.Login]
		why, problem := s.conn.vet(c.Login, id)
		switch {
		case problem != "":
			s.conn.report.ShutOut(c.Login, why, problem)
			delete(s.ids, c.Login)
		case before[c.Login] != id:
			s.enterChannel(c.Login, id)
		}
	}
	s.conn.setRooms(s.ids)
	return nil
}

// vet returns why a channel can't be read; problem is empty if it can be. id is empty if Twitch has
// no such channel.
func (e *Conn) vet(login, id string) (why twitch.Refusal, problem string) {
	switch {
	case id == "":
		return twitch.NoChannel, noSuchChannel
	case e.Vet != nil:
		return twitch.OtherChannel, e.Vet(login, id)
	}
	return "", ""
}

// enterChannel reports that a channel is now read. If the channel was left earlier, some of its
// subscriptions may still exist; enterChannel reports them, too.
func (s *session) enterChannel(login, channelID string) {
	if s.conn.Entered != nil {
		s.conn.Entered(login, channelID)
	}
	have := s.subscriptions()
	for _, kind := range []string{helix.KindChat, helix.KindNotice, helix.KindModerate} {
		sub := helix.Subscription{Kind: kind, ChannelID: channelID}
		if _, there := have[sub]; there {
			s.conn.noteSubscribed(sub, login)
		}
	}
}

// lookUp returns the IDs of channels. It asks Twitch only for IDs that aren't known from this or an
// earlier session, and for the IDs of channels that can't be read. Channels that don't exist are
// missing from the result.
func (e *Conn) lookUp(ctx context.Context, channels []twitch.Channel) (map[string]string, error) {
	ids := make(map[string]string)
	var unknown []string
	for _, c := range channels {
		if id, known := e.ids[c.Login]; known && !c.ShutOut {
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
		if twitch.IsID(a.ID) {
			// This channel may still be known by its former name.
			maps.DeleteFunc(ids, func(_, id string) bool { return id == a.ID })
			ids[a.Login] = a.ID
		}
	}
	e.ids = ids // drops channels that are no longer wanted
	return ids, nil
}

// setRooms sets the channels whose events are accepted.
func (e *Conn) setRooms(ids map[string]string) {
	rooms := make(map[string]string, len(ids))
	for login, id := range ids {
		rooms[id] = login
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rooms = rooms
}

// endUnwanted ends the subscriptions of channels that are no longer read, and those for notices if
// there are too many channels. Subscriptions whose IDs are unknown end with the session; until
// then, their events are ignored. If a subscription can't be ended, it and the remaining ones are
// tried again the next time.
func (s *session) endUnwanted(ctx context.Context) {
	for sub, id := range s.subscriptions() {
		if id == "" || s.conn.isRead(sub.ChannelID) && (sub.Kind != helix.KindNotice || len(s.ids) <= maxNoticeChannels) {
			continue
		}
		if err := s.conn.Helix.Unsubscribe(ctx, id); err != nil {
			s.conn.report.Log.Warn("twitch chat: can't end a channel's subscription; trying again", "channel", sub.ChannelID, "error", hostile.Detail(err.Error()))
			return
		}
		s.forget(sub)
	}
}

// subscribeAll makes the missing subscriptions of a kind in all channels. It returns the logins of
// the channels for which Twitch refuses the subscription. Any other failure is reported for its
// channel. If the token is refused, subscribeAll stops and returns the error. If a limit of the
// account is used up, no further subscriptions are requested.
func (s *session) subscribeAll(ctx context.Context, kind string) (refused []string, err error) {
	have := s.subscriptions()
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(subscribers)
	for login, channelID := range s.ids {
		sub := helix.Subscription{Kind: kind, ChannelID: channelID}
		if _, there := have[sub]; there || kind == helix.KindModerate && s.refused[channelID] != notRefused {
			continue
		}
		group.Go(func() error {
			id, err := s.subscribe(ctx, sub)
			switch {
			case err == nil:
				s.remember(sub, id)
				s.conn.noteSubscribed(sub, login)
			case errors.Is(err, twitch.ErrToken) || ctx.Err() != nil:
				return err
			case errors.Is(err, helix.ErrSubscriptionDenied) || errors.Is(err, twitch.ErrScope):
				mu.Lock()
				defer mu.Unlock()
				refused = append(refused, login)
			default:
				s.conn.noteMissing(sub, login, err.Error())
				s.noteFailure(err)
			}
			return nil
		})
	}
	err = group.Wait()
	return refused, err
}
