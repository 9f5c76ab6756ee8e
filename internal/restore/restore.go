// Package restore replaces an installation with a backup, which is a database, or an archive of
// database, login and configuration. Either all of it is restored or nothing, even if the process
// is killed. What was there before is kept beside it. It doesn't know what is in a database.
//
// Run first writes all new files beside their targets, and checks them. Then it writes a marker
// beside the database, and moves the files into their places. If the process is killed then, a
// later process finds the marker, and Finish moves the rest.
package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/archive"
	"github.com/chatguard/chatguard/internal/fileaccess"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

// Options configure Run.
type Options struct {
	// Passphrase returns the passphrase of an encrypted backup. It is called only for such a
	// backup.
	Passphrase func() (string, error)
	// Places returns where the files belong. configuration is what the configuration will contain;
	// nil means that it stays as it is.
	Places func(configuration []byte) (transfer.Installation, error)
	// OnlyDatabase means that login, key of texts and configuration stay as they are.
	OnlyDatabase bool
	Progress     *Progress
}

// Progress is the progress of Run. The zero value is ready to use. It is safe for concurrent use.
type Progress struct{ bytes atomic.Int64 }

// Bytes returns how many bytes of the database have been read so far.
func (p *Progress) Bytes() int64 { return p.bytes.Load() }

// Result says what became of a file.
type Result int

// The results.
const (
	Absent   Result = iota // the backup doesn't have it, or only the database was wanted
	Restored               // now it is as in the backup
	Same                   // it was already as in the backup
	Newer                  // it was newer than in the backup, and stays
)

// Outcome is the result of Run.
type Outcome struct {
	Places                        transfer.Installation
	Login, TextKey, Configuration Result
	At                            time.Time // when the database was copied; zero if unknown
	Kept                          []string  // the files that were there before, renamed
}

// Run restores the backup in a file. No process may own the database. After an error, everything is
// as it was, unless the error says otherwise. The error is one line with the fix.
func Run(ctx context.Context, file string, opts Options) (Outcome, error) {
	in, err := open(file)
	if err != nil {
		return Outcome{}, err
	}
	defer in.Close()
	b, err := openBackup(in, file, opts)
	if err != nil {
		return Outcome{}, err
	}
	places, err := opts.Places(b.configuration)
	if err != nil && b.configuration == nil {
		return Outcome{}, err
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("the configuration in %s can't be used here: %w; restore without it with --only-database", file, err)
	}
	if err := checkLinks(places); err != nil {
		return Outcome{}, err
	}
	held, err := sqlite.Hold(places.Database)
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := b.restore(ctx, held, places)
	return outcome, errors.Join(err, held.Release())
}

// open opens the file of a backup.
func open(file string) (*os.File, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s doesn't exist: %s", file, nameBackup)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file: %s", file, nameBackup)
	}
	for _, suffix := range logSuffixes {
		if log, err := os.Stat(file + suffix); err == nil && log.Size() > 0 {
			return nil, fmt.Errorf("%s isn't complete without the log beside it, %[1]s%s: %s", file, suffix, nameBackup)
		}
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s can't be read (%w): make it readable for this user", file, fileaccess.Cause(err))
	}
	return in, nil
}

const nameBackup = "name a file that `chatguard backup` wrote"

// restore replaces the installation, whose database is held.
func (b *backup) restore(ctx context.Context, held *sqlite.Held, places transfer.Installation) (Outcome, error) {
	places.Database = held.Path
	if err := finishHeld(held, places); err != nil {
		return Outcome{}, err
	}
	m := newMove(places)
	defer m.discard()
	if err := b.stage(ctx, m); err != nil {
		return Outcome{}, err
	}
	// If the database is damaged, its write-ahead log can't be emptied. Then the move keeps the
	// log, too.
	_ = held.EmptyLog(ctx)
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	if err := m.commit(); err != nil {
		return Outcome{}, err
	}
	b.outcome.Places, b.outcome.Kept = places, m.keptFiles()
	return b.outcome, nil
}

// backup is a backup whose database hasn't been read yet.
type backup struct {
	name          string
	opts          Options
	configuration []byte // nil if it isn't restored
	login         []byte // nil if it isn't restored
	textKey       []byte // nil if it isn't restored
	mode          fs.FileMode
	loginAt       time.Time
	database      io.Reader
	end           func() error // checks that the backup is complete, after the database
	outcome       Outcome
}

// stage writes the new files beside their targets.
func (b *backup) stage(ctx context.Context, m *move) error {
	db := m.files[databasePart]
	if err := db.write(progressReader{ctx, b.database, b.opts.Progress}, 0o600); err != nil {
		return b.explain(err)
	}
	if err := b.end(); err != nil {
		return b.explain(err)
	}
	if err := persist.Schema.CheckCopy(ctx, db.staged, b.name); err != nil {
		return err
	}
	if err := b.stageLogin(m.files[loginPart]); err != nil {
		return err
	}
	if err := b.stageTextKey(m.files[textKeyPart]); err != nil {
		return err
	}
	return b.stageConfiguration(m.files[configurationPart])
}

// explain turns an error of reading the backup into one with the fix.
func (b *backup) explain(err error) error {
	switch failed := (*fs.PathError)(nil); {
	case errors.Is(err, archive.ErrDamaged):
		return fmt.Errorf("%s is incomplete or damaged: copy it again, or use another backup", b.name)
	case errors.As(err, &failed) && failed.Op == "read":
		return fmt.Errorf("%s can't be read (%w): check its disk, or use another backup", b.name, failed.Err)
	}
	return err
}

// progressReader counts what is read, and fails once its context ends.
type progressReader struct {
	ctx context.Context
	io.Reader
	progress *Progress
}

func (r progressReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.Reader.Read(p)
	r.progress.bytes.Add(int64(n))
	return n, err
}

// realFile returns the file that a name leads to, so that a link to it stays a link. The result is
// the same before and after the file is created.
func realFile(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		return filepath.Join(folder, filepath.Base(name))
	}
	return name
}
