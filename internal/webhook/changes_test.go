package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// wanted is a hook that a person could make.
func wanted(name string) Wanted {
	return Wanted{Name: name, Address: "https://discord.com/api/webhooks/1234567890/secret-part-of-it", Format: Discord, Events: []Kind{Raid, Pause}}
}

func TestAdd(t *testing.T) {
	b := begin(t)
	ctx := t.Context()
	added, err := b.Add(ctx, wanted("first"), "owner")
	must(t, err)
	if !added.Saved || added.Secret != "" || added.Hook.IsConfigured || added.Hook.AllowPrivate {
		t.Errorf("%+v", added)
	}
	w := wanted("signed")
	w.Format, w.Channels = Signed, []string{"somechannel"}
	signed, err := b.Add(ctx, w, "owner")
	must(t, err)
	must(t, CheckSecret(Secret(signed.Secret)))

	w.Address, w.Name = "", "renamed"
	changed, err := b.Change(ctx, signed.Hook.ID, w, "berta")
	must(t, err)
	if changed.Secret != "" || changed.Hook.Address == "" || changed.Hook.Name != "renamed" {
		t.Errorf("%+v", changed)
	}
	w.NewSecret = true
	renewed, err := b.Change(ctx, signed.Hook.ID, w, "berta")
	must(t, err)
	if renewed.Secret == "" || renewed.Secret == signed.Secret {
		t.Errorf("%+v", renewed)
	}
	w.NewSecret, w.Address = false, wanted("").Address
	if same, err := b.Change(ctx, signed.Hook.ID, w, "berta"); err != nil || same.Secret != "" {
		t.Errorf("the same address: %+v, %v", same, err)
	}
	w.Address += "/elsewhere"
	renewed, err = b.Change(ctx, signed.Hook.ID, w, "berta")
	must(t, err)
	if renewed.Secret == "" {
		t.Error("the receiver at another address knows the former one's secret")
	}
	b.restart()
	b.mu.Lock()
	kept := b.hooks[signed.Hook.ID].Hook
	b.mu.Unlock()
	if kept.Secret != Secret(renewed.Secret) || kept.Address != w.Address || kept.Name != "renamed" || kept.Channels[0] != "somechannel" || len(b.List()) != 2 {
		t.Errorf("%+v", kept)
	}
	if saved, err := b.Remove(ctx, signed.Hook.ID, "owner"); !saved || err != nil {
		t.Errorf("%v, %v", saved, err)
	}
	b.restart()
	if list := b.List(); len(list) != 1 || list[0].ID != added.Hook.ID {
		t.Errorf("%+v", list)
	}
	audits, err := b.store.Audits(ctx, journal.AuditFilter{N: 10})
	must(t, err)
	data, err := json.Marshal(audits)
	must(t, err)
	for _, word := range []string{`"deleted"`, `"changed"`, `"added"`, `"new_secret":true`, `"host":"discord.com"`, "berta"} {
		if !strings.Contains(string(data), word) {
			t.Errorf("the audit lacks %s: %s", word, data)
		}
	}
	if len(audits) != 7 || strings.Contains(string(data), "secret-part") || strings.Contains(string(data), renewed.Secret) {
		t.Errorf("%s", data)
	}
}

func TestAdd_Invalid(t *testing.T) {
	s := serve(t)
	b := begin(t, to(s))
	for want, adjust := range map[string]func(*Wanted){
		"name of 1 to 50":      func(w *Wanted) { w.Name = "" },
		"on one line":          func(w *Wanted) { w.Name = "a\nb" },
		"another webhook has":  func(w *Wanted) { w.Name = "test" },
		"not a format":         func(w *Wanted) { w.Format = "slack" },
		"at least one":         func(w *Wanted) { w.Events = nil },
		"not an event: choose": func(w *Wanted) { w.Events = []Kind{"raid", "test"} },
		"listed twice":         func(w *Wanted) { w.Events = []Kind{"raid", "raid"} },
		"a login, a room":      func(w *Wanted) { w.Channels = []string{"a\nb"} },
		"at most 100 channels": func(w *Wanted) { w.Channels = strings.Split(strings.Repeat("a ", 101), " ") },
		"not a URL":            func(w *Wanted) { w.Address = "" },
		"public internet":      func(w *Wanted) { w.Address = "https://10.0.0.1/x" },
		"use https":            func(w *Wanted) { w.Address = "http://example.com/x" },
	} {
		w := wanted("new")
		adjust(&w)
		var invalid *InvalidError
		if _, err := b.Add(t.Context(), w, "owner"); !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for i := range maxHooks {
		_, err := b.Add(t.Context(), wanted(fmt.Sprint(i)), "owner")
		must(t, err)
	}
	if _, err := b.Add(t.Context(), wanted("one more"), "owner"); err == nil || !strings.Contains(err.Error(), "already 20") {
		t.Error(err)
	}
	if n := len(b.List()); n != maxHooks+1 {
		t.Errorf("%d hooks", n)
	}
}

func TestChange_Refused(t *testing.T) {
	s := serve(t)
	b := begin(t, to(s))
	ctx := t.Context()
	_, changeErr := b.Change(ctx, hookID, wanted("x"), "owner")
	_, removeErr := b.Remove(ctx, hookID, "owner")
	_, missingErr := b.Change(ctx, "missing", wanted("x"), "owner")
	_, resendErr := b.Resend(ctx, hookID, 99, "owner")
	_, discardErr := b.Discard(ctx, "missing", 99, "owner")
	for got, want := range map[error]error{changeErr: ErrConfigured, removeErr: ErrConfigured, missingErr: ErrNoHook, resendErr: ErrNoDelivery, discardErr: ErrNoHook} {
		if !errors.Is(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// A hook that is deleted while a request to it is in progress stays deleted.
func TestRemove_InProgress(t *testing.T) {
	s := serve(t)
	release := make(chan struct{})
	s.answers(func(w http.ResponseWriter, _ *http.Request) { <-release; w.WriteHeader(http.StatusGone) })
	b := begin(t)
	h := to(s)
	h.ID, h.Name = "own", "own"
	b.mu.Lock()
	q := b.put(h)
	b.mu.Unlock()
	b.Send(pauseBy("first"))
	b.Send(pauseBy("second"))
	s.next()
	_, err := b.Remove(t.Context(), "own", "owner")
	must(t, err)
	close(release)
	q.busy <- struct{}{} // the request has had its consequences
	b.restart()
	hooks, deliveries, err := b.store.Webhooks(t.Context())
	if err != nil || len(hooks)+len(deliveries) > 0 {
		t.Errorf("%v, %v, %v", hooks, deliveries, err)
	}
}

func TestDiscard(t *testing.T) {
	s, b := answerOnce(t, http.StatusBadRequest)
	d := b.dead(hookID)[0]
	if d.Event != Pause || d.Channel != "somechannel" || !d.At.Equal(b.clock.Now()) || !d.DeadAt.Equal(b.clock.Now()) {
		t.Errorf("%+v", d)
	}
	_, err := b.Discard(t.Context(), hookID, d.ID, "owner")
	must(t, err)
	b.restart(to(s))
	if n := len(b.dead(hookID)); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

// A test that arrives ends the pause of waiting deliveries. One that fails doesn't lengthen it.
func TestTest(t *testing.T) {
	s, b := answerOnce(t, http.StatusBadGateway)
	before := b.status(hookID).NextAt
	done, err := b.Test(t.Context(), hookID, "owner")
	must(t, err)
	s.next()
	if done.Delivered || done.Status != http.StatusBadGateway || done.Problem == "" || !done.Hook.NextAt.Equal(before) || done.Hook.Waiting != 1 {
		t.Errorf("%+v", done)
	}
	s.answersStatus(http.StatusOK)
	done, err = b.Test(t.Context(), hookID, "owner")
	must(t, err)
	if !done.Delivered || done.Problem != "" {
		t.Errorf("%+v", done)
	}
	var e Event
	must(t, json.Unmarshal(s.next().body, &e))
	if e.Kind != Test || !e.Test {
		t.Errorf("%+v", e)
	}
	if by := author(t, s.next()); by != "anna" {
		t.Error(by)
	}
	if b.clock.Now().Sub(before) > time.Second {
		t.Error("the pause has passed")
	}
}
