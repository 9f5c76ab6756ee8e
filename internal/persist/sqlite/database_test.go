package sqlite

import (
	"database/sql"
	"errors"
	"testing"
)

// A database may come from anyone, so its schema may call only harmless functions.
func TestTrustedSchema_Off(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	file, err := openDatabase(path)
	must(t, err)
	memory, err := openMemory()
	must(t, err)
	snapshots, err := schema.openReadOnly(path, 1)
	must(t, err)
	traceless, err := openTraceless(path)
	must(t, err)
	for name, db := range map[string]*sql.DB{
		"writer": file.Writer, "reader": file.Reader, "writer in memory": memory.Writer, "reader in memory": memory.Reader,
		"snapshots": snapshots.DB, "traceless": traceless,
	} {
		trusted := true
		must(t, db.QueryRow("PRAGMA trusted_schema").Scan(&trusted))
		if trusted {
			t.Errorf("%s trusts the schema", name)
		}
	}
	must(t, errors.Join(file.Close(), memory.Close(), snapshots.DB.Close(), traceless.Close()))
}
