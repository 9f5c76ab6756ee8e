package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// withNext is today's migrations and one more.
func withNext(t *testing.T, script string) []string {
	t.Helper()
	steps, err := readMigrations(migrationFiles)
	must(t, err)
	return append(steps, script)
}

// schema is all that a database says of its own shape.
func (s *Store) schema(t *testing.T) string {
	t.Helper()
	rows, err := s.db.reader.QueryContext(ctx, "SELECT type || ' ' || name || ': ' || ifnull(sql, '') FROM sqlite_schema ORDER BY type, name")
	must(t, err)
	defer rows.Close()
	lines := []string{fmt.Sprint("version ", s.count(t, "PRAGMA user_version"), ", application ", s.count(t, "PRAGMA application_id"))}
	for rows.Next() {
		var line string
		must(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	must(t, rows.Err())
	return strings.Join(lines, "\n")
}

func TestMigratedSchemaEqualsAFreshOne(t *testing.T) {
	steps := withNext(t, "ALTER TABLE state ADD COLUMN touched_at INTEGER NOT NULL DEFAULT 0; CREATE INDEX state_touched ON state (touched_at)")
	fresh, err := openStore(ctx, databasePath(t), nil, steps)
	must(t, err)
	defer fresh.Close()
	for version := 1; version < len(steps); version++ {
		path := databasePath(t)
		old, err := openStore(ctx, path, nil, steps[:version])
		must(t, err)
		old.exec(t, "INSERT INTO state VALUES ('c1', 'u1', 'burst', x'01')")
		must(t, old.Close())

		migrated, err := openStore(ctx, path, nil, steps)
		must(t, err)
		defer migrated.Close()
		if got, want := migrated.schema(t), fresh.schema(t); got != want {
			t.Errorf("from version %d:\n%s\nwant:\n%s", version, got, want)
		}
		if migrated.count(t, "SELECT count(*) FROM state WHERE data = x'01'") != 1 {
			t.Errorf("from version %d: the state is gone", version)
		}
		kept := open(t, fmt.Sprintf("%s.v%d", path, version), nil)
		if kept.count(t, "SELECT count(*) FROM state") != 1 {
			t.Error("the copy lacks the state")
		}
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path := filled(t)
	before := open(t, path, nil)
	want := before.schema(t)
	must(t, before.Close())

	steps := withNext(t, "CREATE TABLE half (id INTEGER); INSERT INTO missing VALUES (1)")
	_, err := openStore(ctx, path, nil, steps)
	wantError(t, err, fmt.Sprintf("migration to version %d", len(steps)), path)

	after := open(t, path, nil)
	if got := after.schema(t); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := after.count(t, "SELECT count(*) FROM state"); n == 0 {
		t.Error("the state is gone")
	}
}

func TestFreshDatabaseLeavesNoCopy(t *testing.T) {
	path := databasePath(t)
	open(t, path, nil)
	if _, err := os.Stat(path + ".v0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a copy of nothing: %v", err)
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	_, err := readMigrations(fstest.MapFS{
		"migrations/0001_start.sql": {Data: []byte("SELECT 1")},
		"migrations/0003_third.sql": {Data: []byte("SELECT 1")},
	})
	wantError(t, err, "0003_third.sql", "0002_")
}

func TestOlderDatabaseIsForTheOwnerToMigrate(t *testing.T) {
	path := databasePath(t)
	old, err := openStore(ctx, path, nil, nil)
	must(t, err)
	must(t, old.Close())
	_, err = OpenTokens(ctx, path, nil)
	wantError(t, err, path, "older version", "chatguard run")
}
