package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/web/live"
)

// lobby is a room of another chat's server.
const lobby = "lobby"

// runLobby runs a dashboard that shows the lobby, and creates a token for the lobby's server. The
// dashboard's clock is stopped.
func runLobby(t testing.TB, adjust ...func(*Options)) (d *dashboard, asServer func(*http.Request)) {
	d = dash(t, append(adjust, func(o *Options) {
		o.Live.Channels = func() []live.Channel { return []live.Channel{{ID: lobby, Login: lobby}} }
		o.Check.Listed = func(id string) bool { return id == lobby }
		o.Check.Report = func(outcome journal.Outcome) {
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
	said := checkForm{Channel: lobby, UserID: "41", ID: "m1", Login: "anna", DisplayName: "Anna", Roles: chatguard.Roles{roles.Subscriber}, Text: "hello\neveryone"}
	for left := range 3 {
		a, v := d.check(said, http.StatusOK, asServer)
		if !v.Allowed || v.Channel != lobby || v.UserID != "41" || v.Entry != 0 || *v.Remaining != 2-left || *v.RetryAfterMS != 0 || !v.At.Equal(d.now()) {
			t.Errorf("%s", a.body)
		}
		if a.Header.Get("Retry-After") != "" || !strings.HasPrefix(a.Header.Get("RateLimit"), fmt.Sprintf(`"burst";r=%d;`, 2-left)) || a.ContentLength != int64(len(a.body)) {
			t.Errorf("%v", a.Header)
		}
	}
	a, v := d.check(said, http.StatusTooManyRequests, asServer)
	if v.Allowed || v.Limit != "burst" || *v.RetryAfterMS != 600_000 || v.Penalty.Action != chatguard.ActionDelete || v.Entry == 0 {
		t.Errorf("%s", a.body)
	}
	for name, want := range map[string]string{
		"Retry-After": "600", "RateLimit": `"burst";r=0;t=600`, "Content-Type": "application/json",
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
			if e.Outcome.Action != chatguard.ActionDrop || e.Outcome.Result != journal.Done || e.MessageID != fmt.Sprint("m", 2-i) || e.Text != "hello <b>" ||
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

	if err := inner.At(d.guard, d.now()).SetOverlay(lobby, func(p chatguard.Policy) chatguard.Policy { p.Mode = chatguard.ModeObserve; return p }); err != nil {
		t.Fatal(err)
	}
	if a, v := d.check(said, http.StatusOK, asServer); !v.Observed || v.WouldBe.Action != chatguard.ActionDelete || a.Header.Get("Retry-After") != "" {
		t.Errorf("%s", a.body)
	}
	if page := decode[entryPage](t, d.do("GET", "/api/v1/journal?n=1", nil, asOwner)); page.Entries[0].Outcome.Result != journal.Observed {
		t.Errorf("%+v", page)
	}
}

// throttledUsersIn returns the users who are throttled in a channel.
func (d *dashboard) throttledUsersIn(channel string) []live.Throttled {
	d.Helper()
	return decode[throttledUsers](d, d.do("GET", "/api/v1/throttled?channel="+channel, nil, asOwner)).Users
}

// A batch is judged in order, as if each message were sent alone. A message that can't be judged
// has the error that it would get alone, and the others get verdicts.
func TestCheckBatch_EachMessage(t *testing.T) {
	d, asServer := runLobby(t)
	const inLobby = `{"channel":"lobby","user_id":"41"}`
	var batch struct {
		Messages []json.RawMessage `json:"messages"`
	}
	var want []string
	for _, m := range [][2]string{
		{inLobby, "true"},
		{`{"channel":"lobby","user_id":41}`, "400 That can't be read: user_id: want a text, found a number."},
		{`{"channel":"room"}`, "422 user_id is missing: limits count by it. For anonymous users send something stable, such as their address."},
		{`{"channel":"room","user_id":"41"}`, "true"}, // opens the room
		{`7`, "400 That can't be read: want an object, found a number."},
		{inLobby, "true"},
		{`{"channel":"lobby"}`, "422 user_id is missing: limits count by it. For anonymous users send something stable, such as their address."},
		{`{"channel":"lobby","user_id":"41","cost":0}`, "422 cost is 0: want a whole number from 1 to 2147483647."},
		{`{"channel":"lobby","user_id":"41","x":1}`, `400 That can't be read: unknown key "x" (known: channel, user_id, id, login, display_name, roles, timezone, text, message_kind, cost, at, up_to).`},
		{`{"channel":"lobby","user_id":"41","at":"never","up_to":true}`, `400 That can't be read: at: want RFC 3339 text or milliseconds since 1970, found "never".`},
		{inLobby, "true"},
		{inLobby, "false"},
		{`{"channel":"lobby","user_id":"42","up_to":true,"cost":5}`, "true"},
	} {
		batch.Messages = append(batch.Messages, json.RawMessage(m[0]))
		want = append(want, m[1])
	}
	var got []string
	body, err := json.Marshal(batch)
	if err != nil {
		t.Fatal(err)
	}
	a := d.send("/api/v1/check/batch", body, asServer)
	for _, v := range decode[struct{ Verdicts []checkedAnswer }](t, a).Verdicts {
		got = append(got, v.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if asked := d.server.Asked(); !slices.Equal(asked, []string{"lobby", "room"}) {
		t.Errorf("the channels are %q", asked)
	}
	if a := d.do("POST", "/api/v1/check/batch", batchForm{Messages: []checkForm{}}, asServer); string(a.body) != `{"verdicts":[]}`+"\n" {
		t.Errorf("of nothing: %s", a.body)
	}
}

// checkedAnswer is what a batch answers about a message.
type checkedAnswer struct {
	verdict
	Error *struct {
		Status int
		Detail string
	}
}

// String returns whether the message is allowed, or the error.
func (a checkedAnswer) String() string {
	if a.Error != nil {
		return fmt.Sprint(a.Error.Status, " ", a.Error.Detail)
	}
	return fmt.Sprint(a.Allowed)
}

// A server may collect the messages of a minute and ask about all of them at once. A user who wrote
// only once every 5 s in that minute is not throttled.
func TestCheckBatch_CalmUserAfterStall(t *testing.T) {
	d, asServer := runLobby(t)
	now, policy := d.now(), config.DefaultPolicy()
	policy.Mode = chatguard.ModeEnforce
	if err := inner.At(d.guard, now).SetChannelPolicy(lobby, policy); err != nil {
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

// wantRefused sends an invalid body and fails the test unless it is refused with the status, or
// with any 4xx if status is 0.
func (d *dashboard) wantRefused(path, body string, status int, says string, asServer func(*http.Request)) {
	d.Helper()
	a := d.send(path, []byte(body), asServer)
	right := a.StatusCode == status || status == 0 && a.StatusCode/100 == 4
	if !right || !strings.Contains(string(a.body), says) || a.Header.Get("Content-Type") != "application/problem+json" {
		d.Errorf("%.80s: %s %s\nwant %d, %s", body, a.Status, a.body, status, says)
	}
}

// send posts a body as it is.
func (d *dashboard) send(path string, body []byte, asServer func(*http.Request)) answer {
	d.Helper()
	r, err := http.NewRequest("POST", "http://"+d.address+path, bytes.NewReader(body))
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
	content, err := io.ReadAll(a.Body)
	if err != nil {
		d.Fatal(err)
	}
	return answer{a, content}
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

// refund sends an answered verdict back as it came, and fails the test unless it is accepted.
func (d *dashboard) refund(verdict []byte, asServer func(*http.Request)) {
	d.Helper()
	if a := d.do("POST", "/api/v1/check/refund", json.RawMessage(verdict), asServer); a.StatusCode != http.StatusNoContent || len(a.body) > 0 {
		d.Errorf("the refund of %s: %s %s", verdict, a.Status, a.body)
	}
}
