//go:build !race

package web

import (
	"strings"
	"testing"
)

// An error names the invalid key as it is in the JSON, and no message is counted.
func TestCheck_InvalidMessageIsNamed(t *testing.T) {
	d, asServer := runLobby(t)
	for _, c := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"user_id":"1"}`, 422, "channel is missing: the ID of the room that the message is for."},
		{`{"channel":"lobby"}`, 422, "user_id is missing: limits count by it. For anonymous users send something stable, such as their address."},
		{`{"channel":"lobby","user_id":null}`, 422, "user_id is missing: limits count"},
		{`{"channel":"lobby","user_id":""}`, 422, "user_id is missing: limits count"},
		{`{"channel":"lobby","user_id":7}`, 400, "That can't be read: user_id: want a text, found a number."},
		{`{"channel":["lobby"],"user_id":"1"}`, 400, "That can't be read: channel: want a text, found a list."},
		{`{"channel":"lobby","user_id":"1","user":"anna"}`, 400, `unknown key \"user\" (known: channel, user_id, id, login, display_name, roles, timezone, text, message_kind, cost, at, up_to).`},
		{`{"channel":"lobby","user_id":"1","roles":"vip"}`, 400, "roles: want a list, found a text."},
		{`{"channel":"lobby","user_id":"1","message_kind":1}`, 400, "message_kind: want a text, found a number."},
		{`{"channel":"lobby","user_id":"1","cost":0}`, 422, "cost is 0: want a whole number from 1 to 2147483647."},
		{`{"channel":"lobby","user_id":"1","cost":-1}`, 422, "cost is -1: want"},
		{`{"channel":"lobby","user_id":"1","cost":2147483648}`, 422, "cost is 2147483648: want"},
		{`{"channel":"lobby","user_id":"1","cost":1.5}`, 400, "cost: want a whole number, found 1.5."},
		{`{"channel":"lobby","user_id":"1","cost":true}`, 400, "cost: want a whole number, found true."},
		{`{"channel":"lobby","user_id":"1","at":"yesterday"}`, 400, `at: want RFC 3339 text or milliseconds since 1970, found \"yesterday\".`},
		{`{"channel":"lobby","user_id":"1","at":{}}`, 400, "at: want a text or a number, found an object."},
		{"{\"channel\":\"lobby\",\"user_id\":\"a\tb\"}", 400, `user_id: invalid character '\\t' in string (expecting non-control character) at byte 31.`},
		{`{"channel":"lobby","user_id":"1"`, 400, "That can't be read: it ends unexpectedly."},
		{`{"channel":"lobby","user_id":"1"}{}`, 400, "That can't be read: more than one JSON value."},
		{`{"channel":"lobby" "user_id":"1"}`, 400, `That can't be read: invalid character '\"' after object value (expecting ',' or '}') at byte 19.`},
		{`[]`, 400, "That can't be read: want an object, found a list."},
		{`null`, 400, "it is null"},
		{``, 400, "That can't be read: it ends unexpectedly."},
		{`{"channel":"lobby","user_id":"1","roles":[1]}`, 400, "roles[0]: want a text, found a number."},
		{`{"channel":"lobby","user_id":"1","at":1772395200}`, 400, "at: 1772395200 looks like seconds: want milliseconds since 1970."},
		{`{"channel":"lobby","user_id":"1","text":"` + strings.Repeat("x", 16<<20) + `"}`, 413, "more than the 16777216 bytes"},
		{`{"channel":"lobby","user_id":"1","text":` + strings.Repeat("[", 5<<20), 413, "more than the 4194304 bytes"},
	} {
		d.wantRefused("/api/v1/check", c.body, c.status, c.says, asServer)
	}
	for body, says := range map[string]string{
		`{"messages":{}}`:                    "want a list, found an object.",
		`{"channel":"lobby","user_id":"41"}`: `unknown key \"channel\" (known: messages)`,
		`{}`:                                 "messages is missing: it is a list of messages in the form of POST /check.",
		`{"messages":[` + strings.Repeat(`{"channel":"lobby","user_id":"41"},`, 1000) + `{"channel":"lobby","user_id":"41"}]}`: "A batch has at most 1000 messages",
	} {
		d.wantRefused("/api/v1/check/batch", body, 0, says, asServer)
	}
	d.wantRefused("/api/v1/check/batch", `{"messages":[{"channel":"hall","user_id":"41"}]}{}`, 400, "more than one JSON value", asServer)
	if n := d.guard.Memory().Users; n != 0 || len(d.server.Heard()) != 0 || len(d.server.Asked()) != 0 {
		t.Errorf("%d users were counted, in %q, and %q have a place", n, d.server.Heard(), d.server.Asked())
	}
}
