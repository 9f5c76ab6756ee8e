package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// backupFolder is a folder for backups whose names contain the time. The zero value means no
// folder.
type backupFolder struct {
	path string
	keep int // how many backups of each kind to keep; 0 means all
}

// nameOfBackup matches the names of backups in a folder. Sorted by name, they are sorted by time.
var nameOfBackup = regexp.MustCompile(`^chatguard-[0-9]{8}T[0-9]{6}Z(\.db|\.age)$`)

// next returns the path of a backup that is made now.
func (f backupFolder) next(now time.Time, ending string) string {
	return filepath.Join(f.path, "chatguard-"+now.UTC().Format("20060102T150405Z")+ending)
}

// create creates the folder and its parents, for this user only, if there is a database to copy.
func (f backupFolder) create(database string) error {
	if f.path == "" {
		return nil
	}
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		return nil // the backup itself reports this
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return fmt.Errorf("the folder for backups can't be created: %w", err)
	}
	return nil
}

// removeOld removes the oldest backups with the given ending, and unfinished backups that killed
// processes left. It returns a report.
func (f backupFolder) removeOld(ending string) (report string, err error) {
	if f.path == "" {
		return "", nil
	}
	entries, err := os.ReadDir(f.path) // sorted by name
	if err != nil {
		return "", fmt.Errorf("the backup was written, but old ones in %s can't be listed: %w", f.path, err)
	}
	for _, e := range entries {
		target, isPart := strings.CutSuffix(e.Name(), sqlite.PartSuffix)
		if isPart && nameOfBackup.MatchString(target) {
			_ = sqlite.RemoveAbandonedPart(filepath.Join(f.path, target), time.Now())
		}
	}
	if f.keep == 0 {
		return "", nil
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		kind := nameOfBackup.FindStringSubmatch(e.Name())
		return kind == nil || kind[1] != ending || !e.Type().IsRegular()
	})
	for _, old := range entries[:max(0, len(entries)-f.keep)] {
		name := filepath.Join(f.path, old.Name())
		if err := os.Remove(name); err != nil {
			return "", fmt.Errorf("the backup was written, but an old one can't be removed: %w", err)
		}
		report += "Removed " + name + "\n"
	}
	return report, nil
}
