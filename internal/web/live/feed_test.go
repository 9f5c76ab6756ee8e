package live

import (
	"errors"
	"fmt"
	"testing"
)

// emptyFrames make frames of a state that never changes.
var emptyFrames = frames{
	changes:  func() []Frame { return nil },
	status:   func(Audience) Frame { return Frame{Type: StatusFrame} },
	snapshot: func(Audience) Frame { return Frame{Type: SnapshotFrame} },
}

// joinFeed adds a new reader to a feed and returns the reader.
func joinFeed(t *testing.T, f *feed, channel string) *reader {
	t.Helper()
	return joinFeedAfter(t, f, channel, 0)
}

// joinFeedAfter adds a reader who has seen the feed up to a frame, and returns the reader.
func joinFeedAfter(t *testing.T, f *feed, channel string, after uint64) *reader {
	t.Helper()
	r, err := f.resume(Audience{channel: channel}, seen{f.name(channel), after})
	if r == nil && err == nil {
		r, err = f.begin(Audience{channel: channel}, snapshot{f.lastNumber(), []byte(fmt.Sprintf(`{"type":"snapshot","seq":%d}`, f.lastNumber()))})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLive_SlowReaderIsDropped(t *testing.T) {
	f := newFeed(noon, emptyFrames)
	slow := joinFeed(t, f, "")
	for range readerBuffer + 1 { // one too many
		if err := f.publish(func() []Frame { return []Frame{{Type: ThrottledFrame, Channel: channelID}} }); err != nil {
			t.Fatal(err)
		}
	}
	frames := 0
	for range slow.frames {
		frames++
	}
	if frames != readerBuffer+2 || f.len() != 0 { // including the snapshot and the status
		t.Errorf("the slow reader has %d frames, and %d readers are left", frames, f.len())
	}
	f.leave(slow) // already dropped, so it does nothing
}

func TestLive_FeedOfOneChannel(t *testing.T) {
	f := newFeed(noon, emptyFrames)
	one := joinFeed(t, f, "1")
	all := joinFeed(t, f, "")
	err := f.publish(func() []Frame {
		return []Frame{{Type: ThrottledFrame, Channel: "1"}, {Type: ThrottledFrame, Channel: "2"}}
	})
	if err != nil || len(one.frames) != 3 || len(all.frames) != 4 {
		t.Errorf("%v; channel 1 has %d frames, all have %d", err, len(one.frames), len(all.frames))
	}
	f.close()
	if r, err := f.begin(Audience{}, snapshot{}); r != nil || !errors.Is(err, errFeedEnded) {
		t.Errorf("a closed feed was joined: %v", err)
	}
}
