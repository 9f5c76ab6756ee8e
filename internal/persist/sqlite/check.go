package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
)

// Check reports whether Open would accept the database at path, and changes nothing. It works
// whether or not a process owns the database. It checks the file's header, application, version and
// all its pages. If Open would migrate an older version, outdated is true and there is no error.
// The error names the file and the fix. It is ErrUnfinished if only Open can read the file.
func (s Schema) Check(ctx context.Context, path string) (outdated bool, err error) {
	if path, err = existingPath(path); err == nil {
		err = checkLog(path)
	}
	if err != nil {
		return false, err
	}
	version, err := s.inspectWith(ctx, openTraceless, path)
	if err != nil && Problem(err) == unfinished {
		err = ErrUnfinished
	}
	return 0 < version && version < len(s.Steps), err
}

// openTraceless is like openReader but leaves no files behind: an ordinary reader creates the files
// of the write-ahead log and doesn't remove them. If there is no log, nobody writes, so the reader
// needs no log either.
func openTraceless(path string) (*sql.DB, error) {
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) || hasJournal(path) {
		return openReader(path)
	}
	reader, err := sql.Open("sqlite", dataSource(path, "ro", readerPragmas)+"&immutable=1")
	if err != nil {
		return nil, Explain(path, err)
	}
	return reader, nil
}
