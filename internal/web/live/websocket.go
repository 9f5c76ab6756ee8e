package live

import (
	"context"
	"errors"
	"math"
	"net/http"
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
	// Rights returns what has become of the viewer's rights since the feed began.
	Rights func(context.Context) Rights
}

// Rights is what has become of a viewer's rights.
type Rights int

// What can have become of a viewer's rights.
const (
	SameRights    Rights = iota // or it isn't known
	ChangedRights               // other channels may be visible now
	NoRights                    // the viewer has lost access
)

// ServeFeed is GET /live?channel=&feed=&after=: a WebSocket that sends a snapshot and then every
// change. after is the number of the last frame that the reader has seen. A reader who was not away
// for too long receives only the missed frames. Without a channel, the feed covers all channels.
func (m *Model) ServeFeed(w http.ResponseWriter, r *http.Request, who Viewer) error {
	q := problem.QueryOf(r)
	channel := q.Text("channel")
	// Without a number, the reader has received nothing.
	before := seen{q.Text("feed"), uint64(q.Number("after", 0, 0, math.MaxInt64))}
	if q.Err != nil {
		return q.Err
	}
	if !m.open.enter() {
		return problem.New(http.StatusServiceUnavailable, "chatguard is stopping.")
	}
	defer m.open.leave()
	var origins []string // hosts allowed besides the request's own
	if public := m.opts.PublicURL; public != nil {
		origins = append(origins, public.Host)
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: origins})
	if err != nil {
		m.logRefused(r, err)
		return nil // Accept has already answered
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	// This closes the connection even while it waits for the reader's close frame.
	defer context.AfterFunc(m.ending, cancel)()
	ctx = conn.CloseRead(ctx)
	if reason := m.slots.take(who.Author()); reason != "" {
		conn.Close(TooManyFeeds, reason+": close another dashboard page")
		return nil
	}
	defer m.slots.leave(who.Author())
	code, reason := m.follow(ctx, conn, NewAudience(channel, who.Identity), before, who)
	conn.Close(code, reason) // an error means that the reader is gone
	return nil
}

// follow writes an Audience's frames to a reader until the feed ends for this reader. It returns the
// reason for the end.
func (m *Model) follow(ctx context.Context, conn *websocket.Conn, a Audience, before seen, who Viewer) (websocket.StatusCode, string) {
	reader, err := m.join(ctx, a, before)
	switch {
	case errors.Is(err, errFeedEnded):
		return websocket.StatusGoingAway, "chatguard is stopping"
	case ctx.Err() != nil:
		return websocket.StatusNormalClosure, ""
	case err != nil:
		m.opts.Log.Error("live feed", "error", err)
		return websocket.StatusInternalError, "chatguard's log says why"
	}
	defer m.feed.leave(reader)
	return m.stream(ctx, conn, reader, who)
}

// join adds a reader to the feed of an Audience. If possible the reader resumes after the last frame
// they have seen. Otherwise they start with a snapshot, which is made while the feed continues.
func (m *Model) join(ctx context.Context, a Audience, before seen) (*reader, error) {
	status := func() Frame { return m.statusFrame(a) }
	reader, err := m.feed.resume(a, before, m.changeFrames, status)
	for reader == nil && err == nil {
		var first snapshot
		first, err = m.snapshots.get(ctx, a, m.feed.lastNumber, func() (uint64, error) { return m.feed.publishPending(m.changeFrames) },
			func() Frame { return m.snapshotFrame(a) })
		if err == nil {
			reader, err = m.feed.begin(a, first, status)
		}
	}
	return reader, err
}

// logRefused logs a refused feed. For a mounted dashboard, the first one is a warning. If the
// other site's proxy sends a different host, every feed is refused, and the site's developer can
// fix that.
func (m *Model) logRefused(r *http.Request, err error) {
	m.opts.Log.Debug("live feed refused", "error", err)
	if origin := r.Header.Get("Origin"); m.opts.Mounted && origin != "" {
		m.refused.Do(func() {
			m.opts.Log.Warn("the live feed was refused because the page's host is not the request's; if people use that page, set PublicURL to its address",
				"page", origin, "host", r.Host)
		})
	}
}

// stream writes frames until the reader leaves, is too slow, or is signed out.
func (m *Model) stream(ctx context.Context, conn *websocket.Conn, to *reader, who Viewer) (websocket.StatusCode, string) {
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
