package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// Snapshot is a read-only view of a database, for long reads, whether or not a process owns the
// database. Get one from OpenSnapshot.
type Snapshot struct {
	Path string  // absolute, without symbolic links
	DB   *sql.DB // one connection, read-only
	// named is the given path, made absolute. `chatguard login` stores the token next to it.
	named   string
	schema  Schema
	version int         // 0 if the file has no schema
	log     os.FileInfo // the write-ahead log that DB reads; nil if there was none
}

// OpenSnapshot opens the database at path, whether or not a process owns it. It refuses what Open
// refuses, and a missing file.
func (s Schema) OpenSnapshot(ctx context.Context, path string) (*Snapshot, error) {
	named, err := realFolder(path)
	if err != nil {
		return nil, unwritableError(named, err)
	}
	if path, err = readablePath(ctx, path); err != nil {
		return nil, err
	}
	version, err := s.inspect(ctx, path)
	if err != nil {
		return nil, err
	}
	src, err := s.openReadOnly(path, version)
	if err != nil {
		return nil, err
	}
	src.named = named
	// The connection now opens the log, and keeps it.
	if _, err := src.DB.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return nil, errors.Join(Explain(path, err), src.Close())
	}
	src.log, _ = os.Stat(path + "-wal") // nil if there is none
	return src, nil
}

// CheckLog returns an error if the log has been deleted or replaced since OpenSnapshot. What was
// read is then incomplete.
func (s *Snapshot) CheckLog() error {
	if there, err := os.Stat(s.Path + "-wal"); s.log != nil && (err != nil || !os.SameFile(s.log, there)) {
		return fmt.Errorf("database %s: its log, the files -wal and -shm beside it, was deleted or replaced while it was read: run this again", s.Path)
	}
	return nil
}

// MissingError returns the error for a missing database at path.
func MissingError(path string) error {
	if err := CheckMissing(path); err != nil {
		return err
	}
	return fmt.Errorf("database %s doesn't exist: start `chatguard run` first, which creates it", path)
}

// openReadOnly opens a connection for long reads. It can't write to the database, but isn't
// query_only, because VACUUM INTO would then refuse to write the copy.
func (s Schema) openReadOnly(path string, version int) (*Snapshot, error) {
	db, err := sql.Open("sqlite", dataSource(path, "ro", []string{"busy_timeout(5000)", "cache_size(-1024)"}))
	if err != nil {
		return nil, Explain(path, err)
	}
	db.SetMaxOpenConns(1)
	return &Snapshot{Path: path, named: path, DB: db, schema: s, version: version}, nil
}

// Close closes the connection.
func (s *Snapshot) Close() error { return s.DB.Close() }

// IsEmpty reports whether the file has no tables.
func (s *Snapshot) IsEmpty() bool { return s.version == 0 }

// CheckCurrent returns an error if the database doesn't have the version that this program writes.
func (s *Snapshot) CheckCurrent(ctx context.Context) error {
	return s.schema.checkCurrent(ctx, s.DB, s.Path)
}

// NewDraft creates a draft for a copy of the database. The target may be neither the database nor a
// file that belongs to it.
func (s *Snapshot) NewDraft(target string, replace bool) (*Draft, error) {
	return newDraft(target, replace, s.Path, s.named)
}

// Copy writes a copy of the database to the file target. The target appears once it is complete, or
// not at all. Copy returns the file's path and its size in bytes. If began isn't nil, Copy calls it
// with the path of the unfinished file.
func (s *Snapshot) Copy(ctx context.Context, target string, replace bool, began func(part string)) (path string, size int64, err error) {
	d, err := s.NewDraft(target, replace)
	if err != nil {
		return "", 0, err
	}
	defer d.Discard()
	if err := s.copyInto(ctx, d, began); err != nil {
		return "", 0, err
	}
	size, err = d.Publish()
	return d.Target, size, err
}

// temporarySuffix is the suffix of the file that Temporary writes, before PartSuffix.
const temporarySuffix = ".copying"

// RemoveAbandoned removes the temporary file that a killed process may have left.
func (s *Snapshot) RemoveAbandoned(now time.Time) error {
	return RemoveAbandonedPart(s.Path+temporarySuffix, now)
}

// Temporary writes a copy of the database to a temporary file beside it, and calls use with the
// file. Then it removes the file. If began isn't nil, Temporary calls it as Copy does.
func (s *Snapshot) Temporary(ctx context.Context, began func(part string), use func(*os.File) error) error {
	d, err := s.NewDraft(s.Path+temporarySuffix, true)
	if err != nil {
		return err
	}
	defer d.Discard()
	if err := s.copyInto(ctx, d, began); err != nil {
		return err
	}
	if !d.isOurs() {
		return fmt.Errorf("another process is copying %s: wait for it to finish", s.Path)
	}
	return use(d.file)
}

// copyInto writes a copy of the database to a draft, and checks that it can be read.
func (s *Snapshot) copyInto(ctx context.Context, d *Draft, began func(part string)) error {
	if began != nil {
		began(d.part)
	}
	if _, err := s.DB.ExecContext(ctx, "VACUUM INTO ?", d.part); err != nil {
		return d.explain(s.Path, err)
	}
	if err := s.CheckLog(); err != nil {
		return err
	}
	switch _, err := s.schema.inspect(ctx, d.part); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%s can't be read back: check the disk, or name a file on another disk: %w", d.Target, err)
	}
	return nil
}
