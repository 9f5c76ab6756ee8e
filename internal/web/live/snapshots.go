package live

import (
	"context"
	"encoding/json"
	"sync"
)

// snapshot is the state up to a frame of the feed, as an Audience sees it. It may already include
// later changes, which the following frames repeat.
type snapshot struct {
	seq  uint64
	data []byte // an encoded frame
}

// snapshots makes the feed's snapshots, one at a time because a large one takes a while. Readers of
// the same Audience who join between the same two frames share a snapshot. It is safe for
// concurrent use.
type snapshots struct {
	feed *feed
	turn chan struct{} // holds a value while a snapshot is made
	kept sync.Map      // Audience → snapshot: the last one of each
}

func newSnapshots(of *feed) *snapshots {
	return &snapshots{feed: of, turn: make(chan struct{}, 1)}
}

// get returns the current snapshot for an Audience. If another snapshot is being made, it waits for
// that one first. It publishes pending frames before it makes a snapshot.
func (s *snapshots) get(ctx context.Context, a Audience) (snapshot, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return snapshot{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // select is random if both channels are ready
		return snapshot{}, err
	}
	if kept, ok := s.kept.Load(a); ok && kept.(snapshot).seq == s.feed.lastNumber() {
		return kept.(snapshot), nil
	}
	seq, err := s.feed.publishPending()
	if err != nil {
		return snapshot{}, err
	}
	fr := s.feed.frames.snapshot(a)
	fr.Seq, fr.Feed = seq, s.feed.name(a.channel)
	data, err := json.Marshal(fr)
	if err != nil {
		return snapshot{}, err
	}
	made := snapshot{seq, data}
	s.kept.Store(a, made)
	return made, nil
}

// forget drops the cached snapshots, because a large one takes some megabytes.
func (s *snapshots) forget() { s.kept.Clear() }
