package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// snapshotOf returns a snapshot of a feed, made by make.
func snapshotOf(t *testing.T, s *snapshots, f *feed, channel string, make func() Frame) snapshot {
	t.Helper()
	made, err := s.get(t.Context(), Audience{channel: channel}, f.lastNumber, func() (uint64, error) { return f.publishPending(func() []Frame { return nil }) }, make)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// While a snapshot is made, the feed can publish frames and count its readers. The snapshot's
// reader gets those frames afterwards.
func TestSnapshots_FeedGoesOn(t *testing.T) {
	s, f := newSnapshots(), newFeed(noon)
	publishIn(t, f, "1")
	first := snapshotOf(t, s, f, "1", func() Frame {
		publishIn(t, f, "1", "2")
		if f.len() != 0 {
			t.Error("there is a reader")
		}
		return Frame{Type: SnapshotFrame}
	})
	r, err := f.begin(Audience{channel: "1"}, first, func() Frame { return Frame{Type: StatusFrame} })
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, r, "snapshot 1", "throttled 2", "status 3")
}

// Readers who join between two frames of the feed share a snapshot; readers of another channel do
// not.
func TestSnapshots_Shared(t *testing.T) {
	s, f := newSnapshots(), newFeed(noon)
	made := 0
	count := func() Frame { made++; return Frame{Type: SnapshotFrame} }
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

// A reader who leaves while another snapshot is made gets none.
func TestSnapshots_OneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newSnapshots(), newFeed(noon)
		going, release := make(chan struct{}), make(chan struct{})
		go s.get(t.Context(), Audience{channel: "1"}, f.lastNumber, func() (uint64, error) { return f.lastNumber(), nil }, func() Frame {
			close(going)
			<-release
			return Frame{Type: SnapshotFrame}
		})
		<-going
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.get(ctx, Audience{channel: "2"}, f.lastNumber, nil, nil)
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
		if _, err := s.get(ctx, Audience{channel: "2"}, f.lastNumber, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("without another snapshot in progress: %v", err)
		}
	})
}
