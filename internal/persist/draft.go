package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// partSuffix is what a file's name has behind it until it is whole. Nobody else's name ends so, because what is found there is removed.
const partSuffix = ".chatguard-part"

// draft is a file in the making: until it is whole it has its target's name with partSuffix behind it.
type draft struct {
	target  string
	part    string
	replace bool // the target, where it exists
	file    *os.File
	over    bool // published, or given up
}

// newDraft begins the file target, which must not be one of the database's, under any of its names. The error names the target and the fix. Publish or discard it.
//
// No link is written through, whenever it comes: a target that is one is refused, O_EXCL makes the part, and a rename takes a link's place.
func newDraft(target string, replace bool, database ...string) (*draft, error) {
	target, err := realFolder(target)
	if err != nil {
		return nil, cantWriteFile(target, err)
	}
	d := &draft{target: target, part: target + partSuffix, replace: replace}
	for _, name := range database {
		if err := d.spare(name); err != nil {
			return nil, err
		}
	}
	if err := d.checkTarget(); err != nil {
		return nil, err
	}
	// What has the part's name was left by one that was killed. The new file is nobody else's from its first byte.
	if err := d.remove(); err != nil {
		return nil, cantWriteFile(target, err)
	}
	if d.file, err = os.OpenFile(d.part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, cantWriteFile(target, err)
	}
	return d, nil
}

// siblings are what the names of a database's files have behind its own: SQLite's, ours, and those of `chatguard login`.
var siblings = []string{"", "-wal", "-shm", "-journal", ".lock", ".token", ".token.lock"}

// spare refuses a target that would write over the database or a file that belongs to it.
func (d *draft) spare(database string) error {
	for _, suffix := range siblings {
		switch {
		case !sameFile(d.target, database+suffix) && !sameFile(d.part, database+suffix):
		case suffix == "":
			return fmt.Errorf("%s would write over the database %s: name another file", d.target, database)
		default:
			return fmt.Errorf("%s would write over %s, which belongs to the database: name another file", d.target, database+suffix)
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func (d *draft) checkTarget() error {
	switch info, err := os.Lstat(d.target); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cantWriteFile(d.target, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: name that file itself, or another", describeLink(d.target))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: name another file", d.target)
	case !d.replace:
		return &existsError{d.target}
	}
	return nil
}

// describeLink names a link and what it leads to.
func describeLink(name string) string {
	meant, err := os.Readlink(name)
	if err != nil {
		meant = "another file"
	}
	return name + " is a symbolic link to " + meant
}

// existsError refuses a target that is there already.
type existsError struct{ target string }

func (e *existsError) Error() string {
	return e.target + " exists already: name another file, or replace it with --force"
}

// publish gives the file its name once all of it is on the disk, and returns its size in bytes.
func (d *draft) publish() (size int64, err error) {
	if err := d.file.Sync(); err != nil {
		return 0, cantWriteFile(d.target, err)
	}
	info, err := d.file.Stat()
	if err != nil {
		return 0, cantWriteFile(d.target, err)
	}
	if !d.ours() {
		return 0, fmt.Errorf("%s is being written by another process: wait for that, or name another file", d.target)
	}
	if err := d.checkTarget(); err != nil {
		return 0, err // it has come meanwhile
	}
	if err := errors.Join(d.file.Close(), os.Rename(d.part, d.target), syncFolder(d.target)); err != nil {
		return 0, cantWriteFile(d.target, err)
	}
	d.over = true
	return info.Size(), nil
}

// discard removes what was written, unless that has been published.
func (d *draft) discard() {
	if d.over {
		return
	}
	d.over = true
	ours := d.ours()
	d.file.Close()
	if ours {
		d.remove() // where this fails, the next draft of the same name does it
	}
}

// remove removes what was written, with the journal that SQLite leaves where it can't end a copy.
func (d *draft) remove() error {
	for _, name := range []string{d.part + "-journal", d.part} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// ours says whether the part is still the file that newDraft made, and not that of another process which began later.
func (d *draft) ours() bool {
	mine, err := d.file.Stat()
	if err != nil {
		return true // it is closed, which only publish does, after asking
	}
	there, err := os.Lstat(d.part) // a link to it isn't it
	return err == nil && os.SameFile(mine, there)
}

// syncFolder makes the name of a file last that was renamed.
func syncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil // there a folder can't be synced, and renaming is journalled
	}
	folder, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// explain turns an error that came while the database at path was copied into this draft into trouble with whichever of the two failed.
func (d *draft) explain(path string, err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return explain(path, err)
	}
	switch failure.Code() {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE:
		return fmt.Errorf("%s: %s", d.target, problemOf(failure)) // the database is only read
	}
	return explain(path, err)
}

// cantWriteFile says of a file that is no database why it can't be written, and what mends it.
func cantWriteFile(target string, err error) error {
	reason := err
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		reason = failed.Err // without the part's name, which would only confuse
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%s: %s", target, diskFull)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: its folder doesn't exist: make it, or name another file", target)
	}
	return fmt.Errorf("%s can't be written (%w): make its folder writable for this user, or name another file", target, reason)
}

// Write writes to the file. The error names the target.
func (d *draft) Write(data []byte) (int, error) {
	n, err := d.file.Write(data)
	if err != nil {
		err = cantWriteFile(d.target, err)
	}
	return n, err
}
