package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/VictoriaMetrics/metrics"
)

// Open opens the database at path and owns it until Close. It creates a missing database and
// migrates an older one. The error names the file and the fix; it is an *OwnedError if another
// process owns the database. Open refuses a database that is damaged, of a newer version or of
// another program, and leaves it unchanged. It accepts a database that is read-only or locked by
// another program; Run then retries until it can write.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	full := opts.withDefaults()
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	path, err = realPath(path)
	if err != nil {
		return nil, unwritableError(path, err)
	}
	lock, err := lockDatabase(path)
	if err != nil {
		return nil, err
	}
	if err := checkRestored(path); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	db, err := openOwned(ctx, path, steps)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	s, err := newStore(ctx, db, full)
	if err != nil {
		return nil, errors.Join(err, db.close(), lock.release())
	}
	s.lock = lock
	if err := CheckMode(path); err != nil {
		full.Logger.Warn(err.Error())
	}
	if db.was != 0 {
		full.Logger.Info("migrated the database to the current version", "database", path, "from", db.was, "to", len(steps), "copy", copyPath(path, db.was))
	}
	return s, nil
}

// newStore returns a Store on a database with the current schema.
func newStore(ctx context.Context, db *database, opts Options) (*Store, error) {
	s := &Store{Tokens: newTokens(db, opts.Now), db: db, opts: opts, commits: newCommits()}
	s.Tokens.queue, s.Tokens.failing = newTokenQueue(), s.health.isFailing
	now := opts.Now()
	s.queue.limit, s.queue.wake = opts.QueueSize, s.commits.wake
	// Start at another number than earlier processes did, so that messages of the same time have
	// different numbers.
	s.queue.number = now.Unix()
	s.sweeper = &sweeper{db: db, opts: &s.opts, wanted: s.commits.wake}
	s.health.start(now)
	s.flushing.Name = "preparing a flush"
	if err := s.changes.load(ctx, db); err != nil {
		return nil, err
	}
	if err := s.notes.load(ctx, db); err != nil {
		return nil, err
	}
	s.Tokens.table.preload(ctx)
	s.register(opts.Metrics)
	return s, nil
}

// openOwned opens a database that this process owns.
func openOwned(ctx context.Context, path string, steps []string) (*database, error) {
	version, err := inspect(ctx, path, len(steps))
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
	if err := migrate(ctx, db, version, steps); err != nil {
		return nil, errors.Join(err, db.close())
	}
	if version > 0 && version < len(steps) {
		db.was = version
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

// OpenMemory returns a Store on a database in memory, which exists as long as the Store.
func OpenMemory(ctx context.Context, opts *Options) (*Store, error) {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	full := opts.withDefaults()
	full.Metrics = metrics.NewSet() // a memory store has nothing to report
	if err = migrate(ctx, db, 0, steps); err == nil {
		var s *Store
		if s, err = newStore(ctx, db, full); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, db.close())
}

// OpenTokens opens the sign-in part of an existing database, whether or not another process owns
// it.
func OpenTokens(ctx context.Context, path string, opts *Options) (*Tokens, error) {
	full := opts.withDefaults()
	path, err := existingPath(path)
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	if err := db.checkCurrent(ctx); err != nil {
		return nil, errors.Join(err, db.close())
	}
	return newTokens(db, full.Now), nil
}

// maxLinks is the maximum length of a chain of symbolic links.
const maxLinks = 40

// realPath returns an absolute path without symbolic links, so that a database has the same lock
// file under every name. The database need not exist yet.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	for range maxLinks {
		next, err := os.Readlink(path)
		if err != nil {
			break // not a link
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return realFolder(path)
}

// existingPath returns the realPath of a database that must exist.
func existingPath(path string) (string, error) {
	path, err := realPath(path)
	if err != nil {
		return path, unwritableError(path, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path, MissingError(path)
	}
	return path, nil
}

// realFolder returns an absolute path in a folder without symbolic links. The last element stays,
// even if it is a link.
func realFolder(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return filepath.Join(folder, filepath.Base(path)), err
}

// inspect returns the version of a file's schema, or 0 if the file is empty or missing. It returns
// an error for a file that must not be written: damaged, of a newer version, or of another program.
// It changes nothing.
func inspect(ctx context.Context, path string, newest int) (version int, err error) {
	return inspectWith(ctx, openReader, path, newest)
}

// inspectWith is inspect with the given way to open the file.
func inspectWith(ctx context.Context, open func(path string) (*sql.DB, error), path string, newest int) (version int, err error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return 0, nil
	case err == nil && !info.Mode().IsRegular():
		return 0, fmt.Errorf("database %s is not a file: set another database", path)
	}
	reader, err := open(path)
	if err != nil {
		return 0, err
	}
	version, foreign, err := identify(ctx, reader)
	var verdict string
	err = errors.Join(err,
		reader.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict),
		reader.Close())
	switch {
	case err != nil:
		return 0, explainAtStart(path, err)
	case foreign:
		return 0, foreignError(path)
	case version > newest:
		return 0, newerError(path, version, newest)
	case verdict != "ok":
		return 0, damagedError(path, errors.New(verdict))
	}
	return version, nil
}

// explainAtStart is Explain for a database that is being opened, which probably nobody else uses.
func explainAtStart(path string, err error) error {
	if err = Explain(path, err); problemIn(err) == damaged {
		return damagedError(path, err)
	}
	return err
}

func damagedError(path string, err error) error {
	problem := damagedAtStart
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		problem += foreignLog
	}
	return &databaseError{path: path, problem: problem, err: err}
}
