package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(t *testing.T, path string, guard *chatguard.Guard) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), path, guard, nil)
	must(t, err)
	t.Cleanup(func() { store.Close() }) // some tests have closed it
	return store
}

func newGuard(t *testing.T) *chatguard.Guard {
	t.Helper()
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	must(t, err)
	return guard
}

func say(t *testing.T, guard *chatguard.Guard) chatguard.Verdict {
	t.Helper()
	v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}})
	must(t, err)
	return v
}

// over returns a context that has ended.
func over(t *testing.T) context.Context {
	ctx, end := context.WithCancel(t.Context())
	end()
	return ctx
}

// TestOpen_Errors checks that every error names the package and, if there is one, the file.
func TestOpen_Errors(t *testing.T) {
	path, damaged := filepath.Join(t.TempDir(), "chat.db"), filepath.Join(t.TempDir(), "damaged.db")
	must(t, os.WriteFile(damaged, []byte("no database"), 0o600))
	openStore(t, path, newGuard(t))
	for want, test := range map[string]struct {
		path  string
		guard *chatguard.Guard
		opts  sqlitestore.Options
	}{
		"sqlitestore: the Guard is missing: create one with chatguard.New":            {guard: nil},
		"sqlitestore: database " + path + " is in use by another container, or twice": {path, newGuard(t), sqlitestore.Options{}},
		"sqlitestore: database " + damaged + ": it is damaged":                        {damaged, newGuard(t), sqlitestore.Options{}},
		"sqlitestore: FlushInterval is -1s: set it to 0 for the default, or higher":   {guard: newGuard(t), opts: sqlitestore.Options{FlushInterval: -time.Second}},
		"sqlitestore: Retention is -24h0m0s: set it to 0 for the default, or higher":  {guard: newGuard(t), opts: sqlitestore.Options{Retention: -24 * time.Hour}},
	} {
		if _, err := sqlitestore.Open(t.Context(), test.path, test.guard, &test.opts); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestOpen_FailedRestoreReleasesFile checks that a file whose state can't be restored is closed.
func TestOpen_FailedRestoreReleasesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	store := openStore(t, path, newGuard(t))
	must(t, store.Close())
	harm(t, path, "ALTER TABLE state RENAME COLUMN data TO bytes")
	for range 2 { // the second would fail for another reason if the first kept the file
		if _, err := sqlitestore.Open(t.Context(), path, newGuard(t), nil); err == nil || !strings.HasPrefix(err.Error(), "sqlitestore: ") || !strings.Contains(err.Error(), "data") {
			t.Errorf("%v", err)
		}
	}
}

func harm(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), statement)
	}
	must(t, errors.Join(err, db.Close()))
}

// TestRun_ReportsLoss checks the error of a last write that fails.
func TestRun_ReportsLoss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	guard := newGuard(t)
	store := openStore(t, path, guard)
	harm(t, path, "ALTER TABLE state RENAME COLUMN data TO bytes")
	say(t, guard)
	if err := store.Run(over(t)); err == nil || !strings.HasPrefix(err.Error(), "sqlitestore: everything from the last 1s is lost") {
		t.Errorf("%v", err)
	}
	if h := store.Health(); !h.Failing {
		t.Errorf("%+v", h)
	}
}

// TestRun_Several checks Runs of one Store that overlap and follow each other.
func TestRun_Several(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	guard := newGuard(t)
	store := openStore(t, path, guard)
	long, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- store.Run(long) }()
	if err := store.Run(over(t)); err != nil {
		t.Error(err)
	}
	say(t, guard)
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
	say(t, guard)
	if err := errors.Join(store.Run(over(t)), store.Close()); err != nil {
		t.Error(err)
	}
	guard = newGuard(t)
	if store := openStore(t, path, guard); store.Restored().Rows != 2 || store.Restored().Unreadable != 0 {
		t.Errorf("%+v", store.Restored())
	}
	if v := say(t, guard); v.Remaining != 0 {
		t.Errorf("the third message: %+v", v)
	}
}

func TestHealth_Waiting(t *testing.T) {
	guard := newGuard(t)
	store := openStore(t, filepath.Join(t.TempDir(), "chat.db"), guard)
	say(t, guard)
	if h := store.Health(); h.Failing || h.Waiting != 1 || !h.LastFlush.IsZero() {
		t.Errorf("before Run: %+v", h)
	}
	must(t, store.Run(over(t)))
	if h := store.Health(); h.Failing || h.Waiting != 0 || h.LastFlush.IsZero() {
		t.Errorf("after Run: %+v", h)
	}
}

// TestOptions_TimesApply checks a retention of an hour, enforced every ten minutes.
func TestOptions_TimesApply(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(t)
		store, err := sqlitestore.Open(t.Context(), path, guard, &sqlitestore.Options{FlushInterval: 10 * time.Minute, Retention: time.Hour})
		must(t, err)
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- store.Run(ctx) }()
		synctest.Wait()
		var v chatguard.Verdict
		for v.EntryID == 0 {
			v = say(t, guard)
		}
		for _, step := range []struct {
			after         time.Duration
			waits, stored bool
		}{{10*time.Minute - 1, true, true}, {10 * time.Minute, false, true}, {time.Hour, false, true}, {70 * time.Minute, false, false}} {
			time.Sleep(time.Until(v.At.Add(step.after)))
			synctest.Wait()
			_, stored, err := host.Of(store).Store.Entry(ctx, v.EntryID)
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

// TestClose_WithoutRun checks that a program that forgets Run loses nothing.
func TestClose_WithoutRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	hello := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	for left := 2; left >= 0; left-- {
		guard := newGuard(t)
		store, err := sqlitestore.Open(t.Context(), path, guard, nil)
		must(t, err)
		v, err := guard.Check(t.Context(), hello)
		if err != nil || v.Remaining != left {
			t.Errorf("%s, %v; want %d left", v, err, left)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
