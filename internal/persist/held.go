package persist

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

// EmptyLog moves what is in the database's log into the database, so that no log is left. If the
// database is damaged, EmptyLog returns an error, and the log may stay.
func (h *Held) EmptyLog(ctx context.Context) error {
	if _, err := os.Stat(h.Path + "-wal"); err != nil {
		return nil
	}
	db, err := openDatabase(h.Path)
	if err != nil {
		return err
	}
	_, err = db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, db.close()) // closing the last connection removes the log
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

// checkRestored returns an error if a restore of the database has begun and not ended.
func checkRestored(path string) error {
	if _, restoring := IsRestoring(path); restoring {
		return fmt.Errorf("database %s: a restore was interrupted: repeat it with `chatguard restore`", path)
	}
	return nil
}

// CheckCopy returns an error if the file at path is not a complete database that this program can
// use. The error is one line with the fix; it calls the file name.
func CheckCopy(ctx context.Context, path, name string) error {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return err
	}
	reader, err := openTraceless(path)
	if err != nil {
		return err
	}
	defer reader.Close()
	version, foreign, err := identify(ctx, reader)
	var verdict string
	if err == nil {
		err = reader.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && problemIn(Explain(path, err)) != damaged:
		return fmt.Errorf("%s can't be read: %s", name, problemIn(Explain(path, err)))
	case err == nil && (foreign || version == 0):
		return fmt.Errorf("%s is a database of another program: name a file that `chatguard backup` wrote", name)
	case err != nil || verdict != "ok":
		return fmt.Errorf("%s is damaged: use another backup", name)
	case version > len(steps):
		return fmt.Errorf("%s was written by a newer chatguard (version %d, this one knows up to %d): update chatguard", name, version, len(steps))
	}
	return nil
}
