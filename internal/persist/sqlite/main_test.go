package sqlite

import (
	"context"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
)

var (
	must         = persisttest.Must
	wantError    = persisttest.WantError
	databasePath = persisttest.DatabasePath
	ctx          = context.Background()
)

// schema is that of the tests' databases, which have one table.
var schema = Schema{Mark: 7, Steps: []string{"PRAGMA application_id = 7; CREATE TABLE note (text TEXT NOT NULL)"}}

// newDatabase returns the path of a closed database.
func newDatabase(t testing.TB) (path string) {
	t.Helper()
	path = databasePath(t)
	must(t, open(t, path).Close())
	return path
}

// open opens a database. The end of the test closes it, if it is still open.
func open(t testing.TB, path string) *DB {
	t.Helper()
	db, err := schema.Open(ctx, path)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}
