package host

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/policies"
)

// TestRun_NotifiesOfSavedPolicies checks that all followers are notified once an unsaved policy is
// saved.
func TestRun_NotifiesOfSavedPolicies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chatguard.db")
	synctest.Test(t, func(t *testing.T) {
		h, guard, followers := openFile(t, path), newGuard(t), []*recorder{{}, {}}
		restore(t, h, guard, Options{})
		for _, r := range followers {
			h.Follow(r)
		}
		// nothing is written before Run
		done, err := h.Policies.Revise(t.Context(), policies.Request{ChannelID: room, Author: "berta"}, func(p chatguard.Policy) (chatguard.Policy, error) {
			p.Limits[0].Burst = 5
			return p, nil
		})
		if err != nil || done.Saved || h.Policies.IsSaved(room) {
			t.Fatalf("%+v, %v", done, err)
		}
		end := run(t, h)
		time.Sleep(time.Minute)
		end()
		for _, r := range followers {
			r.want(t, "revised, saved "+room)
		}
		if !h.Policies.IsSaved(room) {
			t.Error("the policy still counts as unsaved")
		}
		must(t, h.Close())
	})
}

// TestRun_LastCallerSaves checks that callers of Run that end in any order leave nothing unsaved.
func TestRun_LastCallerSaves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chatguard.db")
	synctest.Test(t, func(t *testing.T) {
		h, guard := openFile(t, path), newGuard(t)
		restore(t, h, guard, Options{})
		first, second := run(t, h), run(t, h)
		first()
		if !h.Store.Commit(t.Context()) {
			t.Error("the first end stops writing")
		}
		say(t, guard)
		second()
		if n := h.Store.Health().Waiting; n != 0 {
			t.Errorf("%d records are pending after the last end", n)
		}
		third := run(t, h)
		if !h.Store.Commit(t.Context()) {
			t.Error("a Run that follows another doesn't write")
		}
		third()
		if h.Store.Commit(t.Context()) {
			t.Error("saved after Run")
		}
		must(t, h.Close())
	})
}

// run runs a Host until the returned function is called.
func run(t *testing.T, h *Host) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	synctest.Wait()
	return func() {
		t.Helper()
		cancel()
		must(t, <-done)
	}
}

func TestOf_EmbeddedHandle(t *testing.T) {
	type handle = Handle
	type store struct{ handle }
	type wrapper struct{ *store }
	h := openMemory(t)
	s := &store{NewHandle(h)}
	for value, want := range map[any]*Host{s: h, *s: h, wrapper{s}: h, store{}: nil, "": nil, nil: nil} {
		if got := Of(value); got != want {
			t.Errorf("the host of %T is %v, want %v", value, got, want)
		}
	}
}
