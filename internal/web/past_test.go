package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// publishIn publishes a frame in each of the channels, one after another.
func publishIn(t *testing.T, f *feed, channels ...string) {
	t.Helper()
	for _, channel := range channels {
		if err := f.publish(func() []frame { return []frame{{Type: throttledFrame, Channel: channel}} }); err != nil {
			t.Fatal(err)
		}
	}
}

// wantFrames wants what a reader has been given so far: "throttled 2" for the second frame since the feed began.
func wantFrames(t *testing.T, r *reader, want ...string) {
	t.Helper()
	var got []string
	for len(r.frames) > 0 {
		var fr frame
		if err := json.Unmarshal(<-r.frames, &fr); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %d", fr.Type, fr.Seq-uint64(noon.UnixMicro())))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("frames %q, want %q", got, want)
	}
}

func TestAReaderGoesOnWhereTheyWere(t *testing.T) {
	f, began := newFeed(noon), uint64(noon.UnixMicro())
	publishIn(t, f, "1", "2", "1", "2", "1")
	wantFrames(t, joinedAfter(t, f, "1", began), "throttled 1", "throttled 3", "throttled 5", "status 5")
	wantFrames(t, joinedAfter(t, f, "1", began+2), "throttled 3", "throttled 5", "status 5")
	wantFrames(t, joinedAfter(t, f, "1", began+3), "throttled 5", "status 5")
	wantFrames(t, joinedAfter(t, f, "2", began+3), "throttled 4", "status 5")
	wantFrames(t, joinedAfter(t, f, "", began+3), "throttled 4", "throttled 5", "status 5")
	again := joinedAfter(t, f, "1", began+5)
	wantFrames(t, again, "status 5")
	publishIn(t, f, "2", "1")
	wantFrames(t, again, "throttled 7")
}

func TestWhatWaitsGoesOutBeforeAReaderGoesOn(t *testing.T) {
	f := newFeed(noon)
	waiting := func() []frame { return []frame{{Type: throttledFrame, Channel: "1"}} }
	r, err := f.resume("1", seen{f.name("1"), uint64(noon.UnixMicro())}, waiting, func() frame { return frame{Type: statusFrame} })
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, r, "throttled 1", "status 1")
}

// Whoever has seen nothing that is still known gets a snapshot: one without a number, one of another process's, one who was away for too long.
func TestAReaderWhoWasAwayTooLongBeginsAnew(t *testing.T) {
	f, began := newFeed(noon), uint64(noon.UnixMicro())
	publishIn(t, f, "1")
	before := uint64(noon.Add(-time.Minute).UnixMicro()) + 600 // an earlier process published 600 frames in its minute
	for _, after := range []uint64{0, before, began - 1, began + 2} {
		wantFrames(t, joinedAfter(t, f, "1", after), "snapshot 1", "status 1")
	}
	publishIn(t, f, strings.Split(strings.Repeat("1 ", pastFrames-1)+"1", " ")...)
	wantFrames(t, joinedAfter(t, f, "1", began), fmt.Sprintf("snapshot %d", pastFrames+1), fmt.Sprintf("status %d", pastFrames+1))
	if n := len(joinedAfter(t, f, "1", began+1).frames); n != pastFrames+1 {
		t.Errorf("%d frames, want all that are kept and a status", n)
	}
}

func TestPastFramesAreBounded(t *testing.T) {
	var p past
	large := make([]byte, pastBytes/4)
	for seq := range uint64(10) {
		p.add(pastFrame{seq + 1, "1", large})
	}
	if len(p.frames) != 4 || p.bytes != pastBytes || p.gone != 6 {
		t.Errorf("%d frames of %d bytes are kept, up to frame %d they aren't", len(p.frames), p.bytes, p.gone)
	}
	p.add(pastFrame{11, "1", make([]byte, pastBytes+1)})
	if len(p.frames) != 0 || p.bytes != 0 || p.gone != 11 {
		t.Errorf("after one that is too large, %d frames of %d bytes", len(p.frames), p.bytes)
	}
}

func TestALostConnectionGoesOnWhereItWas(t *testing.T) {
	d := dash(t)
	c := d.signedIn(map[string]string{"code": "good-code"})
	first := d.listenWith("Cookie", c.String(), "")
	start := first.next(snapshotFrame)
	seen := start.Seq
	d.say(spammer, 4)
	seen = max(seen, first.next(throttledFrame).Seq)
	first.conn.CloseNow()
	d.say(chatguard.User{ID: "41", Login: "berta"}, 4)
	d.put(burst(9))

	resumed := fmt.Sprintf("&feed=%s&after=%d", start.Feed, seen)
	again := d.listenWith("Cookie", c.String(), resumed)
	var kinds []string
	gone := map[string]bool{}
	for len(kinds) == 0 || kinds[len(kinds)-1] != string(statusFrame) || !gone["41"] {
		fr := again.any()
		if fr.Type != statusFrame && fr.Seq <= seen {
			t.Errorf("frame %d again", fr.Seq)
		}
		for _, id := range fr.Gone {
			gone[id] = true
		}
		kinds = append(kinds, string(fr.Type))
	}
	if said := strings.Join(kinds, " "); strings.Contains(said, string(snapshotFrame)) || !strings.Contains(said, string(policyFrame)) {
		t.Errorf("after coming back: %s", said)
	}
	d.restart() // numbers may meet; names don't
	if fr := d.listenWith("Authorization", "Bearer "+token, resumed).any(); fr.Type != snapshotFrame || fr.Feed == start.Feed {
		t.Errorf("another process goes on with a %s of feed %s", fr.Type, fr.Feed)
	}
}

// Whoever has followed one channel has missed the frames of the others.
func TestAReaderOfAnotherFeedBeginsAnew(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []Channel { return []Channel{{ID: channelID, Login: "first"}, {ID: "8", Login: "second"}} }
	})
	start := d.listen().next(snapshotFrame)
	d.say(spammer, 4)
	for _, test := range []struct {
		feed, channel string
		want          frameType
	}{
		{start.Feed, channelID, throttledFrame},
		{start.Feed, "8", snapshotFrame},
		{start.Feed, "", snapshotFrame},
		{"", channelID, throttledFrame}, // who says no more is believed
		{"nothing", channelID, snapshotFrame},
	} {
		more := fmt.Sprintf("&feed=%s&after=%d", test.feed, start.Seq)
		if fr := d.listenTo(test.channel, "Authorization", "Bearer "+token, more).any(); fr.Type != test.want {
			t.Errorf("feed %q, channel %q: %s, want %s", test.feed, test.channel, fr.Type, test.want)
		}
	}
	for _, after := range []string{"garbage", "-1", "1.5", "99999999999999999999"} {
		d.refused(after, "GET", "/api/v1/live?channel="+channelID+"&after="+after, nil, owned, 422, "whole number")
	}
}
