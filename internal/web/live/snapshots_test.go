package live

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// newTestSnapshots returns the snapshots of a new feed, made by make.
func newTestSnapshots(make func() Frame) (*snapshots, *feed) {
	made := emptyFrames
	made.snapshot = func(Audience) Frame { return make() }
	f := newFeed(noon, made)
	return newSnapshots(f), f
}

// of returns the snapshot for a channel.
func (s *snapshots) of(t *testing.T, channel string) snapshot {
	t.Helper()
	made, err := s.get(t.Context(), Audience{channel: channel})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// While a snapshot is made, the feed can publish frames and count its readers. The snapshot's
// reader gets those frames afterwards.
func TestSnapshots_FeedGoesOn(t *testing.T) {
	var s *snapshots
	var f *feed
	s, f = newTestSnapshots(func() Frame {
		publishIn(t, f, "1", "2")
		if f.len() != 0 {
			t.Error("there is a reader")
		}
		return Frame{Type: SnapshotFrame}
	})
	publishIn(t, f, "1")
	r, err := f.begin(Audience{channel: "1"}, s.of(t, "1"))
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, r, "snapshot 1", "throttled 2", "status 3")
}

// Readers who join between two frames of the feed share a snapshot; readers of another channel do
// not.
func TestSnapshots_Shared(t *testing.T) {
	made := 0
	s, f := newTestSnapshots(func() Frame { made++; return Frame{Type: SnapshotFrame} })
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
		got := s.of(t, step.channel)
		if made != step.want {
			t.Errorf("step %d: %d are made, want %d", i, made, step.want)
		}
		if !strings.Contains(string(got.data), `"feed":"`+f.name(step.channel)+`"`) { // so that its reader can resume
			t.Errorf("step %d: the snapshot doesn't name its feed: %s", i, got.data)
		}
	}
}

// A reader who leaves while another snapshot is made gets none.
func TestSnapshots_OneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		going, release := make(chan struct{}), make(chan struct{})
		s, _ := newTestSnapshots(func() Frame {
			close(going)
			<-release
			return Frame{Type: SnapshotFrame}
		})
		go s.get(t.Context(), Audience{channel: "1"})
		<-going
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.get(ctx, Audience{channel: "2"})
			ended <- err
		}()
		synctest.Wait()
		if len(ended) != 0 {
			t.Error("two snapshots are made at the same time")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(release)
		synctest.Wait()
		if _, err := s.get(ctx, Audience{channel: "2"}); !errors.Is(err, context.Canceled) {
			t.Errorf("without another snapshot in progress: %v", err)
		}
	})
}
