package persist

import (
	"cmp"
	"context"
	"errors"
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
	for _, check := range []func(string) error{CheckMode, CheckFolder} {
		if err := check(path); err != nil {
			full.Logger.Warn(err.Error())
		}
	}
	if db.was != 0 {
		full.Logger.Info("migrated the database to the current version", "database", path, "from", db.was, "to", len(steps), "copy", copyPath(path, db.was))
	}
	return s, nil
}

// newStore returns a Store on a database with the current schema.
func newStore(ctx context.Context, db *database, opts Options) (*Store, error) {
	s := &Store{Tokens: newTokens(db, opts.Now), db: db, opts: opts, commits: newCommits(), lastLook: lastLook, isLost: make(chan struct{})}
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
	s.Tokens.preload(ctx)
	s.register(opts.Metrics)
	return s, nil
}

// openOwned opens a database that this process owns.
func openOwned(ctx context.Context, path string, steps []string) (*database, error) {
	if err := undoUnfinished(ctx, path); err != nil {
		return nil, err
	}
	version, err := inspect(ctx, path, steps)
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
	path, err := readablePath(ctx, path)
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(db.place.checkNames(), db.checkCurrent(ctx)); err != nil {
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

// readablePath is existingPath for a database that will be read, whether or not a process owns it.
func readablePath(ctx context.Context, path string) (string, error) {
	path, err := existingPath(path)
	if err == nil {
		err = checkLog(path)
	}
	if err == nil {
		err = undoIfUnowned(ctx, path)
	}
	return path, err
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
