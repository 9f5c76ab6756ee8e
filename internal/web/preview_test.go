package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/simulate"
)

const previewPath = "/api/v1/channels/" + channelID + "/preview"

// Users who wrote in the previewed evening.
var (
	previewAnna  = chatguard.User{ID: "61", Login: "anna", DisplayName: "Anna"}
	previewBerta = chatguard.User{ID: "62", Login: "berta"}
	previewClara = chatguard.User{ID: "63", Login: "clara", Roles: chatguard.Roles{chatguard.RoleModerator}}
)

// watchedStore is a Store that notifies a test when the timeline is read.
type watchedStore struct {
	Records
	read func(ctx context.Context) error
}

func (s watchedStore) Timeline(ctx context.Context, channel string, since time.Time, each func([]journal.TimelineMessage) error) error {
	if err := s.read(ctx); err != nil {
		return err
	}
	return s.Records.Timeline(ctx, channel, since, each)
}

// watchReads returns an option that makes the Store call read each time before it reads the
// timeline.
func watchReads(read func(ctx context.Context) error) func(*Options) {
	return func(o *Options) { o.Store = watchedStore{o.Store, read} }
}

// recordEvening records messages that were sent some hours ago: 5 by anna and 3 by berta within a
// minute, and 2 by clara, who is exempt.
func (d *dashboard) recordEvening() (began time.Time) {
	d.Helper()
	began = d.now().Add(-5 * time.Hour).Truncate(time.Second)
	after := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	d.recordPast(previewAnna, after(0), after(1), after(2), after(3), after(4))
	d.recordPast(previewBerta, after(10), after(11), after(12))
	d.recordPast(previewClara, after(20), after(21))
	return began
}

// try requests a preview of the policy in force with a change.
func (d *dashboard) try(change func(*chatguard.Policy), adjust ...func(map[string]any)) answer {
	d.Helper()
	policy := d.guard.ChannelPolicy(channelID)
	change(&policy)
	body := map[string]any{"policy": policy}
	for _, f := range adjust {
		f(body)
	}
	return d.do("POST", previewPath, body, asOwner)
}

func setHours(n int) func(map[string]any) { return func(body map[string]any) { body["hours"] = n } }

func TestPreview_ComparesWithCurrent(t *testing.T) {
	d := dash(t)
	began := d.recordEvening()
	p := decode[previewed](t, d.try(func(p *chatguard.Policy) {
		p.Mode = chatguard.ModeObserve // the preview enforces it anyway
		p.Limits[0].Burst = 2
		p.Limits = append(p.Limits, chatguard.Limit{
			Name: "watched", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour, Mode: chatguard.ModeObserve,
		})
	}))
	if !p.From.Equal(began) || p.Until.Before(began) || p.Messages != 10 || p.Users != 3 || p.Exempt != 2 || p.Truncated {
		t.Errorf("of the messages: %+v", p)
	}
	if got := fmt.Sprint(*p.InForce, *p.Candidate); got != "{2 1 2 map[burst:2] map[] map[delete:2] 0 []} {4 2 2 map[burst:4] map[watched:2] map[delete:4] 0 []}" {
		t.Errorf("today and then: %s", got)
	}
	if got := fmt.Sprint(p.Changed); got != "[{61 anna Anna 2 3} {62 berta  0 1}]" {
		t.Errorf("changed: %s", got)
	}
	if len(d.throttledUsers()) != 0 || d.guard.ChannelPolicy(channelID).Limits[0].Burst != 3 || len(d.store.revisions) > 0 || !d.say(previewBerta, 3).Allowed {
		t.Error("the preview changed the policy, a revision or a user's state")
	}
}

func TestPreview_AppliesOverrides(t *testing.T) {
	d := dash(t)
	d.recordEvening()
	for _, test := range []struct {
		own  chatguard.UserOverride
		want string
	}{
		{chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 4}}}, "1 of 10, then 2"},
		{chatguard.UserOverride{Exempt: chatguard.ExemptAlways}, "0 of 10, then 1"},
	} {
		if err := inner.At(d.guard, d.now()).SetUserOverride(t.Context(), chatguard.Key{ChannelID: channelID, UserID: previewAnna.ID}, test.own); err != nil {
			t.Fatal(err)
		}
		p := decode[previewed](t, d.try(burst(2)))
		if got := fmt.Sprintf("%d of %d, then %d", p.InForce.ThrottledMessages, p.Messages, p.Candidate.ThrottledMessages); got != test.want {
			t.Errorf("with %+v %s, want %s", test.own, got, test.want)
		}
	}
}

func TestPreview_Hours(t *testing.T) {
	d := dash(t)
	d.recordEvening()
	if p := decode[previewed](t, d.try(burst(2), setHours(4))); p.Messages != 0 || p.Until.Sub(p.From) != 4*time.Hour || p.Changed == nil {
		t.Errorf("of the last 4 hours: %+v", p)
	}
	d.say(previewAnna, 1)
	if p := decode[previewed](t, d.try(burst(2), setHours(6))); p.Messages != 11 {
		t.Errorf("of the last 6 hours: %+v", p)
	}
}

func TestPreview_ReusesMessages(t *testing.T) {
	reads := 0
	d := dash(t, watchReads(func(context.Context) error { reads++; return nil }))
	d.recordEvening()
	for _, step := range []struct {
		name      string
		do        func()
		burst     int
		reads     int
		throttled int // today
	}{
		{"the first", func() {}, 2, 1, 2},
		{"another candidate", func() {}, 1, 1, 2},
		{"another policy in force", func() { decode[journal.Revision](t, d.put(burst(2))) }, 1, 1, 4},
		{"a while later", func() { d.advance(lookbackKept) }, 1, 2, 4},
	} {
		step.do()
		if p := decode[previewed](t, d.try(burst(step.burst))); reads != step.reads || p.InForce.ThrottledMessages != step.throttled {
			t.Errorf("%s: read %d times, want %d; throttled today: %+v, want %d", step.name, reads, step.reads, p.InForce, step.throttled)
		}
	}
}

func TestPreview_InvalidCandidate(t *testing.T) {
	d := dash(t, addLimits(t, everywhere))
	as := func(key string, value any) func(map[string]any) {
		return func(body map[string]any) { body[key] = value }
	}
	for name, test := range map[string]struct {
		change func(*chatguard.Policy)
		adjust func(map[string]any)
		status int
		says   string
	}{
		"can't pass":     {burst(-1), setHours(48), http.StatusUnprocessableEntity, "burst"},
		"everywhere":     {func(p *chatguard.Policy) { p.Limits[2].Messages = 1 }, setHours(48), http.StatusUnprocessableEntity, "applies to all channels"},
		"no hours":       {burst(2), setHours(0), http.StatusUnprocessableEntity, "1 to 48 hours"},
		"too many hours": {burst(2), setHours(49), http.StatusUnprocessableEntity, "1 to 48 hours"},
		"no policy":      {burst(2), as("policy", nil), http.StatusBadRequest, "Send the policy"},
		"unknown key":    {burst(2), as("policies", 1), http.StatusBadRequest, "policies"},
		"half a policy":  {burst(2), as("policy", map[string]any{"mode": "observe"}), http.StatusUnprocessableEntity, "lacks"},
		"unknown in it":  {burst(2), as("policy", map[string]any{"limit": 1}), http.StatusBadRequest, "limit"},
	} {
		if a := d.try(test.change, test.adjust); a.StatusCode != test.status || !strings.Contains(string(a.body), test.says) {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
	}
	d.wantStatus("of an unknown channel", http.StatusNotFound, "POST", "/api/v1/channels/8/preview", map[string]any{"policy": d.guard.ChannelPolicy(channelID)}, asOwner)
}

func TestPreview_StoreInTrouble(t *testing.T) {
	d := dash(t, watchReads(func(context.Context) error { return errors.New("damaged: /secret/path") }))
	a := d.try(burst(2))
	if a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(a.body), "can't be read") || strings.Contains(string(a.body), "secret") {
		t.Errorf("%s %s", a.Status, a.body)
	}
}

func TestPreview_TakesTurn(t *testing.T) {
	var d *dashboard
	taken := 0
	d = dash(t, watchReads(func(context.Context) error { taken = len(d.server.reads.all); return nil }))
	decode[previewed](t, d.try(burst(2)))
	if left := len(d.server.reads.all); taken != 1 || left != 0 {
		t.Errorf("%d long reads are counted during the preview, %d afterwards", taken, left)
	}
}

func TestPreview_EndsWithRequest(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error)
	d := dash(t, watchReads(func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}))
	ctx, cancel := context.WithCancel(context.Background())
	body, err := json.Marshal(map[string]any{"policy": d.guard.ChannelPolicy(channelID)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+d.address+previewPath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	asOwner(r)
	answered := make(chan error)
	go func() {
		_, err := d.client.Do(r)
		answered <- err
	}()
	<-begun
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPreview_CacheExpires(t *testing.T) {
	read := func(messages int) *lookback {
		timeline := simulate.NewTimeline(messages)
		timeline.Add(make([]journal.TimelineMessage, messages))
		return &lookback{hours: 48, at: noon, timeline: timeline}
	}
	small, large := read(1), read(1_000_000)
	p := newPreviewCache()
	p.room = large.timeline.Bytes()
	p.keep("7", large)
	p.keep("8", small)
	if p.find("7", 48, noon) != large || p.find("8", 48, noon) != nil {
		t.Error("the cache does not hold exactly the first timeline")
	}
	p.keep("7", small)
	p.keep("8", small)
	for name, found := range map[string]*lookback{
		"of other hours": p.find("7", 47, noon), "that is too old": p.find("7", 48, noon.Add(lookbackKept)), "of the future": p.find("7", 48, noon.Add(-1)),
	} {
		if found != nil {
			t.Errorf("a cached timeline %s is used", name)
		}
	}
	if p.find("7", 48, noon.Add(lookbackKept-1)) != small || p.find("8", 48, noon) != small {
		t.Error("a cached timeline is not found")
	}
	p.forget(noon.Add(lookbackKept - 1))
	if len(p.kept) != 2 {
		t.Errorf("%d are kept", len(p.kept))
	}
	if p.forget(noon.Add(lookbackKept)); len(p.kept) != 0 {
		t.Errorf("%d are kept for good", len(p.kept))
	}
}

func TestPreview_Truncated(t *testing.T) {
	d := dash(t)
	timeline := simulate.NewTimeline(1)
	timeline.Add([]journal.TimelineMessage{{At: noon, UserID: "1", Cost: 1}, {At: noon.Add(time.Second), UserID: "2", Cost: 1}})
	d.server.previews.cache.keep(channelID, &lookback{hours: 48, at: d.now(), timeline: timeline})
	if p := decode[previewed](t, d.try(burst(2))); !p.Truncated || p.Messages != 1 || !p.From.Equal(noon.Add(time.Second)) {
		t.Errorf("%+v", p)
	}
}
