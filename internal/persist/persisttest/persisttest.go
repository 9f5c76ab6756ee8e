// Package persisttest contains what the tests of the store and of the packages above it share.
package persisttest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for Alter and Lock

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/penalties"
)

// Start is the time at which tests begin.
var Start = time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)

// At returns a clock that always shows now.
func At(now time.Time) func() time.Time { return func() time.Time { return now } }

// Must fails the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantError fails the test unless err is one line that contains all parts.
func WantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

// DatabasePath returns a database path in a temporary folder of the test.
func DatabasePath(t testing.TB) string { return filepath.Join(t.TempDir(), "chatguard.db") }

// Template is a file that is made once, and that tests copy. A database takes four times as long to
// create as to open.
type Template struct {
	mu   sync.Mutex
	data []byte
}

// Copy returns the path of a copy in a temporary folder of the test. If there is no file yet,
// create makes it.
func (f *Template) Copy(t testing.TB, create func(path string)) (path string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	path = DatabasePath(t)
	if f.data != nil {
		Must(t, os.WriteFile(path, f.data, 0o600))
		return path
	}
	create(path)
	data, err := os.ReadFile(path)
	Must(t, err)
	f.data = data
	return path
}

// Policy returns a policy that enforces a burst of 3 messages, one more every 4 s, and 300 per day.
// Its penalty ladder is that of a bot: delete, warn, time out.
func Policy() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Penalties.Ladder = []chatguard.Penalty{
		{Action: chatguard.ActionDelete},
		{Action: chatguard.ActionDelete},
		{Action: penalties.Warn},
		{Action: chatguard.ActionTimeout, Duration: 30 * time.Second},
		{Action: chatguard.ActionTimeout, Duration: 10 * time.Minute},
	}
	return p
}

// Message returns a message of a user in channel c1.
func Message(user string, sentAt time.Time) chatguard.Message {
	return chatguard.Message{ID: "m-" + user, ChannelID: "c1", User: chatguard.User{ID: user, Login: "login" + user}, Text: "hi", SentAt: sentAt}
}

// Snapshot returns the bytes of a database and of its write-ahead log.
func Snapshot(t testing.TB, path string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	Must(t, err)
	log, err := os.ReadFile(path + "-wal")
	if !errors.Is(err, os.ErrNotExist) {
		Must(t, err)
	}
	return [][]byte{data, log}
}

// Overwrite damages part of a file.
func Overwrite(t testing.TB, path string, offset, length int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	Must(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xA5}, int(length)), offset)
	Must(t, errors.Join(err, f.Close()))
}

// Alter executes one statement on a closed database.
func Alter(t testing.TB, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	Must(t, err)
	_, err = db.Exec(statement)
	Must(t, errors.Join(err, db.Close()))
}

// Lock holds a database's write lock, as another program would, until unlock is called.
func Lock(t testing.TB, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	Must(t, err)
	conn, err := db.Conn(t.Context())
	Must(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	Must(t, err)
	return func() {
		t.Helper()
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK")
		Must(t, errors.Join(err, conn.Close(), db.Close()))
	}
}

// AssertSame compares the verdicts of two Guards for users of channel c1, now and later.
func AssertSame(t testing.TB, a, b *chatguard.Guard, users ...string) {
	t.Helper()
	for _, user := range users {
		for _, later := range []time.Duration{0, time.Second, 9 * time.Second, time.Hour, 26 * time.Hour} {
			m := Message(user, Start.Add(later))
			va, errA := a.Peek(t.Context(), m)
			vb, errB := b.Peek(t.Context(), m)
			Must(t, errors.Join(errA, errB))
			va.Series, vb.Series = 0, 0 // the numbers of new series are arbitrary
			if va != vb {
				t.Errorf("user %s after %v:\n%+v\n%+v", user, later, va, vb)
			}
		}
	}
}

// Interrupt leaves a closed database as if a process had been killed in the middle of a change,
// without a write-ahead log: some pages are new, and SQLite's rollback journal has the old ones. A
// copy by VACUUM INTO has no write-ahead log until its first change.
func Interrupt(t testing.TB, path, change string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	Must(t, err)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN", change} {
		_, err := db.ExecContext(t.Context(), statement)
		Must(t, err)
	}
	killed := map[string][]byte{}
	for _, name := range []string{path, path + "-journal"} {
		killed[name], err = os.ReadFile(name)
		Must(t, err)
	}
	Must(t, db.Close())
	for name, data := range killed {
		Must(t, os.WriteFile(name, data, 0o600))
	}
}

// AssertEmpty fails the test unless a folder is empty.
func AssertEmpty(t testing.TB, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	Must(t, err)
	if len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}
