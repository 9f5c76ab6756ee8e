package web

import (
	"errors"
	"testing"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/live"
)

// One name has a maximum number of feeds. The next feed is closed with the reason, and other names
// can still join.
func TestLive_FeedsOfOneHolder(t *testing.T) {
	d := dash(t)
	overlay := "Bearer " + d.newToken(auth.View)
	var feeds []*listener
	for range live.MaxFeedsOfOne {
		l := d.listenWith("Authorization", overlay, "")
		l.next(live.SnapshotFrame)
		feeds = append(feeds, l)
	}
	wantClosed := func(l *listener, code websocket.StatusCode, reason string) {
		t.Helper()
		_, _, err := l.conn.Read(l.Context())
		var closed websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != code || closed.Reason != reason {
			t.Errorf("%v", err)
		}
	}
	wantClosed(d.listenWith("Authorization", overlay, ""), live.TooManyFeeds, "20 live feeds are open under your name: close another dashboard page")
	d.listenWith("Authorization", "Bearer "+token, "").next(live.SnapshotFrame)

	feeds[0].conn.Close(websocket.StatusNormalClosure, "")
	for open := false; !open; { // the server notices it eventually
		l := d.listenWith("Authorization", overlay, "")
		_, _, err := l.conn.Read(l.Context())
		open = err == nil
	}
}
