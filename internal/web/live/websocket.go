package live

import (
	"context"
	"errors"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	AccessCheck  = time.Second      // how often a feed checks its reader's access
	writeTimeout = 10 * time.Second // maximum time for one frame
)

// SignedOut is the WebSocket status that makes the page ask for a sign-in. Codes from 4000 on are
// for applications.
const SignedOut websocket.StatusCode = 4401

// TooManyFeeds is the WebSocket status for a feed beyond the maximum. Its reason is a sentence for
// people.
const TooManyFeeds websocket.StatusCode = 4429

// Viewer is the reader of a live feed.
type Viewer struct {
	auth.Identity
	// Rights returns how the viewer's rights have changed since the feed began.
	Rights func(context.Context) Rights
}

// Rights says how a viewer's rights have changed.
type Rights int

// The possible changes of a viewer's rights.
const (
	SameRights    Rights = iota // or it isn't known
	ChangedRights               // other channels may be visible now
	NoRights                    // the viewer has lost access
)

// sockets are the WebSockets of the live feed. They are safe for concurrent use.
type sockets struct {
	opts      *Options
	feed      *feed
	snapshots *snapshots
	slots     feedSlots
	open      drainGroup
	refused   sync.Once // used to log the first refused live feed

	// ending is done shortly after close was called. This cuts the live feeds whose readers do not
	// read.
	ending context.Context
	cut    context.CancelFunc // ends the context ending
}

func newSockets(opts *Options, of *feed) *sockets {
	s := &sockets{opts: opts, feed: of, snapshots: newSnapshots(of)}
	s.ending, s.cut = context.WithCancel(context.Background())
	return s
}

// closeTimeout is how long readers of live feeds have for the closing handshake.
const closeTimeout = 500 * time.Millisecond

// close closes the live feeds and waits for them.
func (s *sockets) close() {
	s.feed.close()
	defer time.AfterFunc(closeTimeout, s.cut).Stop()
	s.open.close()
}

// ServeFeed is GET /live?channel=&feed=&after=: a WebSocket that sends a snapshot and then every
// change. after is the number of the last frame that the reader has seen. A reader who was not away
// for too long receives only the missed frames. Without a channel, the feed covers all channels.
func (s *sockets) ServeFeed(w http.ResponseWriter, r *http.Request, who Viewer) error {
	q := problem.QueryOf(r)
	channel := q.Text("channel")
	// Without a number, the reader has received nothing.
	before := seen{q.Text("feed"), uint64(q.Number("after", 0, 0, math.MaxInt64))}
	if q.Err != nil {
		return q.Err
	}
	if !s.open.enter() {
		return problem.New(http.StatusServiceUnavailable, "chatguard is stopping.")
	}
	defer s.open.leave()
	var origins []string // hosts allowed besides the request's own
	if public := s.opts.PublicURL; public != nil {
		origins = append(origins, public.Host)
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: origins})
	if err != nil {
		s.logRefused(r, err)
		return nil // Accept has already answered
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	// This closes the connection even while it waits for the reader's close frame.
	defer context.AfterFunc(s.ending, cancel)()
	ctx = conn.CloseRead(ctx)
	if reason := s.slots.take(who.Author()); reason != "" {
		conn.Close(TooManyFeeds, reason+": close another dashboard page")
		return nil
	}
	defer s.slots.leave(who.Author())
	code, reason := s.follow(ctx, conn, NewAudience(channel, who.Identity), before, who)
	conn.Close(code, reason) // an error means that the reader is gone
	return nil
}

// follow writes an Audience's frames to a reader until the feed ends for this reader. It returns
// the reason for the end.
func (s *sockets) follow(ctx context.Context, conn *websocket.Conn, a Audience, before seen, who Viewer) (websocket.StatusCode, string) {
	reader, err := s.join(ctx, a, before)
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

// join adds a reader to the feed of an Audience. If possible the reader resumes after the last
// frame they have seen. Otherwise they start with a snapshot, which is made while the feed
// continues.
func (s *sockets) join(ctx context.Context, a Audience, before seen) (*reader, error) {
	reader, err := s.feed.resume(a, before)
	for reader == nil && err == nil {
		var first snapshot
		if first, err = s.snapshots.get(ctx, a); err == nil {
			reader, err = s.feed.begin(a, first)
		}
	}
	return reader, err
}

// logRefused logs a refused feed. For a mounted dashboard, the first one is a warning. If the
// other site's proxy sends a different host, every feed is refused, and the site's developer can
// fix that.
func (s *sockets) logRefused(r *http.Request, err error) {
	s.opts.Log.Debug("live feed refused", "error", err)
	if origin := r.Header.Get("Origin"); s.opts.Mounted && origin != "" {
		s.refused.Do(func() {
			s.opts.Log.Warn("the live feed was refused because the page's host is not the request's; if people use that page, set PublicURL to its address",
				"page", origin, "host", r.Host)
		})
	}
}

// stream writes frames until the reader leaves, is too slow, or is signed out.
func (s *sockets) stream(ctx context.Context, conn *websocket.Conn, to *reader, who Viewer) (websocket.StatusCode, string) {
	check := time.NewTicker(AccessCheck)
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
			switch who.Rights(ctx) {
			case NoRights:
				return SignedOut, "signed out"
			case ChangedRights:
				return websocket.StatusGoingAway, "connect again"
			}
		}
	}
}

func write(ctx context.Context, conn *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, data)
}
