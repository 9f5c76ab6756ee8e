package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
)

// ErrUnfinished says that a killed process left a write unfinished, which the next process to own
// the database undoes.
var ErrUnfinished = errors.New("a write to it was interrupted")

// undoUnfinished undoes the write that a killed process may have left unfinished. Until then, the
// database can't be read by a connection that may not write. Only a process that owns the database
// may call it.
//
// SQLite keeps a database's former pages in a rollback journal as long as there is no write-ahead
// log, as in a copy until its first change. Reading the journal undoes that change.
func undoUnfinished(ctx context.Context, path string) error {
	if !hasJournal(path) {
		return nil
	}
	db, err := sql.Open("sqlite", dataSource(path, "rw", readerPragmas))
	if err != nil {
		return Explain(path, err)
	}
	var tables int // reading undoes the write
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return explainAtStart(path, errors.Join(err, db.Close()))
}

// hasJournal reports whether there is a journal, which may be a leftover of a completed write.
func hasJournal(path string) bool {
	info, err := os.Stat(path + "-journal")
	return err == nil && info.Size() > 0
}

// undoIfUnowned is undoUnfinished for a database that this process doesn't own. It does nothing if
// another process owns the database.
func undoIfUnowned(ctx context.Context, path string) error {
	if !hasJournal(path) {
		return nil
	}
	lock, err := lockDatabase(path)
	if errors.As(err, new(*OwnedError)) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(undoUnfinished(ctx, path), lock.release())
}

// checkLog returns an error if another process owns the database at path and the log is gone. What
// that process has written may then be in no file that others can open. The process may also have
// no log, because it is about to open or close the database, or restores it.
func checkLog(path string) error {
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) || !usesLog(path) {
		return nil
	}
	if !errors.As(CheckOwner(path), new(*OwnedError)) {
		return nil // the last owner has moved the log into the database
	}
	return &Error{path: path, problem: logMissing, err: fs.ErrNotExist}
}

// usesLog reports whether the header of a database says that changes go to a log.
func usesLog(path string) bool {
	const at, log = 18, 2 // the file format for writing
	file, err := os.Open(path)
	if err != nil {
		return false // opening it again reports the error
	}
	defer file.Close()
	format := make([]byte, 1)
	_, err = file.ReadAt(format, at)
	return err == nil && format[0] == log
}
