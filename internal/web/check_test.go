package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// lobby is a room of another chat's server.
const lobby = "lobby"

// runLobby runs a dashboard that shows the lobby, and creates a token for the lobby's server. The
// dashboard's clock is stopped.
func runLobby(t testing.TB, adjust ...func(*Options)) (d *dashboard, asServer func(*http.Request)) {
	d = dash(t, append(adjust, func(o *Options) {
		o.Channels = func() []live.Channel { return []live.Channel{{ID: lobby, Login: lobby}} }
		o.Listed = func(id string) bool { return id == lobby }
		o.Report = func(outcome journal.Outcome) {
			d.store.Report(outcome)
			d.server.Report(outcome)
		}
	})...)
	d.stopClock()
	return d, setBearer(d.newToken(auth.Check))
}

// check asks about a message and fails the test unless the answer has that status.
func (d *dashboard) check(m any, status int, asServer func(*http.Request)) (answer, verdict) {
	d.Helper()
	a := d.do("POST", "/api/v1/check", m, asServer)
	if a.StatusCode != status {
		d.Fatalf("%+v: %s %s", m, a.Status, a.body)
	}
	var v verdict
	if err := json.Unmarshal(a.body, &v); err != nil {
		d.Fatal(err)
	}
	return a, v
}

// Three messages pass, the fourth is throttled, and the answers' headers are correct.
func TestCheck_AllowsThenThrottles(t *testing.T) {
	d, asServer := runLobby(t)
	said := checkForm{Channel: lobby, UserID: "41", ID: "m1", Login: "anna", DisplayName: "Anna", Roles: chatguard.RolesOf(chatguard.Subscriber), Text: "hello\neveryone"}
	for left := range 3 {
		a, v := d.check(said, http.StatusOK, asServer)
		if !v.Allowed || v.Channel != lobby || v.UserID != "41" || v.Entry != 0 || *v.Remaining != 2-left || *v.RetryAfterMS != 0 || !v.At.Equal(d.now()) {
			t.Errorf("%s", a.body)
		}
		if a.Header.Get("Retry-After") != "" || a.Header.Get("X-RateLimit-Remaining") != fmt.Sprint(2-left) || a.ContentLength != int64(len(a.body)) {
			t.Errorf("%v", a.Header)
		}
	}
	a, v := d.check(said, http.StatusTooManyRequests, asServer)
	if v.Allowed || v.Limit != "burst" || *v.RetryAfterMS != 600_000 || v.Penalty.Action != chatguard.Delete || v.Entry == 0 {
		t.Errorf("%s", a.body)
	}
	for name, want := range map[string]string{
		"Retry-After": "600", "X-RateLimit-Resource": "burst", "X-RateLimit-Used": "3", "X-RateLimit-Remaining": "0", "Content-Type": "application/json",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range rateHeaders {
		if a.Header.Get(name) == "" {
			t.Errorf("there is no %s", name)
		}
	}
	d.advance(599 * time.Second)
	d.check(said, http.StatusTooManyRequests, asServer)
	d.advance(time.Second)
	d.check(said, http.StatusOK, asServer)
}

// The journal records a dropped message as done at once, because the server drops it and nobody
// else acts on it. A message that was only observed is not dropped.
func TestCheck_DroppedIsDone(t *testing.T) {
	d, asServer := runLobby(t)
	batch := batchForm{Messages: []checkForm{{Channel: lobby, UserID: "41", Login: "anna", DisplayName: "Anna", ID: "m1", Text: "hello <b>", Cost: 2}}}
	d.do("POST", "/api/v1/check/batch", batch, asServer)
	d.do("POST", "/api/v1/check/batch", batch, asServer)
	said := batch.Messages[0]
	said.ID = "m2"
	d.check(said, http.StatusTooManyRequests, asServer)
	wantDropped := func() {
		t.Helper()
		page := decode[entryPage](t, d.do("GET", "/api/v1/journal?channel="+lobby, nil, asOwner))
		if len(page.Entries) != 2 || len(d.throttledUsersIn(lobby)) != 1 {
			t.Fatalf("%+v", page)
		}
		for i, e := range page.Entries {
			if e.Outcome.Action != chatguard.Drop || e.Outcome.Result != journal.Done || e.MessageID != fmt.Sprint("m", 2-i) || e.Text != "hello <b>" ||
				e.Login != "anna" || e.DisplayName != "Anna" || e.Cost != 2 {
				t.Errorf("%+v", e)
			}
		}
		if o := d.throttledUsersIn(lobby)[0].Outcome; o.Result != journal.Done {
			t.Errorf("now: %+v", o)
		}
	}
	wantDropped()
	d.flush()
	wantDropped()

	if err := d.guard.At(d.now()).SetOverlay(lobby, func(p chatguard.Policy) chatguard.Policy { p.Mode = chatguard.Observe; return p }); err != nil {
		t.Fatal(err)
	}
	if a, v := d.check(said, http.StatusOK, asServer); !v.Observed || v.WouldBe.Action != chatguard.Delete || a.Header.Get("Retry-After") != "" {
		t.Errorf("%s", a.body)
	}
	if page := decode[entryPage](t, d.do("GET", "/api/v1/journal?n=1", nil, asOwner)); page.Entries[0].Outcome.Result != journal.Observed {
		t.Errorf("%+v", page)
	}
}

// throttledUsersIn returns the users who are throttled in a channel.
func (d *dashboard) throttledUsersIn(channel string) []live.Throttled {
	d.Helper()
	return decode[map[string][]live.Throttled](d, d.do("GET", "/api/v1/throttled?channel="+channel, nil, asOwner))["users"]
}

// A batch is judged in order, as if each message were sent alone. If one message is invalid, none
// is counted.
func TestCheckBatch_AllOrNothing(t *testing.T) {
	d, asServer := runLobby(t)
	batch := batchForm{Messages: []checkForm{}}
	for i := range 5 {
		batch.Messages = append(batch.Messages, checkForm{Channel: lobby, UserID: "41"}, checkForm{Channel: fmt.Sprint("room", i), UserID: "41"})
	}
	spoiled := batchForm{Messages: append(batch.Messages[:9:9], checkForm{Channel: lobby})}
	a := d.do("POST", "/api/v1/check/batch", spoiled, asServer)
	if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), `"messages[9].user_id is missing: `) {
		t.Errorf("%s %s", a.Status, a.body)
	}
	got := decode[struct{ Verdicts []verdict }](t, d.do("POST", "/api/v1/check/batch", batch, asServer)).Verdicts
	for i, v := range got {
		if want := i%2 == 1 || i < 6; v.Allowed != want || v.Channel != batch.Messages[i].Channel {
			t.Errorf("%d: %+v", i, v)
		}
	}
	if len(got) != 10 {
		t.Errorf("%d verdicts", len(got))
	}
	if a := d.do("POST", "/api/v1/check/batch", batchForm{Messages: []checkForm{}}, asServer); string(a.body) != `{"verdicts":[]}`+"\n" {
		t.Errorf("of nothing: %s", a.body)
	}
}

// A server may hold back a minute of messages and ask about all of them at once. A user who wrote
// only once every 5 s in that minute is not throttled.
func TestCheckBatch_CalmUserAfterStall(t *testing.T) {
	d, asServer := runLobby(t)
	now, policy := d.now(), config.DefaultPolicy()
	policy.Mode = chatguard.Enforce
	if err := d.guard.At(now).SetChannelPolicy(lobby, policy); err != nil {
		t.Fatal(err)
	}
	var batch batchForm
	for _, age := range []int{61, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5} {
		batch.Messages = append(batch.Messages, checkForm{Channel: lobby, UserID: "calm", At: now.Add(-time.Duration(age) * time.Second)})
	}
	verdicts := decode[struct{ Verdicts []verdict }](t, d.do("POST", "/api/v1/check/batch", batch, asServer)).Verdicts
	for i, v := range verdicts {
		if !v.Allowed {
			t.Errorf("message %d is throttled: %+v", i, v)
		}
	}
	if len(verdicts) != len(batch.Messages) {
		t.Errorf("%d verdicts on %d messages", len(verdicts), len(batch.Messages))
	}
}

// Times sent by servers are bounded by our clock.
func TestCheck_BoundsTimes(t *testing.T) {
	d, asServer := runLobby(t)
	now := d.now()
	for at, want := range map[any]time.Time{
		now.Add(-30 * time.Second).Format(time.RFC3339Nano): now.Add(-30 * time.Second),
		now.Add(-30 * time.Second).UnixMilli():              now.Add(-30 * time.Second).Truncate(time.Millisecond),
		now.Add(time.Second).Format(time.RFC3339Nano):       now,
		now.Add(-61 * time.Second).UnixMilli():              now.Add(-time.Minute),
		int64(0):                                            now.Add(-time.Minute),
		int64(math.MaxInt64):                                now,
		nil:                                                 now,
	} {
		said := map[string]any{"channel": lobby, "user_id": fmt.Sprint(at), "at": at}
		if at == nil {
			delete(said, "at")
		}
		if _, v := d.check(said, http.StatusOK, asServer); !v.At.Equal(want) {
			t.Errorf("%v is judged at %v, want %v", at, v.At, want)
		}
	}
}

// An error names the invalid key as it is in the JSON, and no message is counted.
func TestCheck_InvalidMessageIsNamed(t *testing.T) {
	d, asServer := runLobby(t)
	long := strings.Repeat("x", 257)
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
		{`{"channel":"lobby","user_id":"1","user":"anna"}`, 400, `unknown key \"user\" (known: channel, user_id, id, login, display_name, roles, text, cost, at, up_to).`},
		{`{"channel":"lobby","user_id":"1","roles":["king"]}`, 400, `roles: unknown role \"king\" (known: first_timer,`},
		{`{"channel":"lobby","user_id":"1","roles":"vip"}`, 400, "roles: want a list, found a text."},
		{`{"channel":"lobby","user_id":"1","cost":0}`, 422, "cost is 0: want a whole number from 1 to 2147483647."},
		{`{"channel":"lobby","user_id":"1","cost":-1}`, 422, "cost is -1: want"},
		{`{"channel":"lobby","user_id":"1","cost":2147483648}`, 422, "cost is 2147483648: want"},
		{`{"channel":"lobby","user_id":"1","cost":1.5}`, 400, "cost: want a whole number, found 1.5."},
		{`{"channel":"lobby","user_id":"1","cost":true}`, 400, "cost: want a whole number, found true."},
		{`{"channel":"lobby","user_id":"1","at":"yesterday"}`, 400, `at: want RFC 3339 text or milliseconds since 1970, found \"yesterday\".`},
		{`{"channel":"lobby","user_id":"1","at":{}}`, 400, "at: want a text or a number, found an object."},
		{`{"channel":"lobby","user_id":"` + long + `"}`, 422, "user_id has 257 bytes, and at most 250 are allowed."},
		{`{"channel":"` + long + `","user_id":"1"}`, 422, "channel has 257 bytes, and at most 250 are allowed."},
		{`{"channel":"lobby","user_id":"1","login":"` + long + `"}`, 422, "login has 257 bytes, and at most 200 are allowed."},
		{`{"channel":"lobby","user_id":"1","text":"` + strings.Repeat("x", 8193) + `"}`, 422, "text has 8193 bytes, and at most 8192 are allowed: limits ignore it, so send only its beginning."},
		{`{"channel":"lobby","user_id":"a\nb"}`, 422, "user_id has a line break, another control character, or invalid UTF-8."},
		{`{"channel":"lobby","user_id":"\ud800"}`, 422, "user_id has a line break"},
		{`{"channel":"lobby","user_id":"1","display_name":"a\u0085"}`, 422, "display_name has a line break"},
		{"{\"channel\":\"lobby\",\"user_id\":\"\xff\"}", 400, "That can't be read: it isn't UTF-8."},
		{"{\"channel\":\"lobby\",\"user_id\":\"a\tb\"}", 400, `user_id: invalid character '\\t' in string (expecting non-control character) at byte 31.`},
		{`{"channel":"lobby","user_id":"1"`, 400, "That can't be read: it ends unexpectedly."},
		{`{"channel":"lobby","user_id":"1"}{}`, 400, "That can't be read: more than one JSON value."},
		{`{"channel":"lobby" "user_id":"1"}`, 400, `That can't be read: invalid character '\"' after object value (expecting ',' or '}') at byte 19.`},
		{`[]`, 400, "That can't be read: want an object, found a list."},
		{`null`, 400, "it is null"},
		{``, 400, "That can't be read: it ends unexpectedly."},
		{`{"channel":"lobby","user_id":"1","text":"` + strings.Repeat("x", problem.MaxBody) + `"}`, 413, "more than the 1048576 bytes"},
	} {
		d.wantRefused("/api/v1/check", c.body, c.status, c.says, asServer)
	}
	for body, says := range map[string]string{
		`{"messages":[{"channel":"lobby","user_id":"41"},{"channel":"lobby","user_id":41}]}`: "messages[1].user_id: want a text, found a number.",
		`{"messages":[{"channel":"lobby","user_id":"41"},{"channel":"lobby"}]}`:              "messages[1].user_id is missing",
		`{"messages":[{"channel":"lobby","user_id":"41"},7]}`:                                "messages[1]: want an object, found a number.",
		`{"messages":[{"channel":"lobby","user_id":"41","x":1}]}`:                            `unknown key \"messages[0].x\"`,
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

// wantRefused sends an invalid body and fails the test unless it is refused with the status, or
// with any 4xx if status is 0.
func (d *dashboard) wantRefused(path, body string, status int, says string, asServer func(*http.Request)) {
	d.Helper()
	r, err := http.NewRequest("POST", "http://"+d.address+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	asServer(r)
	a, err := d.client.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer a.Body.Close()
	var response bytes.Buffer
	if _, err := response.ReadFrom(a.Body); err != nil {
		d.Fatal(err)
	}
	right := a.StatusCode == status || status == 0 && a.StatusCode/100 == 4
	if !right || !strings.Contains(response.String(), says) || a.Header.Get("Content-Type") != "application/problem+json" {
		d.Errorf("%.80s: %s %s\nwant %d, %s", body, a.Status, response.String(), status, says)
	}
}

// A kept-alive connection is reused for the next message, even if the previous message was refused.
func TestCheck_ReusesConnection(t *testing.T) {
	d, asServer := runLobby(t)
	address := ""
	for i, said := range []any{checkForm{Channel: lobby, UserID: "1"}, checkForm{Channel: lobby}, checkForm{Channel: lobby, UserID: "1"}} {
		local := ""
		d.do("POST", "/api/v1/check", said, asServer, func(r *http.Request) {
			*r = *r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
				GotConn: func(c httptrace.GotConnInfo) { local = c.Conn.LocalAddr().String() },
			}))
		})
		if i > 0 && local != address {
			t.Errorf("message %d came over %s, the one before over %s", i, local, address)
		}
		address = local
	}
}
