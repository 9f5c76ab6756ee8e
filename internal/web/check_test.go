package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// lobby is where a server of another chat lets people write.
const lobby = "lobby"

// checking runs a dashboard whose clock stands still, and which shows the lobby; and makes a token for its server.
func checking(t testing.TB, adjust ...func(*Options)) (d *dashboard, asServer func(*http.Request)) {
	d = dash(t, append(adjust, func(o *Options) {
		o.Channels = func() []Channel { return []Channel{{ID: lobby, Login: lobby}} }
		o.Listed = func(id string) bool { return id == lobby }
		o.Report = func(outcome journal.Outcome) { d.store.Report(outcome) }
	})...)
	d.stopClock()
	return d, bearing(d.newToken(journal.AccessCheck))
}

// check asks about a message, and wants that status.
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

// TestAServerAsks: three messages pass, the fourth is throttled, and what the answer's headers say is so.
func TestAServerAsks(t *testing.T) {
	d, asServer := checking(t)
	said := checkedMessage{Channel: lobby, UserID: "41", ID: "m1", Login: "anna", DisplayName: "Anna", Roles: chatguard.RolesOf(chatguard.Subscriber), Text: "hello\neveryone"}
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
	for name, want := range map[string]string{"Retry-After": "600", "X-RateLimit-Remaining": "0", "Content-Type": "application/json"} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range rateHeaders {
		if a.Header.Get(name) == "" {
			t.Errorf("there is no %s", name)
		}
	}
	d.pass(599 * time.Second)
	d.check(said, http.StatusTooManyRequests, asServer)
	d.pass(time.Second)
	d.check(said, http.StatusOK, asServer)
}

// TestADroppedMessageIsDone: nobody else acts on what a server was told to drop, so the journal says so at once. One that was only observed isn't dropped.
func TestADroppedMessageIsDone(t *testing.T) {
	d, asServer := checking(t)
	batch := checkedBatch{Messages: []checkedMessage{{Channel: lobby, UserID: "41", Login: "anna", DisplayName: "Anna", ID: "m1", Text: "hello <b>", Cost: 2}}}
	d.do("POST", "/api/v1/check/batch", batch, asServer)
	d.do("POST", "/api/v1/check/batch", batch, asServer)
	said := batch.Messages[0]
	said.ID = "m2"
	d.check(said, http.StatusTooManyRequests, asServer)
	wantDropped := func() {
		t.Helper()
		page := into[entryPage](t, d.do("GET", "/api/v1/journal?channel="+lobby, nil, asOwner))
		if len(page.Entries) != 2 || len(d.throttledIn(lobby)) != 1 {
			t.Fatalf("%+v", page)
		}
		for i, e := range page.Entries {
			if e.Outcome.Action != chatguard.Drop || e.Outcome.Result != journal.Done || e.MessageID != fmt.Sprint("m", 2-i) || e.Text != "hello <b>" ||
				e.Login != "anna" || e.DisplayName != "Anna" || e.Cost != 2 {
				t.Errorf("%+v", e)
			}
		}
		if o := d.throttledIn(lobby)[0].Outcome; o.Result != journal.Done {
			t.Errorf("now: %+v", o)
		}
	}
	wantDropped()
	d.flushed()
	wantDropped()

	if err := d.guard.SetOverlay(lobby, func(p chatguard.Policy) chatguard.Policy { p.Mode = chatguard.Observe; return p }, d.now()); err != nil {
		t.Fatal(err)
	}
	if a, v := d.check(said, http.StatusOK, asServer); !v.Observed || v.WouldBe.Action != chatguard.Delete || a.Header.Get("Retry-After") != "" {
		t.Errorf("%s", a.body)
	}
	if page := into[entryPage](t, d.do("GET", "/api/v1/journal?n=1", nil, asOwner)); page.Entries[0].Outcome.Result != journal.Observed {
		t.Errorf("%+v", page)
	}
}

// throttledIn asks who is throttled in a channel.
func (d *dashboard) throttledIn(channel string) []throttled {
	d.Helper()
	return into[map[string][]throttled](d, d.do("GET", "/api/v1/throttled?channel="+channel, nil, asOwner))["users"]
}

// TestABatchIsAllOrNothing: in its order, and as if asked one by one; one that can't be judged keeps all from being counted.
func TestABatchIsAllOrNothing(t *testing.T) {
	d, asServer := checking(t)
	batch := checkedBatch{Messages: []checkedMessage{}}
	for i := range 5 {
		batch.Messages = append(batch.Messages, checkedMessage{Channel: lobby, UserID: "41"}, checkedMessage{Channel: fmt.Sprint("room", i), UserID: "41"})
	}
	spoiled := checkedBatch{Messages: append(batch.Messages[:9:9], checkedMessage{Channel: lobby})}
	a := d.do("POST", "/api/v1/check/batch", spoiled, asServer)
	if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), `"messages[9].user_id is missing: `) {
		t.Errorf("%s %s", a.Status, a.body)
	}
	got := into[struct{ Verdicts []verdict }](t, d.do("POST", "/api/v1/check/batch", batch, asServer)).Verdicts
	for i, v := range got {
		if want := i%2 == 1 || i < 6; v.Allowed != want || v.Channel != batch.Messages[i].Channel {
			t.Errorf("%d: %+v", i, v)
		}
	}
	if len(got) != 10 {
		t.Errorf("%d verdicts", len(got))
	}
	if a := d.do("POST", "/api/v1/check/batch", checkedBatch{Messages: []checkedMessage{}}, asServer); string(a.body) != `{"verdicts":[]}`+"\n" {
		t.Errorf("of nothing: %s", a.body)
	}
}

// TestCheckBatch_CalmUserAfterStall: what a server kept back for a minute is asked about at once. Somebody who wrote once in 5 s isn't throttled.
func TestCheckBatch_CalmUserAfterStall(t *testing.T) {
	d, asServer := checking(t)
	now, policy := d.now(), chatguard.DefaultPolicy()
	policy.Mode = chatguard.Enforce
	if err := d.guard.SetPolicy(lobby, policy, now); err != nil {
		t.Fatal(err)
	}
	var batch checkedBatch
	for _, age := range []int{61, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5} {
		batch.Messages = append(batch.Messages, checkedMessage{Channel: lobby, UserID: "calm", At: now.Add(-time.Duration(age) * time.Second)})
	}
	verdicts := into[struct{ Verdicts []verdict }](t, d.do("POST", "/api/v1/check/batch", batch, asServer)).Verdicts
	for i, v := range verdicts {
		if !v.Allowed {
			t.Errorf("message %d is throttled: %+v", i, v)
		}
	}
	if len(verdicts) != len(batch.Messages) {
		t.Errorf("%d verdicts on %d messages", len(verdicts), len(batch.Messages))
	}
}

// TestCheck_TimesAreBounded, by our clock.
func TestCheck_TimesAreBounded(t *testing.T) {
	d, asServer := checking(t)
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

// TestWhatCantBeJudgedIsNamed, in JSON's words, and counts nothing.
func TestWhatCantBeJudgedIsNamed(t *testing.T) {
	d, asServer := checking(t)
	long := strings.Repeat("x", 257)
	for _, c := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"user_id":"1"}`, 422, "channel is missing: the ID of the room that the message is for."},
		{`{"channel":"lobby"}`, 422, "user_id is missing: limits count by it. For who isn't signed in, send what stays the same, such as the address."},
		{`{"channel":"lobby","user_id":null}`, 422, "user_id is missing: limits count"},
		{`{"channel":"lobby","user_id":""}`, 422, "user_id is missing: limits count"},
		{`{"channel":"lobby","user_id":7}`, 400, "That can't be read: user_id: want a text, found a number."},
		{`{"channel":["lobby"],"user_id":"1"}`, 400, "That can't be read: channel: want a text, found a list."},
		{`{"channel":"lobby","user_id":"1","user":"anna"}`, 400, `unknown key \"user\" (known: channel, user_id, id, login, display_name, roles, text, cost, at).`},
		{`{"channel":"lobby","user_id":"1","roles":["king"]}`, 400, `roles: unknown role \"king\" (known: first_timer,`},
		{`{"channel":"lobby","user_id":"1","roles":"vip"}`, 400, "roles: want a list, found a text."},
		{`{"channel":"lobby","user_id":"1","cost":0}`, 422, "cost is 0: want a whole number from 1 to 2147483647."},
		{`{"channel":"lobby","user_id":"1","cost":-1}`, 422, "cost is -1: want"},
		{`{"channel":"lobby","user_id":"1","cost":2147483648}`, 422, "cost is 2147483648: want"},
		{`{"channel":"lobby","user_id":"1","cost":1.5}`, 400, "cost: want a whole number, found 1.5."},
		{`{"channel":"lobby","user_id":"1","cost":true}`, 400, "cost: want a whole number, found true."},
		{`{"channel":"lobby","user_id":"1","at":"yesterday"}`, 400, `at: want RFC 3339 text or milliseconds since 1970, found \"yesterday\".`},
		{`{"channel":"lobby","user_id":"1","at":{}}`, 400, "at: want a text or a number, found an object."},
		{`{"channel":"lobby","user_id":"` + long + `"}`, 422, "user_id has 257 bytes, and 250 are the most."},
		{`{"channel":"` + long + `","user_id":"1"}`, 422, "channel has 257 bytes, and 250 are the most."},
		{`{"channel":"lobby","user_id":"1","login":"` + long + `"}`, 422, "login has 257 bytes, and 200 are the most."},
		{`{"channel":"lobby","user_id":"1","text":"` + strings.Repeat("x", 8193) + `"}`, 422, "text has 8193 bytes, and 8192 are the most: limits don't read it, so its beginning is enough."},
		{`{"channel":"lobby","user_id":"a\nb"}`, 422, "user_id has a line break, another control character, or one that is no Unicode."},
		{`{"channel":"lobby","user_id":"\ud800"}`, 422, "user_id has a line break"},
		{`{"channel":"lobby","user_id":"1","display_name":"a\u0085"}`, 422, "display_name has a line break"},
		{"{\"channel\":\"lobby\",\"user_id\":\"\xff\"}", 400, "That can't be read: it isn't UTF-8."},
		{"{\"channel\":\"lobby\",\"user_id\":\"a\tb\"}", 400, `user_id: it is no JSON at byte 31, '\\t'.`},
		{`{"channel":"lobby","user_id":"1"`, 400, "That can't be read: it ends too early."},
		{`{"channel":"lobby","user_id":"1"}{}`, 400, "That can't be read: more than one JSON value."},
		{`{"channel":"lobby" "user_id":"1"}`, 400, `That can't be read: it is no JSON at byte 19, '\"'.`},
		{`[]`, 400, "That can't be read: want an object, found a list."},
		{`null`, 400, "it is null"},
		{``, 400, "That can't be read: it ends too early."},
		{`{"channel":"lobby","user_id":"1","text":"` + strings.Repeat("x", maxBody) + `"}`, 413, "more than the 1048576 bytes"},
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
		`{}`:                                 "messages is missing: a list of messages, each as POST /check takes it.",
		`{"messages":[` + strings.Repeat(`{"channel":"lobby","user_id":"41"},`, 1000) + `{"channel":"lobby","user_id":"41"}]}`: "A batch has at most 1000 messages",
	} {
		d.wantRefused("/api/v1/check/batch", body, 0, says, asServer)
	}
	d.wantRefused("/api/v1/check/batch", `{"messages":[{"channel":"hall","user_id":"41"}]}{}`, 400, "more than one JSON value", asServer)
	if n := d.guard.Memory().Users; n != 0 || len(d.server.Heard()) != 0 || len(d.server.Asked()) != 0 {
		t.Errorf("%d users were counted, in %q, and %q have a place", n, d.server.Heard(), d.server.Asked())
	}
}

// wantRefused sends a body that can't be taken; of any 4xx where the status is 0.
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
	var told bytes.Buffer
	if _, err := told.ReadFrom(a.Body); err != nil {
		d.Fatal(err)
	}
	right := a.StatusCode == status || status == 0 && a.StatusCode/100 == 4
	if !right || !strings.Contains(told.String(), says) || a.Header.Get("Content-Type") != "application/problem+json" {
		d.Errorf("%.80s: %s %s\nwant %d, %s", body, a.Status, told.String(), status, says)
	}
}

// TestTextsOfChatAreLeftNowhere once they are answered.
func TestTextsOfChatAreLeftNowhere(t *testing.T) {
	d, _ := checking(t)
	c := &checks{}
	r := httptest.NewRequest("POST", "/api/v1/check", strings.NewReader(`{"channel":"lobby","user_id":"41","text":"hello everyone"}`))
	r.Header.Set("Content-Type", "application/json")
	c.messages = append(c.messages, chatguard.Message{})
	if err := d.server.readChecks(httptest.NewRecorder(), r, caller{}, c, func(from *checkReader) error { return from.message(&c.messages[0]) }); err != nil {
		t.Fatal(err)
	}
	body, messages := c.body.Bytes(), c.messages
	c.free()
	if strings.Contains(string(body), "everyone") || messages[0].Text != "" {
		t.Errorf("%q %+v", body, messages)
	}
}

// TestAKeptConnectionIsUsedAgain: the next message needs no other one, also after one that was refused.
func TestAKeptConnectionIsUsedAgain(t *testing.T) {
	d, asServer := checking(t)
	address := ""
	for i, said := range []any{checkedMessage{Channel: lobby, UserID: "1"}, checkedMessage{Channel: lobby}, checkedMessage{Channel: lobby, UserID: "1"}} {
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

// TestARevokedCheckTokenEnds, although the Store isn't asked about it with each message.
func TestARevokedCheckTokenEnds(t *testing.T) {
	d, asServer := checking(t)
	said := checkedMessage{Channel: lobby, UserID: "1"}
	d.check(said, http.StatusOK, asServer)
	if _, err := d.store.Revoke(t.Context(), "may-check"); err != nil {
		t.Fatal(err)
	}
	d.pass(5 * time.Second)
	if a := d.do("POST", "/api/v1/check", said, asServer); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s %s", a.Status, a.body)
	}
}
