package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/webhook"
)

// receiver is a server of webhooks on loopback. It answers with status, which is 204 at first.
type receiver struct {
	*httptest.Server
	status   atomic.Int32
	requests atomic.Int32
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{}
	r.status.Store(http.StatusNoContent)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r.requests.Add(1)
		w.WriteHeader(int(r.status.Load()))
		if status := r.status.Load(); status >= 300 {
			fmt.Fprint(w, "answer of the receiver")
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// hook returns a hook of the configuration that leads to the receiver.
func (r *receiver) hook(name string) webhook.Hook {
	return webhook.Hook{
		ID: webhook.ConfiguredID(name), Name: name, Address: webhook.Address(r.URL + "/hook/secret-part-of-the-address"), Format: webhook.Discord,
		Events: webhook.Kinds, AllowPrivate: true,
	}
}

// withWebhooks lets a dashboard send events to hooks of the configuration.
func withWebhooks(t testing.TB, hooks ...webhook.Hook) func(*Options) {
	return func(o *Options) {
		sender := webhook.New(webhook.Options{Store: o.Store.(*testStore).Store})
		if err := sender.Restore(context.Background()); err != nil {
			t.Fatal(err)
		}
		sender.SetConfigured(hooks)
		o.Webhooks = sender
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- sender.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// bury makes a delivery to a hook fail for good, and returns the dead letter's number.
func (d *dashboard) bury(r *receiver, id string) int64 {
	d.Helper()
	before := r.status.Swap(http.StatusGone)
	defer r.status.Store(before)
	d.opts.Webhooks.Send(webhook.Event{Kind: webhook.Pause, Channel: &webhook.Channel{ID: channelID, Login: "somechannel"}, Pause: &webhook.PauseChange{Paused: true, By: "anna"}})
	for {
		_, dead, err := d.opts.Webhooks.Deliveries(id)
		if err != nil {
			d.Fatal(err)
		}
		if len(dead) > 0 {
			return dead[0].ID
		}
		time.Sleep(time.Millisecond) // the request is in progress
	}
}

// aWebhook is the body of a request for a webhook.
var aWebhook = map[string]any{"name": "team", "url": "https://discord.com/api/webhooks/1234567890/secret-part-of-it", "format": "discord", "events": []string{"raid", "pause"}}

func TestWebhooks_AddChangeDelete(t *testing.T) {
	r := newReceiver(t)
	d := dash(t, withWebhooks(t, r.hook("file")))
	added := decode[map[string]any](t, d.do("POST", "/api/v1/webhooks", aWebhook, asOwner))
	shown := added["webhook"].(map[string]any)
	if added["saved"] != true || added["secret"] != nil || shown["address"] != "https://discord.com/…f-it" || shown["configured"] != false {
		t.Errorf("%v", added)
	}
	path := "/api/v1/webhooks/" + shown["id"].(string)
	signed := map[string]any{"name": "signed", "format": "signed", "events": []string{"ban"}, "channels": []string{"somechannel"}}
	changed := decode[map[string]any](t, d.do("PUT", path, signed, asOwner))
	if secret, _ := changed["secret"].(string); !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("%v", changed)
	}
	list := decode[webhookList](t, d.do("GET", "/api/v1/webhooks", nil, asOwner)).Webhooks
	if len(list) != 2 || list[0].Name != "file" || !list[0].IsConfigured || list[1].Name != "signed" || list[1].Channels[0] != "somechannel" {
		t.Errorf("%+v", list)
	}
	if a := d.do("DELETE", path, nil, asOwner); decode[webhookSaved](t, a) != (webhookSaved{true}) {
		t.Errorf("%s", a.body)
	}
	all := d.do("GET", "/api/v1/audit?action=webhook", nil, asOwner)
	if n := len(decode[auditAnswer](t, all).Changes); n != 3 || strings.Contains(string(all.body), "secret-part") || strings.Contains(string(all.body), "whsec") {
		t.Errorf("%d changes: %s", n, all.body)
	}
}

func TestWebhooks_Refused(t *testing.T) {
	r := newReceiver(t)
	d := dash(t, withWebhooks(t, r.hook("file")))
	inside := map[string]any{"name": "x", "url": "https://169.254.169.254/latest", "format": "discord", "events": []string{"raid"}}
	allowed := map[string]any{"name": "x", "url": "https://10.0.0.1/", "format": "discord", "events": []string{"raid"}, "allow_private": true}
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		says         string
	}{
		{"POST", "/webhooks", inside, 422, "169.254.169.254 is not an address on the public internet"},
		{"POST", "/webhooks", allowed, 400, "allow_private"}, // only the configuration has this key
		{"PUT", "/webhooks/config:file", aWebhook, 409, "Change it there."},
		{"DELETE", "/webhooks/config:file", nil, 409, "Change it there."},
		{"DELETE", "/webhooks/other", nil, 404, "no such webhook"},
		{"POST", "/webhooks/other/test", nil, 404, "no such webhook"},
		{"GET", "/webhooks/other/deliveries", nil, 404, "no such webhook"},
		{"DELETE", "/webhooks/config:file/deliveries/7", nil, 404, "no such delivery"},
		{"POST", "/webhooks/config:file/deliveries/x/retry", nil, 404, "no such delivery"},
	} {
		a := d.do(c.method, "/api/v1"+c.path, c.body, asOwner)
		if a.StatusCode != c.status || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s %s: %s %s", c.method, c.path, a.Status, a.body)
		}
		for _, access := range []auth.Access{auth.View, auth.Moderate} {
			d.wantStatus(fmt.Sprintf("%s %s with %s", c.method, c.path, access), http.StatusForbidden, c.method, "/api/v1"+c.path, c.body, d.as(access))
		}
	}
}

func TestWebhooks_TestAndDeadLetters(t *testing.T) {
	r := newReceiver(t)
	d := dash(t, withWebhooks(t, r.hook("file")))
	const path = "/api/v1/webhooks/config:file"
	number := d.bury(r, "config:file")
	listed := decode[webhookDeliveries](t, d.do("GET", path+"/deliveries", nil, asOwner))
	if len(listed.Waiting) != 0 || len(listed.Dead) != 1 || listed.Dead[0].Reason != "the server answered 410 Gone" || !strings.Contains(listed.Dead[0].Text, "anna paused chatguard") {
		t.Errorf("%+v", listed)
	}
	retry := fmt.Sprintf("%s/deliveries/%d/retry", path, number)
	if a := d.do("POST", retry, nil, asOwner); a.StatusCode != http.StatusConflict || !strings.Contains(string(a.body), "switched off") {
		t.Errorf("%s %s", a.Status, a.body)
	}
	r.status.Store(http.StatusTeapot)
	failed := decode[map[string]any](t, d.do("POST", path+"/test", nil, asOwner))
	if failed["delivered"] != false || failed["problem"] != "the server answered 418 I'm a teapot" || failed["answer"] != nil { // a private address
		t.Errorf("%v", failed)
	}
	r.status.Store(http.StatusOK)
	if tested := decode[map[string]any](t, d.do("POST", path+"/test", nil, asOwner)); tested["delivered"] != true {
		t.Errorf("%v", tested)
	}
	d.wantStatus(retry, http.StatusOK, "POST", retry, nil, asOwner)
	for r.requests.Load() < 4 {
		time.Sleep(time.Millisecond) // the queue's goroutine sends it
	}
	for _, action := range decode[auditAnswer](t, d.do("GET", "/api/v1/audit", nil, asOwner)).Changes {
		if action.Action != journal.WebhookChanged {
			t.Errorf("%+v", action)
		}
	}
	number = d.bury(r, "config:file")
	d.wantStatus(fmt.Sprintf("%s/deliveries/%d", path, number), http.StatusOK, "DELETE", fmt.Sprintf("%s/deliveries/%d", path, number), nil, asOwner)
}

// auditAnswer is an auditPage as a caller reads it.
type auditAnswer struct {
	Changes []auditAnswered `json:"changes"`
	More    bool            `json:"more"`
}

type auditAnswered struct {
	shownAudit
	Detail json.RawMessage `json:"detail"`
}

// newestAudit returns the newest change.
func (d *dashboard) newestAudit() auditAnswered {
	d.Helper()
	page := decode[auditAnswer](d, d.do("GET", "/api/v1/audit?n=1&channel="+channelID, nil, asOwner))
	if len(page.Changes) == 0 {
		d.Fatal("no changes")
	}
	return page.Changes[0]
}
