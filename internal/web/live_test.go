package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// listener reads a live feed.
type listener struct {
	*dashboard
	ctx  context.Context
	conn *websocket.Conn
}

// dial opens the live feed of a channel; more is added to its query.
func (d *dashboard) dial(channel string, headers http.Header, more string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return websocket.Dial(ctx, "ws://"+d.address+"/api/v1/live?channel="+channel+more,
		&websocket.DialOptions{HTTPClient: d.client, HTTPHeader: headers})
}

// listen opens the live feed with a session's cookie.
func (d *dashboard) listen() *listener {
	d.Helper()
	return d.listenWith("Cookie", d.signedIn(map[string]string{"code": "good-code"}).String(), "")
}

// listenWith opens the live feed with a header.
func (d *dashboard) listenWith(header, value, more string) *listener {
	d.Helper()
	return d.listenTo(channelID, header, value, more)
}

// listenTo opens the live feed of a channel with a header.
func (d *dashboard) listenTo(channel, header, value, more string) *listener {
	d.Helper()
	conn, _, err := d.dial(channel, http.Header{header: {value}}, more)
	if err != nil {
		d.Fatal(err)
	}
	conn.SetReadLimit(-1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	d.Cleanup(func() { conn.CloseNow(); cancel() })
	return &listener{d, ctx, conn}
}

// listenAgain opens another feed, as somebody else.
func (d *dashboard) listenAgain() *listener {
	d.Helper()
	d.store.addCode("good-code", "ben")
	return d.listen()
}

// next returns the next frame of a type.
func (l *listener) next(kind frameType) frame {
	l.Helper()
	for {
		if fr := l.any(); fr.Type == kind {
			return fr
		}
	}
}

// any returns the next frame.
func (l *listener) any() (fr frame) {
	l.Helper()
	_, data, err := l.conn.Read(l.ctx)
	if err == nil {
		err = json.Unmarshal(data, &fr)
	}
	if err != nil {
		l.Fatalf("waiting for a frame: %v, %s", err, data)
	}
	return fr
}

// closed reads until the feed ends, and returns why.
func (l *listener) closed() websocket.StatusCode {
	for {
		if _, _, err := l.conn.Read(l.ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func TestTheFeedTellsEveryChange(t *testing.T) {
	d := dash(t)
	d.say(chatguard.User{ID: "41", Login: "earlier"}, 4)
	l := d.listen()
	start := l.next(snapshotFrame)
	if len(start.Users) != 1 || start.Users[0].Login != "earlier" || start.Status == nil || start.Policy == nil {
		t.Errorf("snapshot %+v", start)
	}

	v := d.say(spammer, 4)
	fr := l.next(throttledFrame)
	if len(fr.Users) != 1 || fr.Users[0].UserID != spammer.ID || fr.Users[0].Outcome.Result != journal.Pending || fr.Seq <= start.Seq {
		t.Errorf("throttled %+v", fr)
	}
	d.server.Report(journal.Outcome{Entry: v.EntryID, Action: chatguard.Delete, Result: journal.Done})
	if fr := l.next(throttledFrame); fr.Users[0].Outcome.Result != journal.Done {
		t.Errorf("outcome %+v", fr)
	}
	for l.next(statusFrame).Status.MessagesLastMinute != 8 {
	}
	a := d.put(burst(4))
	isTold, gone := false, map[string]bool{}
	for !isTold || !gone["41"] || !gone[spammer.ID] { // in any order
		switch fr := l.any(); fr.Type {
		case policyFrame:
			isTold = true
			if fr.Policy.ETag != a.Header.Get("ETag") || fr.Policy.Revision.Author != owner {
				t.Errorf("policy %+v", fr.Policy)
			}
		case throttledFrame:
			for _, id := range fr.Gone {
				gone[id] = true
			}
		}
	}
}

func TestTheFeedTellsWhatIsSaved(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	l := d.listen()
	if fr := l.next(snapshotFrame); !fr.Policy.Saved {
		t.Error("nobody has changed anything, and the policy is told to be unsaved")
	}
	d.put(burst(9))
	if fr := l.next(policyFrame); fr.Policy.Saved || fr.Policy.Revision.Author != owner {
		t.Errorf("while the database fails: %+v", fr.Policy)
	}
	if fr := d.listenAgain().next(snapshotFrame); fr.Policy.Saved {
		t.Errorf("to whoever comes later: %+v", fr.Policy)
	}
	if db := l.next(statusFrame).Status.Database; db.State != DatabaseFailing || db.Detail != diskFull || db.Since.IsZero() || db.Queued != 1204 || db.Dropped != 3 {
		t.Errorf("the database: %+v", db)
	}
	d.mendDatabase()
	if fr := l.next(policyFrame); !fr.Policy.Saved || fr.Policy.ETag != policyTag(d.guard.Policy(channelID)) {
		t.Errorf("mended: %+v", fr.Policy)
	}
	if fr := d.listenAgain().next(snapshotFrame); !fr.Policy.Saved {
		t.Errorf("mended, to whoever comes later: %+v", fr.Policy)
	}
}

func TestARevokedSessionEndsItsFeed(t *testing.T) {
	d := dash(t)
	l := d.listen()
	l.next(snapshotFrame)
	d.store.revoke()
	if code := l.closed(); code != signedOut {
		t.Errorf("closed with %d", code)
	}
}

func TestStoppingEndsTheFeed(t *testing.T) {
	d := dash(t)
	l := d.listen()
	l.next(snapshotFrame)
	go d.stop()
	if code := l.closed(); code != websocket.StatusGoingAway {
		t.Errorf("closed with %d", code)
	}
}

func TestAnotherOriginGetsNoFeed(t *testing.T) {
	d := dash(t)
	c := d.signedIn(map[string]string{"code": "good-code"})
	conn, response, err := d.dial(channelID, http.Header{"Cookie": {c.String()}, "Origin": {"http://evil.example"}}, "")
	if err == nil {
		conn.CloseNow()
		t.Fatal("another origin has the live feed")
	}
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("refused with %s", response.Status)
	}
}

// joined is a new reader of a feed.
func joined(t *testing.T, f *feed, channel string) *reader {
	t.Helper()
	return joinedAfter(t, f, channel, 0)
}

// joinedAfter is a reader of a feed who has seen everything up to a frame.
func joinedAfter(t *testing.T, f *feed, channel string, after uint64) *reader {
	t.Helper()
	status := func() frame { return frame{Type: statusFrame} }
	r, err := f.resume(channel, seen{f.name(channel), after}, func() []frame { return nil }, status)
	if r == nil && err == nil {
		r, err = f.begin(channel, snapshot{f.at(), []byte(fmt.Sprintf(`{"type":"snapshot","seq":%d}`, f.at()))}, status)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASlowReaderIsDropped(t *testing.T) {
	f := newFeed(noon)
	slow := joined(t, f, "")
	for range readerBuffer + 1 { // one too many
		if err := f.publish(func() []frame { return []frame{{Type: throttledFrame, Channel: channelID}} }); err != nil {
			t.Fatal(err)
		}
	}
	frames := 0
	for range slow.frames {
		frames++
	}
	if frames != readerBuffer+2 || f.len() != 0 { // with the snapshot and the status
		t.Errorf("the slow reader has %d frames, and %d readers are left", frames, f.len())
	}
	f.leave(slow) // dropped already: does nothing
}

func TestAFeedOfOneChannelLeavesOutTheOthers(t *testing.T) {
	f := newFeed(noon)
	one := joined(t, f, "1")
	all := joined(t, f, "")
	err := f.publish(func() []frame {
		return []frame{{Type: throttledFrame, Channel: "1"}, {Type: throttledFrame, Channel: "2"}}
	})
	if err != nil || len(one.frames) != 3 || len(all.frames) != 4 {
		t.Errorf("%v; channel 1 has %d frames, all have %d", err, len(one.frames), len(all.frames))
	}
	f.close()
	if r, err := f.begin("", snapshot{}, nil); r != nil || !errors.Is(err, errFeedEnded) {
		t.Errorf("a closed feed was joined: %v", err)
	}
}

func TestStoppingDoesntWaitForReadersThatDontRead(t *testing.T) {
	d := dash(t)
	d.listen() // and never reads
	start := time.Now()
	d.stop()
	if took := time.Since(start); took > 4*time.Second { // a goodbye that is waited for takes 5 s
		t.Errorf("stopping took %s", took)
	}
}

func TestTheFeedTellsTheChannels(t *testing.T) {
	l := dash(t).listen()
	for _, fr := range []frame{l.next(snapshotFrame), l.next(statusFrame)} {
		if len(fr.Channels) != 1 || fr.Channels[0].ID != channelID {
			t.Errorf("frame %+v", fr)
		}
	}
}
