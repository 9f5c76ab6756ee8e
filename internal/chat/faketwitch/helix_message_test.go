package faketwitch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// send sends a message as the bot. It returns the status, and the reason if the message was
// dropped.
func (st *stage) send(room, text string) (status int, dropped string) {
	st.t.Helper()
	body, err := json.Marshal(map[string]string{"broadcaster_id": room, "sender_id": st.BotID(), "message": text, "reply_parent_message_id": st.ann})
	must(st.t, err)
	status, answer := ask(st.t, st.Server, "POST", "/chat/messages", string(body))
	var told struct {
		Data []struct {
			Sent   bool `json:"is_sent"`
			Reason struct {
				Code string `json:"code"`
			} `json:"drop_reason"`
		} `json:"data"`
	}
	must(st.t, json.Unmarshal([]byte(answer), &told))
	if len(told.Data) == 1 && !told.Data[0].Sent {
		return status, told.Data[0].Reason.Code
	}
	return status, ""
}

// TestSend checks that a message from the bot appears in the chat.
func TestSend(t *testing.T) {
	st := newStage(t)
	reader := dial(t, st.Server, append(anonymous, "JOIN #room")...)
	must(t, st.WaitJoined(t.Context(), 1))
	for text, want := range map[string]int{"": 400, "two\nlines": 400, strings.Repeat("ä", 501): 422, strings.Repeat("ä", 500): 200} {
		if got, _ := st.send(st.room, text); got != want {
			t.Errorf("%.20q: %d, want %d", text, got, want)
		}
	}
	if got := reader.readUntil("PRIVMSG"); !strings.Contains(got, "badges=moderator/1;") || !strings.Contains(got, " :"+st.BotLogin()+"!") || !strings.HasSuffix(got, "ää") {
		t.Errorf("read %s", got)
	}
	sent := st.Sent()
	if len(sent) != 1 || sent[0].ReplyTo != st.ann || sent[0].ChannelID != st.room || sent[0].UserID != st.BotID() || !sent[0].At.Equal(st.clock.Now()) {
		t.Fatalf("recorded %+v", sent)
	}
	if _, ok := st.Message(sent[0].MessageID); !ok {
		t.Error("it can't be seen")
	}
	st.expect(401, "POST", "/chat/messages", `{"broadcaster_id":"`+st.room+`","sender_id":"5","message":"hi"}`)
	st.expect(400, "POST", "/chat/messages", `{"broadcaster_id":"5","sender_id":"`+st.BotID()+`","message":"hi"}`)
	st.expect(400, "POST", "/chat/messages", `no JSON`)
}

// TestSend_Drops checks that a 200 can report a dropped message: one with the same text within 30
// s, or one within a second of another in its channel.
func TestSend_Drops(t *testing.T) {
	st := newStage(t)
	den := st.AddChannel("den")
	for n, step := range []struct {
		after time.Duration
		room  string
		text  string
		want  string
	}{
		{0, st.room, "a", ""},
		{sendGap - 1, st.room, "b", "msg_ratelimit"},
		{0, den, "b", ""},
		{1, st.room, "b", ""},
		{time.Second, st.room, "a", "msg_duplicate"},
		{time.Second, den, "a", ""},
		{sendPeriod - 2*time.Second - sendGap - 1, st.room, "a", "msg_duplicate"},
		{1, st.room, "a", ""},
	} {
		st.clock.advance(step.after)
		if status, dropped := st.send(step.room, step.text); status != 200 || dropped != step.want {
			t.Errorf("step %d, %q, is answered %d %q, want %q", n, step.text, status, dropped, step.want)
		}
	}
}

// TestSend_TooMuch checks that an account that sends more than Twitch allows in 30 s is ignored for
// 30 minutes in every channel.
func TestSend_TooMuch(t *testing.T) {
	for name, c := range map[string]struct {
		moderates bool
		most      int
	}{"as a user": {false, 20}, "as a moderator": {true, 100}} {
		st := newStage(t)
		rooms := []string{st.room}
		for n := range 4 {
			rooms = append(rooms, st.AddChannel(fmt.Sprint("room", n)))
			st.SetBotModerator(fmt.Sprint("room", n), c.moderates)
		}
		st.SetBotModerator("room", c.moderates)
		expect := func(n int, want string) {
			t.Helper()
			if status, dropped := st.send(rooms[n%5], fmt.Sprint("line ", n)); status != 200 || dropped != want {
				t.Errorf("%s: line %d is answered %d %q, want %q", name, n, status, dropped, want)
			}
			st.clock.advance(time.Second / 5)
		}
		for n := range c.most {
			expect(n, "")
		}
		for n := range 5 {
			expect(c.most+n, "msg_ratelimit")
		}
		st.clock.advance(sendBan - 2*time.Second)
		expect(500, "msg_ratelimit")
		st.clock.advance(time.Second)
		expect(500, "")
		if got := len(st.Sent()); got != c.most+1 {
			t.Errorf("%s: %d sent, want %d", name, got, c.most+1)
		}
	}
}

// TestSend_DropsOfUsers checks that slow mode and timeouts also apply to a bot that isn't a
// moderator.
func TestSend_DropsOfUsers(t *testing.T) {
	st := newStage(t)
	st.expect(200, "PATCH", "/chat/settings"+st.where, `{"slow_mode":true,"slow_mode_wait_time":30}`)
	st.expect(200, "POST", "/moderation/bans"+st.where, `{"data":{"user_id":"`+st.BotID()+`","duration":600}}`)
	st.SetBotModerator("room", false)
	for _, step := range []struct {
		after time.Duration
		text  string
		want  string
	}{{0, "a", "msg_timedout"}, {10 * time.Minute, "b", ""}, {time.Second, "c", "msg_slowmode"}, {30 * time.Second, "c", ""}} {
		st.clock.advance(step.after)
		if _, dropped := st.send(st.room, step.text); dropped != step.want {
			t.Errorf("%s: %q, want %q", step.text, dropped, step.want)
		}
	}
}
