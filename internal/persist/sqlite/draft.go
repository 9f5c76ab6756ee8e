package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/chatguard/chatguard/internal/atomicfile"
)

// RestoringSuffix is the suffix of the file that marks a restore of the database as begun. Package
// restore writes it.
const RestoringSuffix = ".restoring"

// Draft is a file that is being written. Until it is complete, it has its target's name with
// PartSuffix appended. Call Publish or Discard when done.
type Draft struct {
	Target  string // path of the finished file
	part    string // path of the unfinished file
	replace bool   // whether Publish may replace an existing target
	file    *os.File
	over    bool // published or discarded
}

// newDraft creates a draft of the file target. database lists the database's names. The target must
// not be one of the database's files under any of these names. The error names the target and the
// fix. Publish or discard the draft.
//
// newDraft never writes through a link, even if a link appears later: it refuses a target that is a
// link, creates the part with O_EXCL, and a rename replaces a link.
func newDraft(target string, replace bool, database ...string) (*Draft, error) {
	target, err := realFolder(target)
	if err != nil {
		return nil, WriteError(target, err)
	}
	d := &Draft{Target: target, part: target + PartSuffix, replace: replace}
	for _, name := range database {
		if err := d.checkDatabaseFiles(name); err != nil {
			return nil, err
		}
	}
	if err := d.checkTarget(); err != nil {
		return nil, err
	}
	// A killed process may have left a part; remove it. The new file is private from its first
	// byte.
	if err := d.remove(); err != nil {
		return nil, WriteError(target, err)
	}
	if d.file, err = os.OpenFile(d.part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, WriteError(target, err)
	}
	return d, nil
}

// fileSuffixes are the suffixes of a database's files: SQLite's, ours, those of `chatguard
// login`, and the key of texts.
var fileSuffixes = []string{"", "-wal", "-shm", "-journal", ".lock", ".token", ".token.lock", ".textkey", RestoringSuffix}

// checkDatabaseFiles returns an error if the target would overwrite the database or a file that
// belongs to it.
func (d *Draft) checkDatabaseFiles(database string) error {
	for _, suffix := range fileSuffixes {
		switch {
		case !isSameFile(d.Target, database+suffix) && !isSameFile(d.part, database+suffix):
		case suffix == "":
			return fmt.Errorf("%s would overwrite the database %s: name another file", d.Target, database)
		default:
			return fmt.Errorf("%s would overwrite %s, which belongs to the database: name another file", d.Target, database+suffix)
		}
	}
	return nil
}

func isSameFile(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func (d *Draft) checkTarget() error {
	switch info, err := os.Lstat(d.Target); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return WriteError(d.Target, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: name that file itself, or another", describeLink(d.Target))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: name another file", d.Target)
	case !d.replace:
		return &ExistsError{d.Target}
	}
	return nil
}

// describeLink returns a text that names a link and its destination.
func describeLink(name string) string {
	meant, err := os.Readlink(name)
	if err != nil {
		meant = "another file"
	}
	return name + " is a symbolic link to " + meant
}

// ExistsError is the error for a target that already exists.
type ExistsError struct{ Target string }

func (e *ExistsError) Error() string {
	return e.Target + " exists already: name another file, or replace it with --force"
}

// Publish renames the file to its target once it is completely on the disk, and returns its size in
// bytes.
func (d *Draft) Publish() (size int64, err error) {
	if err := d.file.Sync(); err != nil {
		return 0, WriteError(d.Target, err)
	}
	info, err := d.file.Stat()
	if err != nil {
		return 0, WriteError(d.Target, err)
	}
	if !d.isOurs() {
		return 0, fmt.Errorf("%s is being written by another process: wait for it to finish, or name another file", d.Target)
	}
	if err := d.checkTarget(); err != nil {
		return 0, err // the target has appeared in the meantime
	}
	if err := errors.Join(d.file.Close(), atomicfile.Rename(d.part, d.Target), atomicfile.SyncFolder(filepath.Dir(d.Target))); err != nil {
		return 0, WriteError(d.Target, err)
	}
	d.over = true
	return info.Size(), nil
}

// Discard removes the file unless it was published.
func (d *Draft) Discard() {
	if d.over {
		return
	}
	d.over = true
	ours := d.isOurs()
	d.file.Close()
	if ours {
		d.remove() // if this fails, the next draft removes it
	}
}

// remove removes what was written, including the journal that SQLite leaves if it can't finish a
// copy.
func (d *Draft) remove() error {
	for _, name := range []string{d.part + "-journal", d.part} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// isOurs reports whether the part is still the file that newDraft created. A process that began
// later may have replaced it.
func (d *Draft) isOurs() bool {
	mine, err := d.file.Stat()
	if err != nil {
		return true // only Publish closes it, after this check
	}
	there, err := os.Lstat(d.part) // Lstat: a link to the part doesn't count
	return err == nil && os.SameFile(mine, there)
}

// explain rewrites an error that occurred while the database at path was copied into this draft.
// The new error names the file that failed.
func (d *Draft) explain(path string, err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return Explain(path, err)
	}
	switch failure.Code() {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE:
		return fmt.Errorf("%s: %s", d.Target, problemOf(failure)) // the database is only being read
	}
	return Explain(path, err)
}

// WriteError returns an error that says why a file other than a database can't be written, and
// how to fix it.
func WriteError(target string, err error) error {
	reason := err
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		reason = failed.Err // without the part's name, which would confuse
	}
	switch {
	case IsDiskFull(err):
		return fmt.Errorf("%s: %s", target, diskFull)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: its folder doesn't exist: create it, or name another file", target)
	}
	return fmt.Errorf("%s can't be written (%w): make its folder writable for this user, or name another file", target, reason)
}

// Write writes to the file. The error names the target.
func (d *Draft) Write(data []byte) (int, error) {
	n, err := d.file.Write(data)
	if err != nil {
		err = WriteError(d.Target, err)
	}
	return n, err
}
