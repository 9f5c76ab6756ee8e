package restore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// file is a new file and its place.
type file struct {
	target     string // where it belongs
	staged     string // where it is before the move
	kept       string // where the former file is kept
	isDatabase bool
	written    bool
	sum        string // SHA-256 of the new contents, in hex
}

// write writes the new file beside its place. If root runs this process, the new file gets the
// owner of the file that it will replace, or of the folder if there is none. If mode is 0600, the
// new file has it. Otherwise it gets the mode of the file that it will replace, or mode if there is
// none.
func (f *file) write(contents io.Reader, mode fs.FileMode) error {
	// A killed process may have left a staged file.
	if err := os.Remove(f.staged); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sqlite.WriteError(f.target, err)
	}
	out, err := os.OpenFile(f.staged, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return sqlite.WriteError(f.target, err)
	}
	f.written = true
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(targetWriter{out, f.target}, sum), contents); err != nil {
		return errors.Join(err, out.Close())
	}
	f.sum = hex.EncodeToString(sum.Sum(nil))
	if err := errors.Join(f.prepare(out, mode), out.Sync(), out.Close()); err != nil {
		return sqlite.WriteError(f.target, err)
	}
	return nil
}

// prepare sets owner and mode of the new file.
func (f *file) prepare(out *os.File, mode fs.FileMode) error {
	there, err := os.Stat(f.target)
	switch {
	case err != nil:
		err = atomicfile.GiveToFolderOwner(out, f.target)
	case os.Geteuid() == 0:
		err = atomicfile.GiveTo(out, there)
	}
	if err != nil || mode == 0o600 {
		return err
	}
	if there != nil {
		mode = there.Mode().Perm()
	}
	return out.Chmod(mode)
}

// targetWriter writes to a file. Its errors name the target and the fix.
type targetWriter struct {
	io.Writer
	target string
}

func (w targetWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		err = sqlite.WriteError(w.target, err)
	}
	return n, err
}

// logSuffixes are the suffixes of the write-ahead log and the rollback journal that SQLite may
// leave beside a database. A new database must not get the old one's log.
var logSuffixes = []string{"-wal", "-journal"}

// missingError means that a new file is neither staged nor in its place.
type missingError struct{ staged string }

func (e *missingError) Error() string { return e.staged + " is missing" }

// check reports whether the new file is staged and must still be moved. The error is a
// *missingError if the file is neither staged nor in its place.
func (f *file) check() (isStaged bool, err error) {
	info, err := os.Lstat(f.staged)
	if err == nil && info.Mode().IsRegular() {
		return true, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	isPlaced, err := f.isPlaced()
	if err == nil && !isPlaced {
		err = &missingError{f.staged}
	}
	return false, err
}

// isPlaced reports whether the file in the place has the new contents.
func (f *file) isPlaced() (bool, error) {
	there, err := os.Open(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer there.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, there); err != nil {
		return false, err
	}
	return hex.EncodeToString(sum.Sum(nil)) == f.sum, nil
}

// place moves the new file to its place, and what was there to f.kept. It continues what a killed
// process began.
func (f *file) place() error {
	if isStaged, err := f.check(); err != nil || !isStaged {
		return err
	}
	if f.isDatabase {
		for _, suffix := range logSuffixes {
			if err := renameIfExists(f.target+suffix, f.kept+suffix); err != nil {
				return err
			}
		}
		if err := os.Remove(f.target + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	reached("logs of " + f.target)
	if err := f.keep(); err != nil {
		return err
	}
	reached("kept " + f.target)
	if err := os.Rename(f.staged, f.target); err != nil {
		return err
	}
	reached("placed " + f.target)
	return nil
}

// keep makes a hard link to the old file. Then the new file can replace it in one step. Some file
// systems have no hard links: there, keep renames a database and copies other files.
func (f *file) keep() error {
	if _, err := os.Lstat(f.kept); err == nil {
		return nil
	}
	err := os.Link(f.target, f.kept)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case f.isDatabase:
		return os.Rename(f.target, f.kept)
	}
	data, err := os.ReadFile(f.target)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.kept, data, nil)
}

// putBack undoes place, even if place did only a part.
func (f *file) putBack() error {
	_, staged := os.Lstat(f.staged)
	_, kept := os.Lstat(f.kept)
	_, there := os.Lstat(f.target)
	var err error
	switch isMoved := staged != nil; {
	case kept == nil && (isMoved || there != nil):
		err = os.Rename(f.kept, f.target)
	case kept == nil:
		err = os.Remove(f.kept) // another hard link to f.target
	case isMoved: // there was none before, or it is already put back
		var isPlaced bool
		if isPlaced, err = f.isPlaced(); isPlaced {
			err = os.Remove(f.target)
		}
	}
	if err != nil || !f.isDatabase {
		return err
	}
	for _, suffix := range logSuffixes {
		err = errors.Join(err, renameIfExists(f.kept+suffix, f.target+suffix))
	}
	return err
}

func renameIfExists(from, to string) error {
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
