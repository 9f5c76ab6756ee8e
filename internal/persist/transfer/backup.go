// Package transfer copies a whole database: to a backup, to an export of JSON lines, and back from
// an export. Each copy is complete or doesn't exist. Package restore goes back to a backup.
package transfer

import (
	"cmp"
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// Options configure Backup, Export and Import. A nil *Options is the same as the zero value.
type Options struct {
	// Force makes Backup and ExportFile replace an existing file.
	Force bool
	// Replace makes Import replace the contents of the database.
	Replace bool
	// Progress receives the state of the work; nil if it isn't needed.
	Progress *Progress
	Now      func() time.Time // nil means time.Now
}

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	full.Progress = cmp.Or(full.Progress, new(Progress))
	if full.Now == nil {
		full.Now = time.Now
	}
	return full
}

// Progress is the progress of a Backup, an Export or an Import. The zero value is ready to use. It
// is safe for concurrent use.
type Progress struct {
	rows atomic.Int64
	part atomic.Pointer[string] // the file being written
}

// Rows returns how many rows have been exported or imported so far.
func (p *Progress) Rows() int64 { return p.rows.Load() }

// Bytes returns the current size of the file that a Backup writes.
func (p *Progress) Bytes() int64 {
	part := p.part.Load()
	if part == nil {
		return 0
	}
	info, err := os.Stat(*part)
	if err != nil {
		return 0 // already renamed
	}
	return info.Size()
}

// Copy describes what Backup or Export has written.
type Copy struct {
	Path  string    // path of the file; empty for a writer
	Rows  int64     // rows of an Export
	Bytes int64     // size of the file
	At    time.Time // the file has everything stored by then
	Files []string  // of a complete backup: the names of the files in it
}

// Backup writes the whole database at path, as of one moment, to the file target. The copy is a
// compact database that only its owner can read. Backup works whether or not a process owns the
// database, and never delays that process. The target appears complete or not at all. If the
// context ends, the error is the context's; otherwise the error names the file and the fix.
func Backup(ctx context.Context, path, target string, opts *Options) (Copy, error) {
	src, err := persist.Schema.OpenSnapshot(ctx, path)
	if err != nil {
		return Copy{}, err
	}
	defer src.Close()
	if src.IsEmpty() {
		return Copy{}, sqlite.MissingError(src.Path)
	}
	made, err := copyTo(ctx, src, target, opts.withDefaults())
	if err != nil {
		return Copy{}, err
	}
	// A killed BackupComplete leaves a file that isn't encrypted. A user who can't remove it may
	// still make backups.
	_ = src.RemoveAbandoned(made.At)
	return made, nil
}

// copyTo writes a copy to the file target.
func copyTo(ctx context.Context, src *sqlite.Snapshot, target string, opts Options) (Copy, error) {
	var at time.Time
	path, size, err := src.Copy(ctx, target, opts.Force, func(part string) {
		opts.Progress.part.Store(&part)
		at = opts.Now()
	})
	if err != nil {
		return Copy{}, err
	}
	return Copy{Path: path, Bytes: size, At: at}, nil
}
