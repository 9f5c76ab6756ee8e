package sqlitestore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openStore(t *testing.T, path string) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() }) // some tests have closed it
	return store
}

func newGuard(t *testing.T) *chatguard.Guard {
	t.Helper()
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func TestStore_OrderOfCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	store := openStore(t, path)
	if err := store.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "call its Restore first") {
		t.Errorf("Run before Restore: %v", err)
	}
	if _, err := store.Restore(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the Guard is missing") {
		t.Errorf("no Guard: %v", err)
	}
	if _, err := store.Restore(t.Context(), newGuard(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), newGuard(t)); err == nil || !strings.Contains(err.Error(), "open one for each Guard") {
		t.Errorf("a second Guard: %v", err)
	}
	if _, err := sqlitestore.Open(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a second owner: %v", err)
	}
}

func TestOptions_NegativeTimesRefused(t *testing.T) {
	for want, opts := range map[string]sqlitestore.Options{
		"sqlitestore: FlushInterval is -1s: set it to 0 for the default, or higher":  {FlushInterval: -time.Second},
		"sqlitestore: Retention is -24h0m0s: set it to 0 for the default, or higher": {Retention: -24 * time.Hour},
	} {
		if _, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "chat.db"), &opts); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestHealth_Waiting(t *testing.T) {
	store, guard := openStore(t, filepath.Join(t.TempDir(), "chat.db")), newGuard(t)
	if _, err := store.Restore(t.Context(), guard); err != nil {
		t.Fatal(err)
	}
	if _, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}); err != nil {
		t.Fatal(err)
	}
	if h := store.Health(); h.Failing || h.Waiting != 1 || !h.LastFlush.IsZero() {
		t.Errorf("before Run: %+v", h)
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := store.Run(over); err != nil {
		t.Fatal(err)
	}
	if h := store.Health(); h.Failing || h.Waiting != 0 || h.LastFlush.IsZero() {
		t.Errorf("after Run: %+v", h)
	}
}

// TestOptions_TimesApply checks a retention of an hour, enforced every ten minutes.
func TestOptions_TimesApply(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlitestore.Open(t.Context(), path, &sqlitestore.Options{FlushInterval: 10 * time.Minute, Retention: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		guard := newGuard(t)
		if _, err := store.Restore(t.Context(), guard); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- store.Run(ctx) }()
		synctest.Wait()
		var v chatguard.Verdict
		for v.EntryID == 0 {
			if v, err = guard.Check(ctx, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			after         time.Duration
			waits, stored bool
		}{{10*time.Minute - 1, true, true}, {10 * time.Minute, false, true}, {time.Hour, false, true}, {70 * time.Minute, false, false}} {
			time.Sleep(time.Until(v.At.Add(step.after)))
			synctest.Wait()
			_, stored, err := store.Inner().Store.Entry(ctx, v.EntryID)
			if waits := store.Health().Waiting > 0; err != nil || waits != step.waits || stored != step.stored {
				t.Errorf("after %v: waits %v, there %v, %v", step.after, waits, stored, err)
			}
		}
		end()
		if err := errors.Join(<-done, store.Close()); err != nil {
			t.Error(err)
		}
	})
}
