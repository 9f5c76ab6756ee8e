package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// read returns the only number that a statement finds.
func (db *DB) read(t testing.TB, statement string, args ...any) (n int) {
	t.Helper()
	must(t, db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&n) }, statement, args...))
	return n
}

// A kept statement sees what was written since, also to the schema, and survives its connection.
func TestQuery_Kept(t *testing.T) {
	t.Parallel()
	memory, err := schema.OpenMemory(ctx)
	must(t, err)
	for name, s := range map[string]*DB{"file": open(t, newDatabase(t)), "memory": memory} {
		const statement = "SELECT count(*) FROM thing WHERE size >= ?"
		for range 2 {
			if err := s.Query(ctx, nil, statement, 1); err == nil {
				t.Errorf("%s: read a table that doesn't exist", name)
			}
		}
		must(t, s.Exec(ctx, "CREATE TABLE thing (size INTEGER)"))
		for i, change := range []func(){
			func() { must(t, s.Exec(ctx, "INSERT INTO thing VALUES (1)")) },
			s.reconnect,
			func() { must(t, s.Exec(ctx, "ALTER TABLE thing ADD COLUMN name TEXT")) },
			func() { must(t, s.Exec(ctx, "CREATE INDEX thing_size ON thing (size)")) },
			func() {
				must(t, s.Exec(ctx, "DROP TABLE thing"))
				must(t, s.Exec(ctx, "CREATE TABLE thing (name TEXT, size INTEGER)"))
				must(t, s.Exec(ctx, "INSERT INTO thing VALUES ('a', 2)"))
			},
		} {
			change()
			if small, none := s.read(t, statement, 1), s.read(t, statement, 3); small != 1 || none != 0 {
				t.Errorf("%s: after change %d: %d and %d rows", name, i, small, none)
			}
		}
		s.read(t, "SELECT count(*) FROM sqlite_schema WHERE name LIKE ?", "thing%")
		must(t, s.Close())
		if err := s.Query(ctx, nil, statement, 1); err == nil {
			t.Errorf("%s: read a closed database", name)
		}
	}
}

// A read that ends early, or is canceled, leaves its statement fit for the next one.
func TestQuery_EndsEarly(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t))
	const statement = "SELECT value FROM json_each(?)"
	enough := errors.New("enough")
	for range 10 {
		if err := s.Query(ctx, func(*sql.Rows) error { return enough }, statement, "[1,2,3]"); !errors.Is(err, enough) {
			t.Error(err)
		}
		canceled, cancel := context.WithCancel(ctx)
		err := s.Query(canceled, func(*sql.Rows) error { cancel(); return nil }, statement, "[1,2,3]")
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if n := s.read(t, statement, "[7]"); n != 7 {
			t.Errorf("read %d", n)
		}
	}
	must(t, s.Exec(ctx, "CREATE TABLE thing (size INTEGER)"))
	var busy, pages, copied int
	must(t, s.Writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied))
	if busy != 0 {
		t.Error("a read has left its transaction open")
	}
}

// Many goroutines read with few statements, each of which some use for the first time together, and
// within one another.
func TestQuery_Concurrent(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 40 {
				statement := fmt.Sprintf("SELECT value + %d FROM json_each(?)", i/4)
				err := s.Query(ctx, func(rows *sql.Rows) error {
					var n int
					if err := rows.Scan(&n); err != nil || n != g+i/4 {
						t.Errorf("read %d, %v; want %d", n, err, g+i/4)
					}
					return nil
				}, statement, fmt.Sprintf("[%d,%[1]d]", g))
				if err != nil {
					t.Error(err)
				}
				if g == 0 && i%10 == 0 {
					s.reconnect()
				}
			}
		})
	}
	all.Wait()
}

// A filter has many forms, so the number of kept statements is bounded.
func TestQuery_Bound(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t))
	for i := range 2 * maxStatements {
		if n := s.read(t, fmt.Sprintf("SELECT %d", i)); n != i {
			t.Errorf("read %d, want %d", n, i)
		}
	}
	if n := len(s.statements.kept); n != maxStatements {
		t.Errorf("keeps %d statements", n)
	}
}
