//go:build !race

package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/web/access"
)

// labAnswer is a part of the answer to a question.
type labAnswer struct {
	Messages []struct {
		At     float64
		UserID string `json:"user_id"`
		Login  string
		Roles  []string
	}
	Lanes []struct {
		Steps []struct{ Allowed bool }
	}
}

// askRecorded asks about recorded traffic.
func (d *dashboard) askRecorded(traffic map[string]any) answer {
	d.Helper()
	traffic["kind"] = "recorded"
	lane := map[string]any{"limits": []map[string]any{{"name": "burst", "algorithm": "token-bucket", "burst": 3, "refill": "4s"}}}
	return d.do("POST", "/api/v1/lab", map[string]any{"lanes": []any{lane}, "traffic": traffic}, asOwner)
}

func TestLab_Recorded(t *testing.T) {
	d := dash(t)
	began := d.recordEvening()
	for _, test := range []struct {
		traffic map[string]any
		want    string // seconds after the start, user and whether it was allowed
	}{
		{map[string]any{"channel": channelID, "from": began.Add(3 * time.Second), "for": "8s"}, "3 anna true, 4 anna true, 10 berta true"},
		{map[string]any{"channel": channelID, "user_id": previewAnna.ID, "from": began, "for": "1h"},
			"0 anna true, 1 anna true, 2 anna true, 3 anna false, 4 anna true"},
		{map[string]any{"channel": channelID, "busiest": "3s"}, "0 anna true, 1 anna true, 2 anna true"},
		{map[string]any{"channel": channelID, "user_id": previewClara.ID, "busiest": "10m"}, "20 clara true, 21 clara true"},
		{map[string]any{"channel": channelID, "user_id": "nobody", "busiest": "10m"}, ""},
		{map[string]any{"channel": channelID, "user_id": "CLARA", "busiest": "1s"}, "20 clara true"},
		{map[string]any{"channel": channelID, "last": "10s"}, "12 berta true, 20 clara true, 21 clara true"},
		{map[string]any{"channel": channelID, "user_id": previewAnna.Login, "last": "2s"}, "3 anna true, 4 anna true"},
		{map[string]any{"channel": channelID, "user_id": "nobody", "last": "1h"}, ""},
	} {
		a := d.askRecorded(test.traffic)
		got := decode[labAnswer](t, a)
		var steps []string
		for i, m := range got.Messages {
			steps = append(steps, fmt.Sprint((int64(m.At)-began.UnixMilli())/1000, " ", m.Login, " ", got.Lanes[0].Steps[i].Allowed))
		}
		if a.StatusCode != http.StatusOK || strings.Join(steps, ", ") != test.want {
			t.Errorf("%v: %s, %s; want %s", test.traffic, a.Status, strings.Join(steps, ", "), test.want)
		}
		if strings.Contains(string(a.body), "text") {
			t.Errorf("the answer has a text: %s", a.body)
		}
	}
}

// emotesStore is a Store whose timeline has the same emotes by two users.
type emotesStore struct{ Records }

func (s emotesStore) Timeline(_ context.Context, channel string, since time.Time, each func([]journal.TimelineMessage) error) error {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		return err
	}
	said := journal.TimelineMessage{
		At: since.Add(time.Hour), ChannelID: channel, UserID: "61", Cost: 1, MessageKinds: roles.Kinds{roles.Emotes}, Print: guard.TextPrint("Kappa Kappa Kappa"),
	}
	again := said
	again.UserID = "62"
	return each([]journal.TimelineMessage{said, again})
}

// TestLab_RecordedEmotes checks that recorded messages of emotes only have their texts, and count
// if a limit on repeated text counts them.
func TestLab_RecordedEmotes(t *testing.T) {
	d := dash(t, func(o *Options) { o.Store = emotesStore{o.Store} })
	lane := func(counts bool) map[string]any {
		return map[string]any{"limits": []map[string]any{
			{"name": "copies", "per": "text", "algorithm": "token-bucket", "burst": 1, "refill": "1m", "count_emotes": counts},
		}}
	}
	a := d.do("POST", "/api/v1/lab", map[string]any{
		"lanes": []any{lane(true), lane(false)}, "traffic": map[string]any{"kind": "recorded", "channel": channelID, "from": d.now().Add(-2 * time.Hour), "for": "2h"},
	}, asOwner)
	got := decode[labAnswer](t, a)
	if len(got.Messages) != 2 || strings.Contains(string(a.body), "without_text") {
		t.Fatalf("%s: %s", a.Status, a.body)
	}
	if steps := fmt.Sprint(got.Lanes[0].Steps, got.Lanes[1].Steps); steps != "[{true} {false}] [{true} {true}]" {
		t.Errorf("the steps are %s", steps)
	}
}

func TestLab_RecordedRefused(t *testing.T) {
	d := dash(t)
	const hint = "Recorded traffic needs from and for, such as \"1h\", or busiest or last, such as \"10m\"."
	now := d.now()
	for _, test := range []struct {
		traffic map[string]any
		status  int
		detail  string
	}{
		{map[string]any{"channel": "8", "busiest": "10m"}, 404, `There is no channel with the ID "8" here.`},
		{map[string]any{"channel": channelID}, 422, hint},
		{map[string]any{"channel": channelID, "for": "1h"}, 422, hint},
		{map[string]any{"channel": channelID, "from": now}, 422, hint},
		{map[string]any{"channel": channelID, "busiest": "1m", "for": "1h"}, 422, "Send only one of busiest, last, or from and for."},
		{map[string]any{"channel": channelID, "busiest": "1m", "last": "1m"}, 422, "Send only one of busiest, last, or from and for."},
		{map[string]any{"channel": channelID, "last": "49h"}, 422, "Recorded traffic covers the last 48 h."},
		{map[string]any{"channel": channelID, "from": now.Add(-49 * time.Hour), "for": "1h"}, 422, "Recorded traffic covers the last 48 h."},
		{map[string]any{"channel": channelID, "busiest": "49h"}, 422, "Recorded traffic covers the last 48 h."},
	} {
		a := d.askRecorded(test.traffic)
		var p struct{ Detail string }
		json.Unmarshal(a.body, &p)
		if a.StatusCode != test.status || p.Detail != test.detail {
			t.Errorf("%v: %s %q, want %d %q", test.traffic, a.Status, p.Detail, test.status, test.detail)
		}
	}
}

func TestLab_RecordedTooMany(t *testing.T) {
	turntest.Expensive(t)
	d := dash(t)
	times := make([]time.Time, 20_001)
	for i := range times {
		times[i] = d.now().Add(-time.Hour + time.Duration(i)*time.Millisecond)
	}
	d.recordPast(previewAnna, times...)
	a := d.askRecorded(map[string]any{"channel": channelID, "busiest": "10m"})
	if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), "There are more than 20,000 recorded messages in that time: use a shorter time, or one user.") {
		t.Errorf("%s %s", a.Status, a.body)
	}
}

func TestLab_DatabaseFails(t *testing.T) {
	d := dash(t, watchReads(func(context.Context) error { return errors.New("disk I/O error") }))
	a := d.askRecorded(map[string]any{"channel": channelID, "busiest": "10m"})
	if a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "disk") {
		t.Errorf("%s %s", a.Status, a.body)
	}
}

func TestLab_Offer(t *testing.T) {
	d := dash(t)
	a := d.do("GET", "/api/v1/lab", nil, d.as(auth.View))
	if got, want := decode[labOffer](t, a), (labOffer{true, []labChannel{{channelID, "somechannel"}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%s %+v, want %+v", a.Status, got, want)
	}
	d.wantStatus("signed out", http.StatusUnauthorized, "GET", "/api/v1/lab", nil)
}

// evening returns recorded messages of two channels, years ago: in the first, anna writes each
// second and berta after ten.
func evening(t testing.TB) *simulate.Recordings {
	t.Helper()
	var r simulate.Recordings
	began := time.Date(2019, 9, 15, 0, 0, 0, 0, time.UTC)
	add := func(channel, login, user string, seconds int) {
		m := chatguard.Message{ChannelID: channel, User: chatguard.User{ID: "1" + user, Login: user}, SentAt: began.Add(time.Duration(seconds) * time.Second)}
		if err := r.Add(m, login); err != nil {
			t.Fatal(err)
		}
	}
	add("8", "", "clara", 0)
	for second := range 5 {
		add("7", "garden", "anna", second)
	}
	add("7", "garden", "berta", 10)
	r.Sort()
	return &r
}

func TestLabSite_Recorded(t *testing.T) {
	site, advance := labSite(t, evening(t))
	for _, test := range []struct {
		traffic string
		status  int
		want    string // users of the messages, or the problem
	}{
		{`"channel": "7", "busiest": "3s"`, 200, "anna anna anna"},
		{`"channel": "7", "last": "1h"`, 200, "anna anna anna anna anna berta"},
		{`"channel": "7", "last": "1h", "user_id": "Berta"`, 200, "berta"},
		{`"channel": "7", "last": "1h", "user_id": "1berta"`, 200, "berta"},
		{`"channel": "7", "last": "90d"`, 200, "anna anna anna anna anna berta"},
		{`"channel": "7", "from": "2019-09-15T00:00:03Z", "for": "2s"`, 200, "anna anna"},
		{`"channel": "7", "from": "0001-01-02T00:00:03Z", "for": "2s"`, 200, ""},
		{`"channel": "8", "busiest": "10m"`, 200, "clara"},
		{`"channel": "9", "busiest": "10m"`, 404, `There is no channel with the ID "9" here.`},
		{`"busiest": "10m"`, 404, `There is no channel with the ID "" here.`},
		{`"channel": "7"`, 422, "Recorded traffic needs from and for, such as \"1h\", or busiest or last, such as \"10m\"."},
	} {
		a := ask(site, `{`+oneLane+`, "traffic": {"kind": "recorded", `+test.traffic+`}}`)
		var got struct {
			labAnswer
			Detail string
		}
		if err := json.Unmarshal(a.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var users []string
		for _, m := range got.Messages {
			users = append(users, m.Login)
		}
		if said := cmp.Or(got.Detail, strings.Join(users, " ")); a.Code != test.status || said != test.want {
			t.Errorf("%s: %d %q, want %d %q", test.traffic, a.Code, said, test.status, test.want)
		}
		advance(time.Second)
	}
}

func TestLabSite_Offer(t *testing.T) {
	for _, test := range []struct {
		recorded *simulate.Recordings
		want     string
	}{
		{nil, `{"dashboard":false,"channels":[]}`},
		{evening(t), `{"dashboard":false,"channels":[{"id":"7","login":"garden"},{"id":"8","login":""}]}`},
	} {
		site, _ := labSite(t, test.recorded)
		get := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			site.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:8080/api/v1/lab", nil))
			return w
		}
		for range labBurst {
			if w := get(); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != test.want {
				t.Fatalf("%d %s, want %s", w.Code, w.Body, test.want)
			}
		}
		if w := get(); w.Code != http.StatusTooManyRequests {
			t.Errorf("one more: %d", w.Code)
		}
	}
}

// More questions than work at a time wait for their turn, and give up with their client.
func TestLab_Turns(t *testing.T) {
	h := newLabs()
	if n := cap(h.working); n < 1 || n > 2 {
		t.Errorf("%d questions may be at work at a time", n)
	}
	for range cap(h.working) {
		h.working <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var q labQuestion
	if err := json.Unmarshal([]byte(`{"lanes": [{"limits": []}]}`), &q); err != nil {
		t.Fatal(err)
	}
	if _, err := h.run(ctx, access.Caller{}, q.Question, nil); err == nil || !strings.Contains(err.Error(), "The Lab is busy with other questions.") {
		t.Errorf("error %v", err)
	}
	<-h.working
	if _, err := h.run(t.Context(), access.Caller{}, q.Question, nil); err != nil || len(h.working) != cap(h.working)-1 {
		t.Errorf("with a free turn: %v", err)
	}
}
