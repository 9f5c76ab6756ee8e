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

// snapshots makes the snapshots of the feed, one at a time because a long one takes a while. Readers who begin between two frames of the feed share one.
// It is safe for concurrent use.
type snapshots struct {
	turn chan struct{} // holds a value while one is made

	mu   sync.Mutex
	kept map[string]snapshot // the last one of each channel
}

func newSnapshots() *snapshots {
	return &snapshots{turn: make(chan struct{}, 1), kept: map[string]snapshot{}}
}

// of returns a channel's snapshot as of now, after waiting for the one that is being made. number returns the number of the feed's last frame; next does so,
// too, and first publishes what waits. make makes the snapshot's frame.
func (s *snapshots) of(ctx context.Context, channel string, number func() uint64, next func() (uint64, error), make func() frame) (snapshot, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return snapshot{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // select chooses at random if both are ready
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
