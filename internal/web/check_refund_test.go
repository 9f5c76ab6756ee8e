//go:build !race

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
)

// A verdict that is sent back as it came gives back what its message spent, in all limits: the
// user's own, the room's, and those across all rooms.
func TestCheckRefund_GivesBack(t *testing.T) {
	for name, limit := range map[string]chatguard.Limit{
		"of the user":        chatguard.FixedWindowLimit("few", 2, time.Hour),
		"of the room":        {Name: "few", Algorithm: chatguard.FixedWindow, Messages: 2, Every: time.Hour, Per: chatguard.PerChannel},
		"of the text":        {Name: "few", Algorithm: chatguard.FixedWindow, Messages: 2, Every: time.Hour, Per: chatguard.PerText},
		"of the user's text": {Name: "few", Algorithm: chatguard.FixedWindow, Messages: 2, Every: time.Hour, Per: chatguard.PerUserText, Similar: true},
		"over all rooms":     {Name: "few", Algorithm: chatguard.FixedWindow, Messages: 2, Every: time.Hour, Per: chatguard.PerUserEverywhere},
	} {
		t.Run(name, func(t *testing.T) {
			d, asServer := runLobby(t, setCheckSpace, addLimits(t, limit))
			said := checkForm{Channel: lobby, UserID: "41", Cost: 2, Text: "join my channel, it is the best"}
			spent, _ := d.check(said, http.StatusOK, asServer)
			throttled, _ := d.check(said, http.StatusTooManyRequests, asServer)
			d.refund(throttled.body, asServer)
			d.check(said, http.StatusTooManyRequests, asServer)
			d.refund(spent.body, asServer)
			d.check(said, http.StatusOK, asServer)
			d.check(said, http.StatusTooManyRequests, asServer)
		})
	}
}

// A part of the cost that was spent with up_to is given back as that part. A message that counted
// later than it was sent is given back at the time when it counted.
func TestCheckRefund_PartAndLate(t *testing.T) {
	d, asServer := runLobby(t)
	said := checkForm{Channel: lobby, UserID: "41", Cost: 5, UpTo: true}
	a, v := d.check(said, http.StatusOK, asServer)
	d.refund(a.body, asServer)
	if a, v = d.check(said, http.StatusOK, asServer); v.Taken != 3 {
		t.Errorf("%s", a.body)
	}

	d.check(checkForm{Channel: "hall", UserID: "41"}, http.StatusOK, asServer)
	late := checkForm{Channel: "hall", UserID: "41", Cost: 2, At: d.now().Add(-30 * time.Second)}
	a, _ = d.check(late, http.StatusOK, asServer)
	d.refund(a.body, asServer)
	if a, v = d.check(late, http.StatusOK, asServer); *v.Remaining != 0 || !strings.Contains(string(a.body), `"late_ns":30000000000`) {
		t.Errorf("%s", a.body)
	}
}

// The error names what is wrong, and nothing is given back.
func TestCheckRefund_InvalidVerdictIsNamed(t *testing.T) {
	d, asServer := runLobby(t, setCheckSpace)
	const at = `"at":"2026-03-01T20:00:00Z"`
	for _, c := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"user_id":"41","spent":1,` + at + `}`, 422, "channel is missing"},
		{`{"channel":"lobby","spent":1,` + at + `}`, 422, "user_id is missing"},
		{`{"channel":"lobby","user_id":"41",` + at + `}`, 422, "spent is missing: how much to give back, as the verdict says."},
		{`{"channel":"lobby","user_id":"41","spent":1}`, 422, "at is missing: the time in the verdict."},
		{`{"channel":"lobby","user_id":"41","spent":-1,` + at + `}`, 422, "spent is -1: want a whole number from 0 to 2147483647."},
		{`{"channel":"lobby","user_id":"41","spent":2147483648,` + at + `}`, 422, "spent is 2147483648: want"},
		{`{"channel":"lobby","user_id":"41","spent":1.5,` + at + `}`, 400, "spent: want a whole number, found 1.5."},
		{`{"channel":"lobby","user_id":"41","spent":1,"late_ns":-1,` + at + `}`, 422, "late_ns is -1: want a whole number from 0."},
		{`{"channel":"lobby","user_id":"41","spent":1,"late_ns":"1s",` + at + `}`, 400, "late_ns: want a whole number, found a text."},
		{`{"channel":"lobby","user_id":"41","spent":1,"at":"yesterday"}`, 400, "at: want RFC 3339 text or milliseconds since 1970"},
		{`{"channel":"lobby","user_id":"41","spent":1,"at":-1}`, 422, "message can't be judged: the time is before 1970"},
		{`{"channel":"lobby","user_id":"41","spent":1,"allowed":1,` + at + `}`, 400, "allowed: want true or false, found a number."},
		{`{"channel":"lobby","user_id":"41","spent":1,"late_ns":9223372036854775807,` + at + `}`, 422, "message can't be judged: the time is before 1970 or after February 2116."},
		{`{"channel":"lobby","user_id":"41","spent":1,"text_print":"AAAA",` + at + `}`, 422, "text_print isn't that of a verdict."},
		{`{"verdicts":[]}`, 422, "at is missing"},
		{`[]`, 400, "want an object, found a list."},
	} {
		d.wantRefused("/api/v1/check/refund", c.body, c.status, c.says, asServer)
	}
	if asked := d.server.Asked(); len(asked) != 0 {
		t.Errorf("%q have a place", asked)
	}
}

// A refund changes only users of other chats' servers, opens no more rooms than a check may, and
// needs a token that may check.
func TestCheckRefund_Bounded(t *testing.T) {
	d, asServer := runLobby(t, setCheckSpace)
	v := d.say(chatguard.User{ID: "41"}, 3)
	foreign := refundForm{Channel: channelID, UserID: "41", At: v.At, Spent: 3}
	d.wantStatus("/api/v1/check/refund", http.StatusNoContent, "POST", "/api/v1/check/refund", foreign, asServer)
	if v := d.say(chatguard.User{ID: "41"}, 1); v.Allowed {
		t.Errorf("the user of the other chat: %+v", v)
	}
	if asked := d.server.Asked(); fmt.Sprint(asked) != "[check:"+channelID+"]" {
		t.Errorf("%q have a place", asked)
	}
	d.wantStatus("/api/v1/check/refund", http.StatusForbidden, "POST", "/api/v1/check/refund", foreign, setBearer(d.newToken(auth.Moderate)))
}
