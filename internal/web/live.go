package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
)

const (
	feedPeriod   = 100 * time.Millisecond // changes are gathered for so long and sent together
	sessionCheck = time.Second            // how often an open feed asks whether its reader may still come in
	writeTimeout = 10 * time.Second       // a reader that takes longer for one frame is gone
)

// signedOut is the WebSocket status that tells the page to ask for a sign-in; the codes from 4000 on are an application's own.
const signedOut websocket.StatusCode = 4401

// tooManyFeeds is the status of a feed that is one too many; the reason is a sentence for people.
const tooManyFeeds websocket.StatusCode = 4429

// pump publishes what changes until ctx ends: users every feedPeriod, the status every second.
func (s *Server) pump(ctx context.Context) {
	ticker := time.NewTicker(feedPeriod)
	defer ticker.Stop()
	for turn := 1; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switched := s.switched.take()
		for _, channel := range slices.Concat(s.revised.take(), switched) {
			s.judgeAgain(channel, s.opts.Now())
		}
		s.board.expire(s.opts.Now())
		err := errors.Join(s.feed.publish(s.changeFrames), s.announceSwitched(switched))
		if turn%int(time.Second/feedPeriod) == 0 {
			s.tallies.tick(s.opts.Now())
			s.previews.forget(s.opts.Now())
			s.begins.forget()
			err = errors.Join(err, s.feed.publishStatus(s.statusFrame), s.feed.publish(s.savedFrames))
		}
		if err != nil {
			s.opts.Log.Error("live feed", "error", err)
		}
	}
}

func (s *Server) changeFrames() []frame {
	var frames []frame
	for channel, c := range s.board.takeChanges() {
		slices.SortFunc(c.users, bySince)
		frames = append(frames, frame{Type: throttledFrame, Now: s.opts.Now(), Channel: channel, Users: c.users, Gone: c.gone})
	}
	return frames
}

// savedFrames tell of the policies that are saved by now and weren't when they came into force.
func (s *Server) savedFrames() []frame {
	now := s.opts.Now() // before the database says how far it is
	return s.policyFrames(s.unsaved.settle(s.database(), now))
}

func (s *Server) statusFrame(channel string) frame {
	status := s.status(channel)
	return frame{Type: statusFrame, Now: s.opts.Now(), Channel: channel, Channels: s.opts.Channels(), Status: &status}
}

func (s *Server) snapshotFrame(channel string) frame {
	fr := s.statusFrame(channel)
	fr.Type, fr.Feed = snapshotFrame, s.feed.name(channel)
	fr.Users = s.throttledIn(channel)
	if channel != "" {
		policy := s.policyState(channel)
		fr.Policy = &policy
	}
	return fr
}

// serveLive is GET /live?channel=&feed=&after=: a WebSocket on which a snapshot and then every change is sent; to whoever has followed this feed up to
// the frame after, and was away for not too long, only what they missed. Without a channel it tells of all of them.
func (s *Server) serveLive(w http.ResponseWriter, r *http.Request, who caller) error {
	q := queryOf(r)
	channel := q.text("channel")
	before := seen{q.text("feed"), uint64(q.number("after", 0, 0, math.MaxInt64))} // whoever names no frame has seen none
	if q.err != nil {
		return q.err
	}
	if !s.live.enter() {
		return refuse(http.StatusServiceUnavailable, "chatguard is stopping.")
	}
	defer s.live.leave()
	var origins []string // beside the request's own host
	if public := s.opts.Site.PublicURL; public != nil {
		origins = append(origins, public.Host)
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: origins})
	if err != nil {
		s.feedRefused(r, err)
		return nil // Accept has answered
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)() // this closes the connection even where it waits for the reader's goodbye
	ctx = conn.CloseRead(ctx)
	if reason := s.seats.take(who.name); reason != "" {
		conn.Close(tooManyFeeds, reason+": close a page that you don't need")
		return nil
	}
	defer s.seats.leave(who.name)
	code, reason := s.follow(ctx, conn, channel, before, who)
	conn.Close(code, reason) // the reader may be gone
	return nil
}

// follow writes a channel's frames to a reader until that ends, and returns why it did.
func (s *Server) follow(ctx context.Context, conn *websocket.Conn, channel string, before seen, who caller) (websocket.StatusCode, string) {
	reader, err := s.join(ctx, channel, before)
	switch {
	case errors.Is(err, errFeedEnded):
		return websocket.StatusGoingAway, "chatguard is stopping"
	case ctx.Err() != nil:
		return websocket.StatusNormalClosure, ""
	case err != nil:
		s.opts.Log.Error("live feed", "error", err)
		return websocket.StatusInternalError, "chatguard's log says why"
	}
	defer s.feed.leave(reader)
	return s.stream(ctx, conn, reader, who)
}

// join adds a reader to the feed of a channel. A reader who has seen it so far resumes; any other begins with a snapshot, which is made while the feed
// goes on.
func (s *Server) join(ctx context.Context, channel string, before seen) (*reader, error) {
	status := func() frame { return s.statusFrame(channel) }
	reader, err := s.feed.resume(channel, before, s.changeFrames, status)
	for reader == nil && err == nil {
		var first snapshot
		first, err = s.begins.of(ctx, channel, s.feed.at, func() (uint64, error) { return s.feed.next(s.changeFrames) },
			func() frame { return s.snapshotFrame(channel) })
		if err == nil {
			reader, err = s.feed.begin(channel, first, status)
		}
	}
	return reader, err
}

// feedRefused logs it. Where another site's proxy asks for a host of its own, every feed is refused, and whoever mounts the dashboard can mend that:
// they are told once.
func (s *Server) feedRefused(r *http.Request, err error) {
	s.opts.Log.Debug("live feed refused", "error", err)
	if origin := r.Header.Get("Origin"); s.opts.Authorize != nil && origin != "" {
		s.refused.Do(func() {
			s.opts.Log.Warn("the live feed was refused to a page of another host than the request's; if people use that page, set PublicURL to its address",
				"page", origin, "host", r.Host)
		})
	}
}

// stream writes frames until the reader leaves, is too slow, or is signed out.
func (s *Server) stream(ctx context.Context, conn *websocket.Conn, to *reader, who caller) (websocket.StatusCode, string) {
	check := time.NewTicker(sessionCheck)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return websocket.StatusNormalClosure, ""
		case data, ok := <-to.frames:
			if !ok {
				return websocket.StatusGoingAway, "connect again"
			}
			if write(ctx, conn, data) != nil {
				return websocket.StatusGoingAway, ""
			}
		case <-check.C:
			if s.hasEnded(ctx, who) {
				return signedOut, "signed out"
			}
		}
	}
}

func write(ctx context.Context, conn *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, data)
}

// hasEnded reports whether the caller may not come in any more. While the store is in trouble nobody is signed out.
func (s *Server) hasEnded(ctx context.Context, who caller) bool {
	return isUnauthorized(s.access.still(ctx, who))
}
