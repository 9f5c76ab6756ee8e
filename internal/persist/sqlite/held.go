package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Held is a database that no process owns or can begin to own until Release. The database need not
// exist, and isn't open.
type Held struct {
	Path string // absolute, without symbolic links
	lock *ownerLock
}

// Hold keeps others from owning the database at path. The error is an *OwnedError if a process owns
// it already.
func Hold(path string) (*Held, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, unwritableError(path, err)
	}
	lock, err := lockDatabase(path)
	if err != nil {
		return nil, err
	}
	return &Held{path, lock}, nil
}

// Release ends the hold.
func (h *Held) Release() error { return h.lock.release() }

// EmptyLog moves the contents of the write-ahead log into the database, so that no log is left. It
// also undoes an unfinished write. If the database is damaged, EmptyLog returns an error, and the
// log may stay.
func (h *Held) EmptyLog(ctx context.Context) error {
	if err := undoUnfinished(ctx, h.Path); err != nil {
		return err
	}
	if _, err := os.Stat(h.Path + "-wal"); err != nil {
		return nil
	}
	db, err := openDatabase(h.Path)
	if err != nil {
		return err
	}
	_, err = db.Writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, db.Close()) // closing the last connection removes the log
}

// IsRestoring reports whether a restore of the database at path has begun and not ended. marker is
// the file that says so.
func IsRestoring(path string) (marker string, restoring bool) {
	path, err := realPath(path)
	if err != nil {
		return "", false // opening it reports the error
	}
	marker = path + RestoringSuffix
	_, err = os.Lstat(marker)
	return marker, err == nil
}

// holdUnlessRestoring is like Hold, but refuses a database if a restore of it has begun and not
// ended.
func holdUnlessRestoring(path string) (*Held, error) {
	held, err := Hold(path)
	if err != nil {
		return nil, err
	}
	if _, restoring := IsRestoring(held.Path); restoring {
		err := fmt.Errorf("database %s: a restore was interrupted: repeat it with `chatguard restore`", held.Path)
		return nil, errors.Join(err, held.Release())
	}
	return held, nil
}

// CheckCopy returns an error if the file at path is not a complete database that this program can
// use. The error is one line with the fix; in it, the file is called name.
func (s Schema) CheckCopy(ctx context.Context, path, name string) error {
	reader, err := openTraceless(path)
	if err != nil {
		return err
	}
	defer reader.Close()
	version, err := s.examine(ctx, reader, path, "integrity_check")
	var refused *refusal
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && version > 0:
		return nil
	case err == nil:
		return fmt.Errorf("%s is empty: %s", name, nameBackup)
	case !errors.As(err, &refused):
		return fmt.Errorf("%s can't be read: %s", name, Problem(err))
	}
	return fmt.Errorf("%s %s: %s", name, refused.what, refused.copyFix)
}
