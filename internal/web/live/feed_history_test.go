package live

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// publishIn publishes one frame in each of the channels, in order.
func publishIn(t *testing.T, f *feed, channels ...string) {
	t.Helper()
	for _, channel := range channels {
		if err := f.publish(func() []Frame { return []Frame{{Type: ThrottledFrame, Channel: channel}} }); err != nil {
			t.Fatal(err)
		}
	}
}

// wantFrames checks the frames that a reader has received so far: "throttled 2" is the second frame
// since the feed started.
func wantFrames(t *testing.T, r *reader, want ...string) {
	t.Helper()
	var got []string
	for len(r.frames) > 0 {
		var fr Frame
		if err := json.Unmarshal(<-r.frames, &fr); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %d", fr.Type, fr.Seq-uint64(noon.UnixMicro())))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("frames %q, want %q", got, want)
	}
}

func TestFeedHistory_ReaderResumes(t *testing.T) {
	f, began := newFeed(noon, emptyFrames), uint64(noon.UnixMicro())
	publishIn(t, f, "1", "2", "1", "2", "1")
	wantFrames(t, joinFeedAfter(t, f, "1", began), "throttled 1", "throttled 3", "throttled 5", "status 5")
	wantFrames(t, joinFeedAfter(t, f, "1", began+2), "throttled 3", "throttled 5", "status 5")
	wantFrames(t, joinFeedAfter(t, f, "1", began+3), "throttled 5", "status 5")
	wantFrames(t, joinFeedAfter(t, f, "2", began+3), "throttled 4", "status 5")
	wantFrames(t, joinFeedAfter(t, f, "", began+3), "throttled 4", "throttled 5", "status 5")
	again := joinFeedAfter(t, f, "1", began+5)
	wantFrames(t, again, "status 5")
	publishIn(t, f, "2", "1")
	wantFrames(t, again, "throttled 7")
}

func TestFeedHistory_PendingFramesGoFirst(t *testing.T) {
	pending := emptyFrames
	pending.changes = func() []Frame { return []Frame{{Type: ThrottledFrame, Channel: "1"}} }
	f := newFeed(noon, pending)
	r, err := f.resume(Audience{channel: "1"}, seen{f.name("1"), uint64(noon.UnixMicro())})
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, r, "throttled 1", "status 1")
}

// A reader gets a snapshot if they send no number or a number of another process, or if they were
// away for too long.
func TestFeedHistory_TooOldGetsSnapshot(t *testing.T) {
	f, began := newFeed(noon, emptyFrames), uint64(noon.UnixMicro())
	publishIn(t, f, "1")
	// an earlier process published 600 frames
	before := uint64(noon.Add(-time.Minute).UnixMicro()) + 600
	for _, after := range []uint64{0, before, began - 1, began + 2} {
		wantFrames(t, joinFeedAfter(t, f, "1", after), "snapshot 1", "status 1")
	}
	publishIn(t, f, strings.Split(strings.Repeat("1 ", maxHistoryFrames-1)+"1", " ")...)
	wantFrames(t, joinFeedAfter(t, f, "1", began), fmt.Sprintf("snapshot %d", maxHistoryFrames+1), fmt.Sprintf("status %d", maxHistoryFrames+1))
	if n := len(joinFeedAfter(t, f, "1", began+1).frames); n != maxHistoryFrames+1 {
		t.Errorf("%d frames, want all that are kept and a status", n)
	}
}

func TestFeedHistory_Bounded(t *testing.T) {
	var p feedHistory
	large := make([]byte, maxHistoryBytes/4)
	for seq := range uint64(10) {
		p.add(historyFrame{seq + 1, "1", large})
	}
	if len(p.frames) != 4 || p.bytes != maxHistoryBytes || p.gone != 6 {
		t.Errorf("%d frames of %d bytes are kept, up to frame %d they aren't", len(p.frames), p.bytes, p.gone)
	}
	p.add(historyFrame{11, "1", make([]byte, maxHistoryBytes+1)})
	if len(p.frames) != 0 || p.bytes != 0 || p.gone != 11 {
		t.Errorf("after one that is too large, %d frames of %d bytes", len(p.frames), p.bytes)
	}
}
