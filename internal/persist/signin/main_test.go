package signin

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

var (
	must      = persisttest.Must
	wantError = persisttest.WantError
	snapshot  = persisttest.Snapshot
	overwrite = persisttest.Overwrite
	at        = persisttest.At
	start     = persisttest.Start
	ctx       = context.Background()
)

// endedContext is a context that has ended.
var endedContext = func() context.Context {
	ended, end := context.WithCancel(ctx)
	end()
	return ended
}()

// schema is that of chatguard's database.
var schema = func() sqlite.Schema {
	sqlite.RegisterFunction("chatguard_name_key", func(_, _ string) string { return "" })
	steps, err := sqlite.ReadMigrations(os.DirFS(".."))
	if err != nil {
		panic(err)
	}
	return sqlite.Schema{Mark: 0x63686774, Steps: steps}
}()

// store is a database that this process owns.
type store struct {
	Tokens *Tokens
	db     *sqlite.DB
}

// Options are the settings of a store.
type Options struct{ Now func() time.Time }

var emptyDatabase persisttest.Template

// newDatabase returns the path of a database without rows.
func newDatabase(t testing.TB) (path string) {
	t.Helper()
	return emptyDatabase.Copy(t, func(path string) {
		db, err := schema.Open(ctx, path)
		must(t, err)
		must(t, db.Close())
	})
}

// open opens a database. The end of the test closes it, if it is still open.
func open(t testing.TB, path string, opts *Options) *store {
	t.Helper()
	if opts == nil {
		opts = &Options{Now: at(start)}
	}
	db, err := schema.Open(ctx, path)
	must(t, err)
	s := &store{New(db, opts.Now), db}
	t.Cleanup(func() { s.Close() })
	return s
}

// openBeside opens a database that another process may own.
func openBeside(path string, now func() time.Time) (*Tokens, error) {
	db, err := schema.OpenBeside(ctx, path)
	if err != nil {
		return nil, err
	}
	return New(db, now), nil
}

// Close closes the database.
func (s *store) Close() error { return s.db.Close() }

// exec runs a statement on the writing connection.
func (s *store) exec(t testing.TB, statement string) {
	t.Helper()
	must(t, s.db.Exec(ctx, statement))
}

func (s *store) wantRows(t testing.TB, table string, want int) {
	t.Helper()
	n := 0
	must(t, s.db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&n) }, "SELECT count(*) FROM "+table))
	if n != want {
		t.Errorf("%d rows in %s, want %d", n, table, want)
	}
}

// isFileError reports whether err comes from the database.
func isFileError(err error) bool { return errors.As(err, new(*sqlite.Error)) }

// damage overwrites all pages of the database but the first.
func damage(t *testing.T, s *store) (repair func()) {
	s.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)")
	whole, err := os.ReadFile(s.db.Path)
	must(t, err)
	overwrite(t, s.db.Path, 4096, int64(len(whole))-4096)
	s.exec(t, "PRAGMA shrink_memory") // so that the pages are read again
	return func() { must(t, os.WriteFile(s.db.Path, whole, 0o600)) }
}
