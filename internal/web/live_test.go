package web

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/live"
)

// listener reads a live feed.
type listener struct {
	*dashboard
	conn *websocket.Conn
}

// dial opens the live feed of a channel. more is added to its query.
func (d *dashboard) dial(channel string, headers http.Header, more string) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(d.Context(), "ws://"+d.address+"/api/v1/live?channel="+channel+more,
		&websocket.DialOptions{HTTPClient: d.client, HTTPHeader: headers})
}

// listen opens the live feed with a session cookie.
func (d *dashboard) listen() *listener {
	d.Helper()
	return d.listenWith("Cookie", d.signIn(map[string]string{"code": "good-code"}).String(), "")
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
	d.Cleanup(func() { conn.CloseNow() })
	return &listener{d, conn}
}

// listenAgain opens another feed as a different user.
func (d *dashboard) listenAgain() *listener {
	d.Helper()
	d.store.addCode("good-code", "ben")
	return d.listen()
}

// next returns the next frame of a type.
func (l *listener) next(kind live.FrameType) live.Frame {
	l.Helper()
	for {
		if fr := l.nextAny(); fr.Type == kind {
			return fr
		}
	}
}

// nextAny returns the next frame, whatever its type.
func (l *listener) nextAny() (fr live.Frame) {
	l.Helper()
	_, data, err := l.conn.Read(l.Context())
	if err == nil {
		err = json.Unmarshal(data, &fr)
	}
	if err != nil {
		l.Fatalf("waiting for a frame: %v, %s", err, data)
	}
	return fr
}

// waitClosed reads until the feed ends and returns the closing status.
func (l *listener) waitClosed() websocket.StatusCode {
	for {
		if _, _, err := l.conn.Read(l.Context()); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// released returns the IDs of the users who are no longer throttled, according to a frame.
func released(fr live.Frame) (ids []string) {
	for _, u := range fr.Users {
		if !u.Held {
			ids = append(ids, u.UserID)
		}
	}
	return ids
}

func TestLive_EveryChange(t *testing.T) {
	d := dash(t)
	d.say(chatguard.User{ID: "41", Login: "earlier"}, 4)
	l := d.listen()
	start := l.next(live.SnapshotFrame)
	if len(start.Users) != 1 || start.Users[0].Login != "earlier" || start.Status == nil || start.Policy == nil {
		t.Errorf("snapshot %+v", start)
	}

	v := d.say(spammer, 4)
	fr := l.next(live.ThrottledFrame)
	if len(fr.Users) != 1 || fr.Users[0].UserID != spammer.ID || fr.Users[0].Outcome.Result != journal.Pending || fr.Seq <= start.Seq {
		t.Errorf("throttled %+v", fr)
	}
	d.server.Report(journal.Outcome{Entry: v.EntryID, Action: chatguard.ActionDelete, Result: journal.Done})
	if fr := l.next(live.ThrottledFrame); fr.Users[0].Outcome.Result != journal.Done {
		t.Errorf("outcome %+v", fr)
	}
	for l.next(live.StatusFrame).Status.MessagesLastMinute != 8 {
	}
	a := d.put(burst(4))
	isTold, gone := false, map[string]bool{}
	for !isTold || !gone["41"] || !gone[spammer.ID] { // in any order
		switch fr := l.nextAny(); fr.Type {
		case live.PolicyFrame:
			isTold = true
			if fr.Policy.ETag != a.Header.Get("ETag") || fr.Policy.Revision.Author != auth.OwnerName {
				t.Errorf("policy %+v", fr.Policy)
			}
		case live.ThrottledFrame:
			for _, id := range released(fr) {
				gone[id] = true
			}
		}
	}
}

func TestLive_Saved(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	l := d.listen()
	if fr := l.next(live.SnapshotFrame); !fr.Policy.Saved {
		t.Error("without a change, the policy is reported as unsaved")
	}
	d.put(burst(9))
	if fr := l.next(live.PolicyFrame); fr.Policy.Saved || fr.Policy.Revision.Author != auth.OwnerName {
		t.Errorf("while the database fails: %+v", fr.Policy)
	}
	if fr := d.listenAgain().next(live.SnapshotFrame); fr.Policy.Saved {
		t.Errorf("to a later listener, while the database fails: %+v", fr.Policy)
	}
	if db := l.next(live.StatusFrame).Status.Database; db.State != journal.DatabaseFailing || db.Detail != diskFull || db.Since.IsZero() || db.Queued != 1204 || db.Dropped != 3 {
		t.Errorf("the database: %+v", db)
	}
	d.repairDatabase()
	if fr := l.next(live.PolicyFrame); !fr.Policy.Saved || fr.Policy.ETag != policies.Tag(d.guard.ChannelPolicy(channelID)) {
		t.Errorf("after the repair: %+v", fr.Policy)
	}
	if fr := d.listenAgain().next(live.SnapshotFrame); !fr.Policy.Saved {
		t.Errorf("to a later listener, after the repair: %+v", fr.Policy)
	}
}

func TestLive_StopEndsFeed(t *testing.T) {
	d := dash(t)
	l := d.listen()
	l.next(live.SnapshotFrame)
	go d.stop()
	if code := l.waitClosed(); code != websocket.StatusGoingAway {
		t.Errorf("closed with %d", code)
	}
}

func TestLive_OtherOriginRefused(t *testing.T) {
	d := dash(t)
	c := d.signIn(map[string]string{"code": "good-code"})
	conn, response, err := d.dial(channelID, http.Header{"Cookie": {c.String()}, "Origin": {"http://evil.example"}}, "")
	if err == nil {
		conn.CloseNow()
		t.Fatal("another origin has the live feed")
	}
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("refused with %s", response.Status)
	}
}
