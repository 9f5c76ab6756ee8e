package web

import (
	"context"
	"encoding/json"
	"sync"
)

// snapshot tells a channel's state up to a frame of the feed, and perhaps some of what comes after: the frames after it say that again.
type snapshot struct {
	seq  uint64
	data []byte // a frame
}

// snapshots are made for readers who begin: one at a time, because a long one takes a while, and one for all who begin between two frames of the feed.
// They are safe for concurrent use.
type snapshots struct {
	turn chan struct{} // holds a value while one is made

	mu   sync.Mutex
	kept map[string]snapshot // the last one of each channel
}

func newSnapshots() *snapshots {
	return &snapshots{turn: make(chan struct{}, 1), kept: map[string]snapshot{}}
}

// of returns a channel's snapshot, which begins where the feed is now. It waits until nobody else makes one. number returns where the feed is; next
// publishes what waits first. make makes the frame.
func (s *snapshots) of(ctx context.Context, channel string, number func() uint64, next func() (uint64, error), make func() frame) (snapshot, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return snapshot{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // the reader may have gone while the turn was free, too
		return snapshot{}, err
	}
	if kept, ok := s.find(channel); ok && kept.seq == number() {
		return kept, nil
	}
	seq, err := next()
	if err != nil {
		return snapshot{}, err
	}
	fr := make()
	fr.Seq = seq
	data, err := json.Marshal(fr)
	if err != nil {
		return snapshot{}, err
	}
	made := snapshot{seq, data}
	s.keep(channel, made)
	return made, nil
}

func (s *snapshots) find(channel string) (snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.kept[channel]
	return kept, ok
}

func (s *snapshots) keep(channel string, made snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[channel] = made
}

// forget lets go of what is kept: a long snapshot takes some megabytes.
func (s *snapshots) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.kept)
}
