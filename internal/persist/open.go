package persist

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Open opens the database at path, makes it where there is none, brings an older one up to date, and owns it until Close. The error names
// the file and the mend; it is an *OwnedError where another process owns the database. A damaged database, one of a newer version and one
// of another program are refused and stay as they are.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	return openStore(ctx, path, opts, steps)
}

func openStore(ctx context.Context, path string, opts *Options, steps []string) (*Store, error) {
	full := opts.withDefaults()
	path, err := realPath(path)
	if err != nil {
		return nil, unwritable(path, err)
	}
	lock, err := lockDatabase(path)
	if err != nil {
		return nil, err
	}
	db, err := openOwned(ctx, path, steps)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	s := &Store{Tokens: newTokens(db, full.Now), opts: full, lock: lock}
	s.queue.limit = full.QueueSize
	s.health.start(full.Now())
	return s, nil
}

// openOwned opens a database whose ownership is ours.
func openOwned(ctx context.Context, path string, steps []string) (*database, error) {
	if err := inspect(ctx, path, len(steps)); err != nil {
		return nil, err
	}
	db, err := openDatabase(path, "rwc")
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, steps); err != nil {
		return nil, errors.Join(err, db.close())
	}
	return db, nil
}

// OpenTokens opens the sign-in part of an existing database beside the process that owns it, or without one.
func OpenTokens(ctx context.Context, path string, opts *Options) (*Tokens, error) {
	full := opts.withDefaults()
	path, err := realPath(path)
	if err != nil {
		return nil, unwritable(path, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("database %s doesn't exist: start `chatguard run` first, which makes it", path)
	}
	db, err := openDatabase(path, "rw")
	if err != nil {
		return nil, err
	}
	if err := db.checkCurrent(ctx); err != nil {
		return nil, errors.Join(err, db.close())
	}
	return newTokens(db, full.Now), nil
}

// maxLinks is how many symbolic links may follow one another.
const maxLinks = 40

// realPath is absolute and without symbolic links, so that one database has one lock file however it is named, and whether it is there yet or not.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	for range maxLinks {
		next, err := os.Readlink(path)
		if err != nil {
			break // it is no link
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return filepath.Join(folder, filepath.Base(path)), err
}

// inspect refuses a file that must not be written to: a damaged one, one of a newer version, one of another program. It changes nothing.
func inspect(ctx context.Context, path string, newest int) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("database %s is no file: set another database", path)
	}
	reader, err := openReader(path)
	if err != nil {
		return err
	}
	var owner, version, tables int
	var verdict string
	err = errors.Join(
		reader.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
			FROM pragma_application_id, pragma_user_version`).Scan(&owner, &version, &tables),
		reader.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict),
		reader.Close())
	switch {
	case err != nil:
		return explain(path, err)
	case tables > 0 && owner != applicationID:
		return fmt.Errorf("database %s belongs to another program: set another database", path)
	case version > newest:
		return newerError(path, version, newest)
	case verdict != "ok":
		return &trouble{path: path, problem: damaged, err: errors.New(verdict)}
	}
	return nil
}
