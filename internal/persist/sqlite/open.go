package sqlite

import (
	"cmp"
	"context"
	"errors"
	"os"
)

// Open opens the database at path, and owns it until Close. It creates a missing database and
// migrates an older one. The error names the file and the fix; it is an *OwnedError if another
// process owns the database. Open refuses a database that is damaged, of a newer version or of
// another program, and leaves it unchanged. It accepts a database that is read-only or locked by
// another program.
func (s Schema) Open(ctx context.Context, path string) (*DB, error) {
	held, err := holdUnlessRestoring(path)
	if err != nil {
		return nil, err
	}
	db, err := s.openOwned(ctx, held.Path)
	if err != nil {
		return nil, errors.Join(err, held.Release())
	}
	db.lock = held.lock
	return db, nil
}

// openOwned opens a database that this process owns.
func (s Schema) openOwned(ctx context.Context, path string) (*DB, error) {
	if err := undoUnfinished(ctx, path); err != nil {
		return nil, err
	}
	version, err := s.inspect(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, unwritableError(path, err)
	}
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	db.place.follow(&logMark{})
	if err := s.migrate(ctx, db, version); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if version > 0 && version < len(s.Steps) {
		db.Migrated = version
	}
	return db, nil
}

// createFile creates an empty file that only its owner can read, unless the file exists. Everyone
// could read a file that SQLite creates.
func createFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// OpenMemory returns a database in memory, which exists until Close.
func (s Schema) OpenMemory(ctx context.Context) (*DB, error) {
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx, db, 0); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OpenBeside opens an existing database of the schema's last version, whether or not another
// process owns it.
func (s Schema) OpenBeside(ctx context.Context, path string) (*DB, error) {
	path, err := readablePath(ctx, path)
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(db.place.checkNames(), s.checkCurrent(ctx, db.Reader, db.Path)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
