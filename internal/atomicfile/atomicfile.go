// Package atomicfile replaces whole files. A reader sees either all of the old contents or all of
// the new, even after a crash. If the disk is full, only the change is lost.
package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Suffix is the suffix of a new file's name until the file is complete. A crash may leave such a
// file, which a later Write of the same path removes after AbandonedAfter.
const Suffix = ".new"

// AbandonedAfter is how long an unfinished file must be unchanged before it counts as left by a
// killed process.
const AbandonedAfter = time.Hour

// Write makes data the contents of the file at path, which need not exist. A symbolic link is kept:
// its target is replaced. Only the owner can read the new file (mode 0600), unless prepare changes
// that. prepare may be nil. When Write returns nil, data is on the disk.
func Write(path string, data []byte, prepare func(*os.File) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	err := replace(path, data, func(draft *os.File) error {
		if prepare != nil {
			if err := prepare(draft); err != nil {
				return err
			}
		}
		return draft.Sync()
	})
	if err != nil {
		return err
	}
	removeAbandoned(path)
	return SyncFolder(filepath.Dir(path))
}

// removeAbandoned removes the drafts of a file that killed processes have left.
func removeAbandoned(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // the file is written
	}
	for _, e := range entries {
		name, isNew := strings.CutSuffix(e.Name(), Suffix)
		number, isDraft := strings.CutPrefix(name, filepath.Base(path)+".")
		if _, err := strconv.ParseUint(number, 10, 64); !isNew || !isDraft || err != nil {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= AbandonedAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// Appear is like Write for a new file that nobody misses after a crash: it doesn't wait for the
// disk, and doesn't follow a symbolic link. prepare must not be nil.
func Appear(path string, data []byte, prepare func(*os.File) error) error {
	return replace(path, data, prepare)
}

// replace writes data to a draft, calls prepare, and gives the draft its name.
func replace(path string, data []byte, prepare func(*os.File) error) error {
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+Suffix)
	if err != nil {
		return fmt.Errorf("no new file can be created in its folder: %w", err)
	}
	_, err = draft.Write(data)
	if err == nil {
		err = prepare(draft)
	}
	if err = errors.Join(err, draft.Close()); err == nil {
		err = Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}

// Rewrite is like Write for an existing file, and keeps its owner and mode. If it can't keep them,
// or if this process may not write to the file, it returns an error and leaves the file unchanged.
func Rewrite(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return Write(path, data, func(draft *os.File) error {
		return errors.Join(GiveTo(draft, info), draft.Chmod(info.Mode().Perm()))
	})
}

// SyncFolder makes a rename in a folder durable.
func SyncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil // no sync of folders here; renames are journaled
	}
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// GiveToFolderOwner gives a new file at path to the owner of its folder, if root runs this process.
// A service that runs as another user can then use what root created.
func GiveToFolderOwner(file *os.File, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	return GiveTo(file, folder)
}
