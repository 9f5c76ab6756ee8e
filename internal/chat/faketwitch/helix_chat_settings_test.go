package faketwitch

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSlowMode_OnRequest checks that slow mode is set only within Twitch's limits. The change is
// returned to the client and recorded.
func TestSlowMode_OnRequest(t *testing.T) {
	st := newStage(t)
	path := "/chat/settings" + st.where
	st.expect(400, "PATCH", path, `{}`)
	st.expect(400, "PATCH", path, `no JSON`)
	st.expect(400, "PATCH", path, `{"slow_mode":true,"slow_mode_wait_time":2}`)
	st.expect(400, "PATCH", path, `{"slow_mode":true,"slow_mode_wait_time":121}`)
	st.expect(400, "PATCH", path, `{"slow_mode":false,"slow_mode_wait_time":30}`)
	st.expect(404, "GET", "/chat/settings?broadcaster_id=5", "")
	for _, step := range []struct{ set, told string }{
		{`{"slow_mode":true,"slow_mode_wait_time":3}`, `"slow_mode":true,"slow_mode_wait_time":3,`},
		{`{"slow_mode":true,"slow_mode_wait_time":120}`, `"slow_mode":true,"slow_mode_wait_time":120,`},
		{`{"slow_mode":true}`, `"slow_mode":true,"slow_mode_wait_time":30,`},
		{`{"slow_mode":false,"slow_mode_wait_time":null}`, `"slow_mode":false,"slow_mode_wait_time":null,`},
	} {
		st.expect(200, "PATCH", path, step.set)
		if status, told := ask(t, st.Server, "GET", "/chat/settings?broadcaster_id="+st.room, ""); status != 200 || !strings.Contains(told, step.told) {
			t.Errorf("after %s: %d %s", step.set, status, told)
		}
	}
	want := []SlowMode{
		{st.clock.Now(), st.room, true, 3 * time.Second}, {st.clock.Now(), st.room, true, 2 * time.Minute}, {st.clock.Now(), st.room, true, 30 * time.Second}, {st.clock.Now(), st.room, false, 0},
	}
	got := st.SlowModes()
	if len(got) != len(want) {
		t.Fatalf("recorded %+v", got)
	}
	for n := range want {
		if got[n] != want[n] {
			t.Errorf("recorded %+v, want %+v", got[n], want[n])
		}
	}
	st.SetBotModerator("room", false)
	st.expect(403, "PATCH", path, `{"slow_mode":false}`)
}

// TestSlowMode checks that ordinary users have to wait between their own messages, and that
// moderators, the broadcaster and VIPs don't.
func TestSlowMode(t *testing.T) {
	st := newStage(t)
	st.expect(200, "PATCH", "/chat/settings"+st.where, `{"slow_mode":true,"slow_mode_wait_time":30}`)
	for _, step := range []struct {
		after         time.Duration
		login, badges string
		want          error
	}{
		{0, "ann", "", nil}, {29 * time.Second, "ann", "subscriber/12", ErrSlow}, {0, "bea", "", nil}, {time.Second, "ann", "", nil},
		{0, "mo", "moderator/1", nil}, {0, "mo", "moderator/1", nil}, {0, "vi", "vip/1", nil}, {0, "vi", "vip/1", nil}, {0, "bea", "", ErrSlow},
	} {
		st.clock.advance(step.after)
		if _, err := st.Say(Line{Channel: "room", Login: step.login, Badges: step.badges, Text: "hi"}); !errors.Is(err, step.want) {
			t.Errorf("%s %s: %v, want %v", step.login, step.badges, err, step.want)
		}
	}
	st.expect(200, "PATCH", "/chat/settings"+st.where, `{"slow_mode":false}`)
	st.say("bea", "")
}
