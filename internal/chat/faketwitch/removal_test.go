package faketwitch

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestRemoval_Announced checks that the channel's readers are notified of removals in Twitch's
// format, whether they are made through Helix or by another moderator.
func TestRemoval_Announced(t *testing.T) {
	st := newStage(t)
	reader, elsewhere := dial(t, st.Server, append(anonymous, "JOIN #room")...), dial(t, st.Server, anonymous...)
	must(t, st.WaitJoined(t.Context(), 1))
	chat, bans, ann := "/moderation/chat"+st.where+"&message_id=", "/moderation/bans"+st.where, st.UserID("ann")
	delete := "@login=ann;room-id=;target-msg-id=%s;tmi-sent-ts=1772395200000 :tmi.twitch.tv CLEARMSG #room :hi"
	timeout := "@ban-duration=60;room-id=" + st.room + ";target-user-id=" + ann + ";tmi-sent-ts=1772395200000 :tmi.twitch.tv CLEARCHAT #room :ann"
	ban := strings.Replace(timeout, "ban-duration=60;", "", 1)
	lift := func() { st.expect(204, "DELETE", bans+"&user_id="+ann, "") }
	for _, step := range []struct {
		name string
		do   func(id string)
		want string
	}{
		{"delete", func(id string) { st.expect(204, "DELETE", chat+id, "") }, delete},
		{"timeout", func(string) { st.expect(200, "POST", bans, `{"data":{"user_id":"`+ann+`","duration":60}}`) }, timeout},
		{"ban", func(string) { st.expect(200, "POST", bans, `{"data":{"user_id":"`+ann+`"}}`) }, ban},
		{"clear", func(string) { st.expect(204, "DELETE", chat, "") }, "@room-id=" + st.room + ";tmi-sent-ts=1772395200000 :tmi.twitch.tv CLEARCHAT #room"},
		{"another's delete", st.RemoveMessage, delete},
		{"another's timeout", func(string) { st.Silence("room", "ann", time.Minute) }, timeout},
		{"another's ban", func(string) { st.Silence("room", "ann", 0) }, ban},
		{"another's clear", func(string) { st.Clear("room") }, "@room-id=" + st.room + ";tmi-sent-ts=1772395200000 :tmi.twitch.tv CLEARCHAT #room"},
	} {
		id := st.say("ann", "")
		step.do(id)
		want := strings.Replace(step.want, "%s", id, 1)
		if got := reader.readUntil("CLEAR"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", step.name, got, want)
		}
		if _, seen := st.Message(id); seen {
			t.Errorf("%s: the message can still be seen", step.name)
		}
		if _, err := st.Say(Line{Channel: "room", Login: "ann", Text: "hi"}); errors.Is(err, ErrSilenced) != (step.want == timeout || step.want == ban) {
			t.Errorf("%s: %v", step.name, err)
		} else if err != nil {
			lift()
		}
	}
	st.RemoveMessage("unknown")
	st.Silence("nowhere", "ann", 0)
	st.Clear("nowhere")
	if answer := elsewhere.ask("JOIN #room"); strings.Contains(answer, "CLEAR") {
		t.Errorf("somebody who isn't in the channel was told: %s", answer)
	}
	if len(st.Clears()) != 1 || len(st.Bans()) != 2 || st.Deleted() != 1 {
		t.Error("what others did isn't to be recorded as asked for")
	}
}
