package faketwitch

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// stage is a channel with a message from a viewer and one from a moderator.
type stage struct {
	*Server
	t           *testing.T
	clock       *clock
	ann, mo     string // message IDs
	room, where string
}

func newStage(t *testing.T) *stage {
	st := &stage{t: t, clock: newClock()}
	st.Server = start(t, Options{Channels: []string{"room"}, Now: st.clock.Now, TokenLife: 2 * 365 * 24 * time.Hour})
	st.room = st.UserID("room")
	st.where = "?broadcaster_id=" + st.room + "&moderator_id=" + st.BotID()
	st.ann = st.say("ann", "")
	st.mo = st.say("mo", "lead_moderator/1")
	return st
}

func (st *stage) say(login, badges string) string {
	st.t.Helper()
	id, err := st.Say(Line{Channel: "room", Login: login, Badges: badges, Text: "hi"})
	must(st.t, err)
	return id
}

func (st *stage) expect(want int, method, path, body string) {
	st.t.Helper()
	if got, answer := ask(st.t, st.Server, method, path, body); got != want {
		st.t.Errorf("%s %s %s: %d %s, want %d", method, path, body, got, answer, want)
	}
}

func TestDelete(t *testing.T) {
	st := newStage(t)
	path := "/moderation/chat" + st.where + "&message_id="
	st.expect(404, "DELETE", path+"unknown", "")
	st.expect(400, "DELETE", path+st.mo, "")
	st.expect(204, "DELETE", path+st.ann, "")
	st.expect(404, "DELETE", path+st.ann, "")
	if d := st.Deletes(); len(d) != 1 || d[0].Message.ID != st.ann || st.Deleted() != 1 {
		t.Errorf("recorded %+v", d)
	}
	if _, ok := st.Message(st.ann); ok {
		t.Error("a deleted message can still be seen")
	}
	old := st.say("ann", "")
	st.clock.advance(6*time.Hour + 1)
	st.expect(404, "DELETE", path+old, "")

	if len(st.Clears()) != 0 || len(st.Messages(st.room)) != 2 {
		t.Error("cleared too early")
	}
	st.expect(204, "DELETE", path, "")
	if len(st.Clears()) != 1 || len(st.Messages(st.room)) != 0 {
		t.Error("a delete without a message ID has to clear the chat, as Twitch does, and to be recorded as that")
	}
}

func TestBans(t *testing.T) {
	st := newStage(t)
	path, ann, mo := "/moderation/bans"+st.where, st.UserID("ann"), st.UserID("mo")
	body := func(user, more string) string { return `{"data":{"user_id":"` + user + `"` + more + `}}` }
	st.expect(400, "POST", path, "no JSON")
	st.expect(400, "POST", path, body("", ""))
	st.expect(400, "POST", path, body(ann, `,"duration":0`))
	st.expect(400, "POST", path, body(ann, `,"duration":1209601`))
	st.expect(400, "POST", path, body(ann, `,"reason":"`+strings.Repeat("a", 501)+`"`))
	st.expect(400, "POST", path, body(mo, `,"duration":5`))
	st.expect(400, "POST", path, body(mo, ""))
	st.expect(400, "POST", path, body(st.room, ""))
	st.expect(400, "DELETE", path+"&user_id="+ann, "")

	st.expect(200, "POST", path, body(ann, `,"duration":60,"reason":"slow down"`))
	if m := st.Messages(st.room); len(m) != 1 || m[0].ID != st.mo {
		t.Errorf("after the timeout: %+v", m)
	}
	if _, err := st.Say(Line{Channel: "room", Login: "ann", Text: "hi"}); !errors.Is(err, ErrSilenced) {
		t.Errorf("in timeout: %v", err)
	}
	st.clock.advance(time.Minute)
	st.say("ann", "")

	st.expect(200, "POST", path, body(ann, ""))
	st.expect(400, "POST", path, body(ann, ""))
	st.expect(400, "POST", path, body(ann, `,"duration":60`))
	st.clock.advance(365 * 24 * time.Hour)
	if _, err := st.Say(Line{Channel: "room", Login: "ann", Text: "hi"}); !errors.Is(err, ErrSilenced) {
		t.Errorf("banned: %v", err)
	}
	st.expect(204, "DELETE", path+"&user_id="+ann, "")
	st.say("ann", "")
	if b := st.Bans(); len(b) != 2 || b[0].Length != time.Minute || b[0].Reason != "slow down" || b[1].Length != 0 || b[1].UserID != ann {
		t.Errorf("recorded %+v", b)
	}
}

func TestWarnings(t *testing.T) {
	st := newStage(t)
	path, ann := "/moderation/warnings"+st.where, st.UserID("ann")
	st.expect(400, "POST", path, `{"data":{"user_id":"`+ann+`","reason":""}}`)
	st.expect(400, "POST", path, `{"data":{"user_id":"`+ann+`","reason":"`+strings.Repeat("a", 501)+`"}}`)
	st.expect(400, "POST", path, `{"data":{"user_id":"`+st.UserID("mo")+`","reason":"slow down"}}`)
	st.expect(400, "POST", path, `{"data":{"reason":"slow down"}}`)
	st.expect(200, "POST", path, `{"data":{"user_id":"`+ann+`","reason":"slow down"}}`)
	for _, acknowledged := range []string{"mo", "ann"} {
		if _, err := st.Say(Line{Channel: "room", Login: "ann", Text: "hi"}); !errors.Is(err, ErrWarned) {
			t.Errorf("before the warning is acknowledged: %v", err)
		}
		st.Acknowledge("room", acknowledged)
	}
	st.say("ann", "")
	if w := st.Warnings(); len(w) != 1 || w[0].UserID != ann || w[0].Reason != "slow down" || w[0].ChannelID != st.room {
		t.Errorf("recorded %+v", w)
	}
}

// TestRecord_Bounded checks that only the newest entries are kept, so that the server can run for
// days.
func TestRecord_Bounded(t *testing.T) {
	var list []int
	var l chatLog
	for n := range 3 * keep {
		add(&list, n)
		l.add(Message{})
	}
	if len(list) < keep || len(list) > 2*keep || list[len(list)-1] != 3*keep-1 {
		t.Errorf("%d kept", len(list))
	}
	if len(l.order) < keep || len(l.order) > 2*keep || len(l.byID) != len(l.order) || l.said != 3*keep {
		t.Errorf("%d messages kept, %d by ID, of %d", len(l.order), len(l.byID), l.said)
	}
}
