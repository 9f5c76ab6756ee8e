package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// CopyOptions are what Backup, Export and Import may be given. A nil *CopyOptions is the same as the zero value.
type CopyOptions struct {
	Force    bool             // Backup and ExportFile replace a file that exists
	Replace  bool             // Import replaces what the database holds
	Progress *Progress        // is told how far the work is; nil means that nobody asks
	Now      func() time.Time // nil means time.Now
}

func (o *CopyOptions) withDefaults() CopyOptions {
	var full CopyOptions
	if o != nil {
		full = *o
	}
	if full.Progress == nil {
		full.Progress = new(Progress)
	}
	if full.Now == nil {
		full.Now = time.Now
	}
	return full
}

// Progress says how far a Backup, an Export or an Import is. The zero value is ready. It is safe for concurrent use.
type Progress struct {
	rows atomic.Int64
	part atomic.Pointer[string] // the file that grows
}

// Rows is how many rows were exported or imported so far.
func (p *Progress) Rows() int64 { return p.rows.Load() }

// Bytes is how large the file is that a Backup writes, so far.
func (p *Progress) Bytes() int64 {
	part := p.part.Load()
	if part == nil {
		return 0
	}
	info, err := os.Stat(*part)
	if err != nil {
		return 0 // it has its name already
	}
	return info.Size()
}

// Copy is what Backup or Export has written.
type Copy struct {
	Path  string    // of the file; empty for a writer
	Rows  int64     // of an Export
	Bytes int64     // of the file
	At    time.Time // it holds all that was stored by then
}

// Backup writes the whole database at path, as it is at one moment, to the file target: a database itself, compact, for its owner only. It works
// beside the owner, whom it never holds up, and without one. The target appears when it is whole, or not at all. Where the context ends, the
// error is the context's; else it names the file and the mend.
func Backup(ctx context.Context, path, target string, opts *CopyOptions) (Copy, error) {
	src, err := openSource(ctx, path)
	if err != nil {
		return Copy{}, err
	}
	defer src.db.Close()
	if src.version == 0 {
		return Copy{}, missingError(src.path)
	}
	return src.copyTo(ctx, target, opts.withDefaults())
}

// source is a database that is only read.
type source struct {
	path    string
	named   string // its path as it was given, absolute: `chatguard login` puts the token beside that
	db      *sql.DB
	version int // of its schema; 0 where it has none
	newest  int // that this program knows
}

// openSource opens the database at path beside its owner, or without one. It refuses what Open refuses, and a file that isn't there.
func openSource(ctx context.Context, path string) (*source, error) {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	named, err := realFolder(path)
	if err != nil {
		return nil, unwritable(named, err)
	}
	path, err = realPath(path)
	if err != nil {
		return nil, unwritable(path, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, missingError(path)
	}
	version, err := inspect(ctx, path, len(steps))
	if err != nil {
		return nil, err
	}
	src, err := openSnapshots(path, version, len(steps))
	if err == nil {
		src.named = named
	}
	return src, err
}

func missingError(path string) error {
	return fmt.Errorf("database %s doesn't exist: start `chatguard run` first, which makes it", path)
}

// openSnapshots prepares a connection for long reads. It can't write to the database, and yet isn't query_only, because VACUUM INTO takes that
// to cover the new file too.
func openSnapshots(path string, version, newest int) (*source, error) {
	db, err := sql.Open("sqlite", dataSource(path, "ro", []string{"busy_timeout(5000)", "cache_size(-1024)"}))
	if err != nil {
		return nil, explain(path, err)
	}
	db.SetMaxOpenConns(1)
	return &source{path: path, named: path, db: db, version: version, newest: newest}, nil
}

// copyTo writes a copy to the file target.
func (src *source) copyTo(ctx context.Context, target string, opts CopyOptions) (Copy, error) {
	d, err := newDraft(target, opts.Force, src.path, src.named)
	if err != nil {
		return Copy{}, err
	}
	defer d.discard()
	opts.Progress.part.Store(&d.part)
	at := opts.Now()
	if _, err := src.db.ExecContext(ctx, "VACUUM INTO ?", d.part); err != nil {
		return Copy{}, d.explain(src.path, err)
	}
	switch _, err := inspect(ctx, d.part, src.newest); {
	case ctx.Err() != nil:
		return Copy{}, ctx.Err()
	case err != nil:
		return Copy{}, fmt.Errorf("%s can't be read back: check the disk, or name a file on another: %w", d.target, err)
	}
	size, err := d.publish()
	return Copy{Path: d.target, Bytes: size, At: at}, err
}
