package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
)

// Owned is a database that this process owns for the duration of a call of Own.
type Owned struct {
	Path   string // absolute, without symbolic links
	db     *DB
	schema Schema
}

// Own calls do with the database at path, which no other process may own meanwhile. Own creates the
// database if it doesn't exist. If do or a later step fails, Own removes a database that it
// created. The error is do's, an *OwnedError if another process owns the database, or one that
// names the file and the fix.
func (s Schema) Own(ctx context.Context, path string, do func(*Owned) error) error {
	held, err := holdUnlessRestoring(path)
	if err != nil {
		return err
	}
	path = held.Path
	_, err = os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	db, err := s.openOwned(ctx, path)
	if err == nil {
		err = errors.Join(do(&Owned{Path: path, db: db, schema: s}), db.Close())
	}
	if err != nil && isNew {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			os.Remove(path + suffix) // if this fails, an empty database is left
		}
	}
	return errors.Join(err, held.Release())
}

// Write runs change in one transaction. Database errors name the file and the fix; an error of
// change is returned unchanged.
func (o *Owned) Write(ctx context.Context, change func(*sql.Tx) error) error {
	return o.db.Write(ctx, change)
}

// Snapshot opens the database as other processes see it, without uncommitted changes.
func (o *Owned) Snapshot() (*Snapshot, error) {
	return o.schema.openReadOnly(o.Path, len(o.schema.Steps))
}
