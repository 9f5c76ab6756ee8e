package web

import (
	"context"
	"errors"

	"testing"
	"testing/synctest"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/internal/journal"
)

// snapshotOf is a snapshot of a feed, made by make.
func snapshotOf(t *testing.T, s *snapshots, f *feed, channel string, make func() frame) snapshot {
	t.Helper()
	made, err := s.of(t.Context(), channel, f.at, func() (uint64, error) { return f.next(func() []frame { return nil }) }, make)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestSnapshots_FeedGoesOn: frames are published, and readers counted, while a snapshot is made; its reader is given them afterwards.
func TestSnapshots_FeedGoesOn(t *testing.T) {
	s, f := newSnapshots(), newFeed(noon)
	publishIn(t, f, "1")
	first := snapshotOf(t, s, f, "1", func() frame {
		publishIn(t, f, "1", "2")
		if f.len() != 0 {
			t.Error("there is a reader")
		}
		return frame{Type: snapshotFrame}
	})
	r, err := f.begin("1", first, func() frame { return frame{Type: statusFrame} })
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, r, "snapshot 1", "throttled 2", "status 3")
}

// TestSnapshots_Shared: readers who begin between two frames of the feed share one, and those of another channel don't.
func TestSnapshots_Shared(t *testing.T) {
	s, f := newSnapshots(), newFeed(noon)
	made := 0
	count := func() frame { made++; return frame{Type: snapshotFrame} }
	for i, step := range []struct {
		channel string
		before  func()
		want    int
	}{
		{"1", func() {}, 1},
		{"1", func() {}, 1},
		{"2", func() {}, 2},
		{"1", func() {}, 2},
		{"1", func() { publishIn(t, f, "2") }, 3},
		{"1", s.forget, 4},
	} {
		step.before()
		if snapshotOf(t, s, f, step.channel, count); made != step.want {
			t.Errorf("step %d: %d are made, want %d", i, made, step.want)
		}
	}
}

// TestSnapshots_OneAtATime: a reader who leaves while another snapshot is made gets none.
func TestSnapshots_OneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newSnapshots(), newFeed(noon)
		going, release := make(chan struct{}), make(chan struct{})
		go s.of(t.Context(), "1", f.at, func() (uint64, error) { return f.at(), nil }, func() frame {
			close(going)
			<-release
			return frame{Type: snapshotFrame}
		})
		<-going
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.of(ctx, "2", f.at, nil, nil)
			ended <- err
		}()
		synctest.Wait()
		if len(ended) != 0 {
			t.Error("another one is made meanwhile")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(release)
		synctest.Wait()
		if _, err := s.of(ctx, "2", f.at, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("with nobody before: %v", err)
		}
	})
}

// TestLive_FeedsOfOneHolder: one name has so many feeds and no more; the next is closed with the reason, and others still come in.
func TestLive_FeedsOfOneHolder(t *testing.T) {
	d := dash(t)
	overlay := "Bearer " + d.newToken(journal.AccessView)
	var feeds []*listener
	for range mostFeedsOfOne {
		l := d.listenWith("Authorization", overlay, "")
		l.next(snapshotFrame)
		feeds = append(feeds, l)
	}
	wantClosed := func(l *listener, code websocket.StatusCode, reason string) {
		t.Helper()
		_, _, err := l.conn.Read(l.ctx)
		var closed websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != code || closed.Reason != reason {
			t.Errorf("%v", err)
		}
	}
	wantClosed(d.listenWith("Authorization", overlay, ""), tooManyFeeds, "20 live feeds are open under your name: close a page that you don't need")
	d.listenWith("Authorization", "Bearer "+token, "").next(snapshotFrame)

	feeds[0].conn.Close(websocket.StatusNormalClosure, "")
	for open := false; !open; { // the server learns of it in its time
		l := d.listenWith("Authorization", overlay, "")
		_, _, err := l.conn.Read(l.ctx)
		open = err == nil
	}
}

func TestSeats_AllTogether(t *testing.T) {
	var s seats
	for i := range mostFeeds {
		if reason := s.take(string(rune('a' + i/mostFeedsOfOne))); reason != "" {
			t.Fatal(reason)
		}
	}
	if reason := s.take("one more"); reason != "500 live feeds are open" {
		t.Errorf("%q", reason)
	}
	s.leave("a")
	if reason := s.take("one more"); reason != "" {
		t.Error(reason)
	}
}

// TestPage_TooManyFeeds: the page says why it has no live updates, and comes back by itself or when asked to.
func TestPage_TooManyFeeds(t *testing.T) {
	d := dash(t)
	for range mostFeedsOfOne {
		if reason := d.server.seats.take("anna"); reason != "" {
			t.Fatal(reason)
		}
	}
	w := d.openBlank(1400, 900)
	w.Must(chromedp.Navigate("http://" + d.address + "/#signin=good-code"))
	w.See(isLost + `?.innerText.includes("No live updates. 20 live feeds are open under your name: close a page that you don't need.")`)
	d.server.seats.leave("anna")
	w.Click(".lost button")
	w.See(isBack + "&&" + says("Nobody is throttled"))
}
