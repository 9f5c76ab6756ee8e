package persist

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
)

// Check looks whether Open would take the database at path, beside the process that owns it or without one, and changes nothing: its header, whose it
// is, its version and all its pages. That it is of an older version, which Open brings up to date, is told and no error. The error names the file and
// the mend.
func Check(ctx context.Context, path string) (outdated bool, err error) {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return false, err
	}
	if path, err = realPath(path); err != nil {
		return false, unwritable(path, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, missingError(path)
	}
	version, err := inspectBy(ctx, openTraceless, path, len(steps))
	return 0 < version && version < len(steps), err
}

// openTraceless is openReader where it leaves no files behind: one that reads makes the log's, and doesn't take them away. Where there is no log nobody
// writes, and none is needed.
func openTraceless(path string) (*sql.DB, error) {
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return openReader(path)
	}
	reader, err := sql.Open("sqlite", dataSource(path, "ro", readerPragmas)+"&immutable=1")
	if err != nil {
		return nil, explain(path, err)
	}
	return reader, nil
}
