package persist

import (
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// mustStreams returns the starts of the streams that Streams finds, in minutes after start.
func (s *Store) mustStreams(t *testing.T, channelID string, n int) (minutes []int) {
	t.Helper()
	streams, err := s.Streams(ctx, channelID, n)
	must(t, err)
	for _, stream := range streams {
		minutes = append(minutes, int(stream.Start.Sub(start).Minutes()))
	}
	return minutes
}

func streamAt(channelID string, minute, length int, ended bool) journal.Stream {
	began := start.Add(time.Duration(minute) * time.Minute)
	return journal.Stream{ChannelID: channelID, Start: began, Seen: began.Add(time.Duration(length) * time.Minute), Ended: ended}
}

func TestStreams_PendingAndStored(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	for _, stream := range []journal.Stream{streamAt("c1", 0, 30, true), streamAt("c1", 60, 1, false), streamAt("c2", 30, 5, false)} {
		s.NoteStream(stream)
	}
	check := func(when string) {
		t.Helper()
		if all, own, last := s.mustStreams(t, "", 9), s.mustStreams(t, "c1", 9), s.mustStreams(t, "c1", 1); !slices.Equal(all, []int{60, 30, 0}) || !slices.Equal(own, []int{60, 0}) || !slices.Equal(last, []int{60}) {
			t.Errorf("%s: all %v, of c1 %v, last %v", when, all, own, last)
		}
	}
	check("pending")
	s.mustFlush(t, g)
	check("stored")
	s.NoteStream(streamAt("c1", 60, 9, true))
	check("pending again")
	s.mustFlush(t, g)
	must(t, s.Close())
	s = open(t, path, nil)
	check("after a restart")
	if last, err := s.Streams(ctx, "c1", 1); err != nil || last[0] != streamAt("c1", 60, 9, true) {
		t.Errorf("%+v, %v", last, err)
	}
}
