package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/atomicfile"
)

// PartSuffix is the suffix of a file's name until the file is complete. No other file may have this
// suffix, because a new draft removes an existing file of the same name.
const PartSuffix = ".chatguard-part"

// copySuffixes match the suffixes of the copies that the owner of the database makes beside it:
// before a migration, before an import, and in a rescue.
const copySuffixes = `\.v[0-9]+|\.before-import(\.[0-9]+)?|\.rescued`

// ownersPart matches the suffixes of unfinished files: of these copies, and of a restore (database,
// login and key of texts).
var ownersPart = regexp.MustCompile(`^(\.token|\.textkey|` + copySuffixes + `)?` + regexp.QuoteMeta(PartSuffix) + `(-journal)?$`)

// keptCopy matches the suffixes of copies of former contents. A restore also keeps the write-ahead
// log of a damaged database.
var keptCopy = regexp.MustCompile(`^(` + copySuffixes + `|\.before-restore(\.[0-9]+)?(-wal|-journal)?)$`)

// Abandoned returns the unfinished files that killed processes have left beside the database at
// path. If a process owns the database, that process may be writing them. A backup removes its own
// files.
func Abandoned(path string) (names []string) { return filesBeside(path, ownersPart) }

// Kept returns the files beside the database at path with its former contents: from before a
// migration, an import or a restore, and from a rescue.
func Kept(path string) (names []string) { return filesBeside(path, keptCopy) }

// filesBeside returns the files beside the database at path whose names are its name and a suffix
// that matches.
func filesBeside(path string, suffix *regexp.Regexp) (names []string) {
	path, err := realPath(path)
	if err != nil {
		return nil // opening it reports the error
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // as above
	}
	for _, e := range entries {
		rest, isBeside := strings.CutPrefix(e.Name(), filepath.Base(path))
		if isBeside && e.Type().IsRegular() && suffix.MatchString(rest) {
			names = append(names, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return names
}

// RemoveAbandonedPart removes the unfinished copy of a target that a killed process may have left.
// A copy that may still be in use stays: a process that only reads its copy needs less than an
// hour, even for a large one.
func RemoveAbandonedPart(target string, now time.Time) error {
	d := Draft{part: target + PartSuffix}
	info, err := os.Lstat(d.part)
	if err != nil || now.Sub(info.ModTime()) < atomicfile.AbandonedAfter {
		return nil
	}
	if err := d.remove(); err != nil {
		return fmt.Errorf("%s, which a killed backup left, can't be removed: make its folder writable for this user: %w", d.part, err)
	}
	return nil
}
