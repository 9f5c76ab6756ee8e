package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
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

func TestLab_RecordedRefused(t *testing.T) {
	d := dash(t)
	const hint = "Recorded traffic needs from and for, such as \"1h\", or busiest, such as \"10m\"."
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
		{map[string]any{"channel": channelID, "busiest": "1m", "for": "1h"}, 422, "Send busiest, or from and for, but not both."},
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

// More questions than work at a time wait for their turn, and give up with their client.
func TestLab_Turns(t *testing.T) {
	h := newLaboratory()
	for range cap(h.working) {
		h.working <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var q labQuestion
	if err := json.Unmarshal([]byte(`{"lanes": [{"limits": []}]}`), &q); err != nil {
		t.Fatal(err)
	}
	if _, err := h.run(ctx, q.Question, nil); err == nil || !strings.Contains(err.Error(), "The Lab is busy with other questions.") {
		t.Errorf("error %v", err)
	}
	<-h.working
	if _, err := h.run(t.Context(), q.Question, nil); err != nil || len(h.working) != cap(h.working)-1 {
		t.Errorf("with a free turn: %v", err)
	}
}
