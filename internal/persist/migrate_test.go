package persist

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// appendMigration returns the current migrations and one more.
func appendMigration(script string) []string {
	return append(slices.Clip(Schema.Steps), script)
}

// schemaOf returns chatguard's schema with other migrations.
func schemaOf(steps []string) sqlite.Schema {
	return sqlite.Schema{Mark: Schema.Mark, Steps: steps}
}

// schemaIn returns a database's full schema.
func schemaIn(t *testing.T, db *sqlite.DB) string {
	t.Helper()
	lines := textsIn(t, db, "SELECT type || ' ' || name || ': ' || ifnull(sql, '') FROM sqlite_schema ORDER BY type, name")
	return fmt.Sprintf("version %d, application %d\n%s", countIn(t, db, "PRAGMA user_version"), countIn(t, db, "PRAGMA application_id"), strings.Join(lines, "\n"))
}

// openMigrated opens the database at path, and migrates it to the version after all steps.
func openMigrated(t *testing.T, path string, steps []string) *sqlite.DB {
	t.Helper()
	db, err := schemaOf(steps).Open(ctx, path)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// newOldDatabase returns the path of a database of an earlier version, after a statement.
func newOldDatabase(t *testing.T, version int, statement string, args ...any) (path string) {
	t.Helper()
	path = databasePath(t)
	old := openMigrated(t, path, Schema.Steps[:version])
	_, err := old.Writer.ExecContext(ctx, statement, args...)
	must(t, errors.Join(err, old.Close()))
	return path
}

func TestMigrate_SchemaEqualsFreshOne(t *testing.T) {
	t.Parallel()
	steps := appendMigration("ALTER TABLE state ADD COLUMN touched_at INTEGER NOT NULL DEFAULT 0; CREATE INDEX state_touched ON state (touched_at)")
	want := schemaIn(t, openMigrated(t, databasePath(t), steps))
	for version := 1; version < len(steps); version++ {
		path := databasePath(t)
		old := openMigrated(t, path, steps[:version])
		oldSchema := schemaIn(t, old)
		_, err := old.Writer.ExecContext(ctx, "INSERT INTO state VALUES ('c1', 'u1', 'burst', x'01')")
		must(t, errors.Join(err, old.Close()))

		db := openMigrated(t, path, steps)
		if got := schemaIn(t, db); got != want {
			t.Errorf("from version %d:\n%s\nwant:\n%s", version, got, want)
		}
		if countIn(t, db, "SELECT count(*) FROM state WHERE data = x'01'") != 1 {
			t.Errorf("from version %d: the state is gone", version)
		}
		kept := openMigrated(t, fmt.Sprintf("%s.v%d", path, version), steps[:version])
		if countIn(t, kept, "SELECT count(*) FROM state") != 1 || schemaIn(t, kept) != oldSchema {
			t.Errorf("the copy is %s", schemaIn(t, kept))
		}
	}
}

// Data written by version 1 keeps its meaning.
func TestMigrate_EntriesOfVersion1(t *testing.T) {
	t.Parallel()
	path := newOldDatabase(t, 1, `INSERT INTO journal VALUES
		(7, 0, 'c1', 'u1', 'anna', 'Anna', 'm', 'hello', 'burst', 1000000000, 2000000000, 2, 'timeout 30s', 3000000000, 'timeout', 'done', '')`)
	must(t, os.Chmod(path, 0o644))
	var log bytes.Buffer
	s := open(t, path, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: at(start)})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if !strings.Contains(log.String(), path+".v1") {
		t.Errorf("the log says %q of the copy", &log)
	}
	wantEntries(t, journal.Entry{
		ID: 7, At: statement.TimeAt(0), ChannelID: "c1", UserID: "u1", Login: "anna", DisplayName: "Anna", MessageID: "m", Text: "hello", Limit: "burst",
		MaySpeakAt: journal.OptionalTime{Time: statement.TimeAt(1e9)}, ResetAt: statement.TimeAt(2e9), Strikes: 2, Cost: 1, Penalty: chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: 30 * time.Second},
		Outcome: journal.Outcome{Entry: 7, At: statement.TimeAt(3e9), Action: chatguard.ActionTimeout, Result: journal.Done},
	})(s.Entries(ctx, journal.EntryFilter{ChannelID: "c1", N: 10}))
}

// The texts of notes don't stay in the audit.
func TestMigrate_NotesOfVersion11(t *testing.T) {
	t.Parallel()
	path := newOldDatabase(t, 11, `INSERT INTO audit VALUES (1, 0, 'owner', 'note', 'c1', 'u1', '{"note":1,"by":"owner","text":"Elm Street 5"}'),
		(2, 0, 'owner', 'delete_note', 'c1', 'u1', '{"note":1,"by":"owner","text":"Elm Street 5"}'), (3, 0, 'owner', 'ban', 'c1', 'u1', '{"text":"kept"}')`)
	s := open(t, path, nil)
	if n := s.count(t, `SELECT count(*) FROM audit WHERE detail = '{"note":1,"by":"owner"}' OR detail = '{"text":"kept"}'`); n != 3 {
		t.Errorf("%d of 3 are as they should be", n)
	}
}

// Tokens, codes and sessions of version 9 keep what they could do: moderators could also change
// notices. A session gets the origin of the token that its name had at the time.
func TestMigrate_AccessOfVersion9(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	old := openMigrated(t, path, Schema.Steps[:9])
	for i, row := range []struct{ secret, kind, name, access string }{
		{"by link, earlier", "session", "anna", "moderate"}, {"a token", "token", "anna", "moderate"}, {"by token", "session", "anna", "moderate"},
		{"by link", "session", "anna", "view"}, {"a code", "code", "berta", "moderate"}, {"a check token", "token", "game", "check"}, {"the owner", "session", "owner", "own"},
	} {
		hash, made := sha256.Sum256([]byte(row.secret)), start.Add(time.Duration(i)*time.Second)
		_, err := old.Writer.ExecContext(ctx, "INSERT INTO token (hash, kind, name, access, made_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
			hash[:], row.kind, row.name, row.access, made.UnixNano(), start.Add(time.Hour).UnixNano())
		must(t, err)
	}
	must(t, old.Close())

	s := open(t, path, &Options{Now: at(start.Add(time.Minute))})
	for secret, want := range map[string]auth.Identity{
		"a token":       {Name: "anna", Access: auth.ModerateNotices, From: auth.FromToken},
		"a check token": {Name: "game", Access: auth.Check, From: auth.FromToken},
	} {
		wantToken(t, s.Tokens, secret, want)
	}
	for secret, want := range map[string]auth.Identity{
		"by link, earlier": {Name: "anna", Access: auth.ModerateNotices, From: auth.FromLink},
		"by token":         {Name: "anna", Access: auth.ModerateNotices, From: auth.FromToken},
		"by link":          {Name: "anna", Access: auth.View, From: auth.FromLink},
		"the owner":        {Name: "owner", Access: auth.Own, From: auth.FromLink},
	} {
		if who, ok, err := s.Tokens.Session(ctx, secret); err != nil || !ok || !reflect.DeepEqual(who, want) {
			t.Errorf("%s: %+v, %v, %v", secret, who, ok, err)
		}
	}
	_, who, err := s.Tokens.RedeemCode(ctx, "a code")
	if want := (auth.Identity{Name: "berta", Access: auth.ModerateNotices, From: auth.FromLink}); err != nil || !reflect.DeepEqual(who, want) {
		t.Errorf("a code: %+v, %v", who, err)
	}
}

func TestMigrate_FailureChangesNothing(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	steps := appendMigration("CREATE TABLE half (id INTEGER); INSERT INTO missing VALUES (1)")
	before := openMigrated(t, path, steps[:len(steps)-1])
	want := schemaIn(t, before)
	must(t, before.Close())

	_, err := schemaOf(steps).Open(ctx, path)
	wantError(t, err, fmt.Sprintf("migration to version %d", len(steps)), path)

	after := openMigrated(t, path, steps[:len(steps)-1])
	if got := schemaIn(t, after); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := countIn(t, after, "SELECT count(*) FROM state"); n == 0 {
		t.Error("the state is gone")
	}
}

func TestMigrate_FreshLeavesNoCopy(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	open(t, path, nil)
	if _, err := os.Stat(path + ".v0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a copy of nothing: %v", err)
	}
}

func TestMigrate_OwnerOnly(t *testing.T) {
	t.Parallel()
	path := newOldDatabase(t, 1, "")
	_, err := OpenTokens(ctx, path, nil)
	wantError(t, err, path, "older version", "chatguard run")
}
