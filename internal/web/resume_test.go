package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestFeed_ResumesLostConnection(t *testing.T) {
	d := dash(t)
	c := d.signIn(map[string]string{"code": "good-code"})
	first := d.listenWith("Cookie", c.String(), "")
	start := first.next(live.SnapshotFrame)
	seen := start.Seq
	d.say(spammer, 4)
	seen = max(seen, first.next(live.ThrottledFrame).Seq)
	first.conn.CloseNow()
	d.say(chatguard.User{ID: "41", Login: "berta"}, 4)
	d.put(burst(9))

	resumed := fmt.Sprintf("&feed=%s&after=%d", start.Feed, seen)
	again := d.listenWith("Cookie", c.String(), resumed)
	var kinds []string
	gone := map[string]bool{}
	for len(kinds) == 0 || kinds[len(kinds)-1] != string(live.StatusFrame) || !gone["41"] {
		fr := again.nextAny()
		if fr.Type != live.StatusFrame && fr.Seq <= seen {
			t.Errorf("frame %d again", fr.Seq)
		}
		for _, id := range released(fr) {
			gone[id] = true
		}
		kinds = append(kinds, string(fr.Type))
	}
	if said := strings.Join(kinds, " "); strings.Contains(said, string(live.SnapshotFrame)) || !strings.Contains(said, string(live.PolicyFrame)) {
		t.Errorf("after coming back: %s", said)
	}
	d.restart() // the new feed may have the same numbers, but its name differs
	if fr := d.listenWith("Authorization", "Bearer "+token, resumed).nextAny(); fr.Type != live.SnapshotFrame || fr.Feed == start.Feed {
		t.Errorf("the first frame from another process is a %s of feed %s", fr.Type, fr.Feed)
	}
}

// A reader of one channel's feed has not received the frames of other channels. If the reader
// resumes another feed, it starts with a snapshot.
func TestFeed_OtherFeedGetsSnapshot(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Live.Channels = func() []live.Channel {
			return []live.Channel{{ID: channelID, Login: "first"}, {ID: "8", Login: "second"}}
		}
	})
	start := d.listen().next(live.SnapshotFrame)
	d.say(spammer, 4)
	for _, test := range []struct {
		feed, channel string
		want          live.FrameType
	}{
		{start.Feed, channelID, live.ThrottledFrame},
		{start.Feed, "8", live.SnapshotFrame},
		{start.Feed, "", live.SnapshotFrame},
		{"", channelID, live.ThrottledFrame}, // without a feed's name, the number is trusted
		{"nothing", channelID, live.SnapshotFrame},
	} {
		more := fmt.Sprintf("&feed=%s&after=%d", test.feed, start.Seq)
		if fr := d.listenTo(test.channel, "Authorization", "Bearer "+token, more).nextAny(); fr.Type != test.want {
			t.Errorf("feed %q, channel %q: %s, want %s", test.feed, test.channel, fr.Type, test.want)
		}
	}
	for _, after := range []string{"garbage", "-1", "1.5", "99999999999999999999"} {
		d.wantProblem(after, "GET", "/api/v1/live?channel="+channelID+"&after="+after, nil, owned, 422, "whole number")
	}
}
