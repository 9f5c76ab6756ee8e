package restore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/fileaccess"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

// The parts of an installation, in the order of the move. The configuration says where the database
// is, and the marker is beside the database. So the configuration moves first. A process that finds
// the new configuration also finds the marker. One that finds the old configuration finds
// everything else unchanged, too.
const (
	configurationPart = iota
	databasePart
	loginPart
	textKeyPart
	parts
)

// keptSuffix is appended to the names of the files that a restore replaces.
const keptSuffix = ".before-restore"

// move moves new files into their places.
type move struct {
	files  [parts]*file
	marker string
	over   bool // nothing to discard
}

// marker is the content of the marker file. Its paths are only compared with those of the present
// installation, because root may finish what another user began: that user must not decide which
// files root moves.
type marker struct {
	Suffix string       `json:"kept_suffix"`
	Files  []markedFile `json:"files"`
}

// markedFile is a new file that a restore moves.
type markedFile struct {
	Part   int    `json:"part"`
	Target string `json:"target"` // absolute, without symbolic links
	SHA256 string `json:"sha256"` // of the new contents, in hex
}

// maxMarker is the maximum size of a marker.
const maxMarker = 64 << 10

func newMove(places transfer.Installation) *move {
	m := &move{marker: places.Database + sqlite.RestoringSuffix}
	for part, target := range []string{configurationPart: realFile(places.Configuration), databasePart: places.Database, loginPart: realFile(places.Login), textKeyPart: realFile(places.TextKey)} {
		m.files[part] = &file{target: target, staged: target + sqlite.PartSuffix, isDatabase: part == databasePart}
	}
	return m
}

// commit moves the files that were written.
func (m *move) commit() error {
	mark := marker{Suffix: m.freeSuffix()}
	for part, f := range m.files {
		if f.written {
			mark.Files = append(mark.Files, markedFile{part, f.target, f.sum})
			if err := atomicfile.SyncFolder(filepath.Dir(f.target)); err != nil {
				return sqlite.WriteError(f.target, err)
			}
		}
	}
	reached("staged")
	data, err := json.Marshal(mark)
	if err == nil {
		err = atomicfile.Write(m.marker, data, func(f *os.File) error { return atomicfile.GiveToFolderOwner(f, m.marker) })
	}
	if err != nil {
		os.Remove(m.marker)
		return sqlite.WriteError(m.marker, err)
	}
	reached("marked")
	m.over = true // from now on, the staged files belong to the marker
	return m.apply(mark)
}

// freeSuffix returns a suffix that no file has yet: .before-restore, .before-restore.2 and so on.
func (m *move) freeSuffix() string {
	suffix := keptSuffix
	for n := 2; ; n++ {
		taken := false
		for _, f := range m.files {
			_, err := os.Lstat(f.target + suffix)
			taken = taken || !errors.Is(err, fs.ErrNotExist)
		}
		if !taken {
			return suffix
		}
		suffix = fmt.Sprintf("%s.%d", keptSuffix, n)
	}
}

// apply moves the files of the marker that aren't in their places yet. If one can't be moved, apply
// undoes everything.
func (m *move) apply(mark marker) error {
	for _, marked := range mark.Files {
		f := m.files[marked.Part]
		f.kept = f.target + mark.Suffix
		if err := f.place(); err != nil {
			return m.undo(mark, fmt.Errorf("%s can't be replaced (%w)", f.target, fileaccess.Cause(err)))
		}
	}
	for _, marked := range mark.Files {
		if err := atomicfile.SyncFolder(filepath.Dir(marked.Target)); err != nil {
			return sqlite.WriteError(marked.Target, err)
		}
	}
	reached("moved")
	if err := os.Remove(m.marker); err != nil {
		return sqlite.WriteError(m.marker, err)
	}
	return atomicfile.SyncFolder(filepath.Dir(m.marker))
}

// undo puts back everything that was there before the failed move.
func (m *move) undo(mark marker, failed error) error {
	for _, marked := range mark.Files {
		f := m.files[marked.Part]
		f.kept = f.target + mark.Suffix
		if err := f.putBack(); err != nil {
			return fmt.Errorf("%w, and %s can't be put back (%w): repeat the restore when they can be written", failed, f.target, fileaccess.Cause(err))
		}
		os.Remove(f.staged) // the next restore replaces it
	}
	if err := os.Remove(m.marker); err != nil {
		return sqlite.WriteError(m.marker, err)
	}
	return fmt.Errorf("%w: nothing was restored; close other programs that use the file, and make its folder writable", failed)
}

// discard removes the new files unless they were moved.
func (m *move) discard() {
	if m.over {
		return
	}
	for _, f := range m.files {
		if f.written {
			os.Remove(f.staged) // the next restore replaces it
		}
	}
}

// keptFiles returns the files that were there before.
func (m *move) keptFiles() (kept []string) {
	for _, f := range m.files {
		if _, err := os.Lstat(f.kept); f.kept != "" && err == nil {
			kept = append(kept, f.kept)
		}
	}
	return kept
}

// reached is called at each step of a restore. A test replaces it.
var reached = func(step string) {}

// Finish completes a restore that was interrupted after its files were written, and reports whether
// there was one. If one was interrupted earlier, Finish removes its files. places are the present
// installation's.
func Finish(places transfer.Installation) (finished bool, err error) {
	if _, restoring := sqlite.IsRestoring(places.Database); !restoring {
		removeAbandoned(places)
		return false, nil
	}
	if err := checkLinks(places); err != nil {
		return true, err
	}
	held, err := sqlite.Hold(places.Database)
	if err != nil {
		return false, err
	}
	places.Database = held.Path
	return true, errors.Join(finishHeld(held, places), held.Release())
}

// finishHeld is Finish for a database that is held.
func finishHeld(held *sqlite.Held, places transfer.Installation) error {
	name, restoring := sqlite.IsRestoring(held.Path)
	if !restoring {
		return nil
	}
	var mark marker
	// The marker decides which files replace the present ones, so nobody else must have written it.
	data, err := fileaccess.ReadTrusted(name, held.Path, maxMarker)
	if err == nil {
		err = json.Unmarshal(data, &mark)
	}
	if err == nil {
		err = mark.check()
	}
	if err != nil {
		return fmt.Errorf("%s, which an interrupted restore left, can't be read (%w): run this as the user who restored", name, fileaccess.Cause(err))
	}
	return newMove(places).resume(mark)
}

// resume completes a move. Before it moves anything, it checks that this is possible. If it isn't,
// the marker stays.
func (m *move) resume(mark marker) error {
	for _, marked := range mark.Files {
		f := m.files[marked.Part]
		if f.target != marked.Target {
			return fmt.Errorf("an interrupted restore replaces %s, but here that file is %s: use the --config of that restore", marked.Target, f.target)
		}
		f.sum = marked.SHA256
	}
	for _, marked := range mark.Files {
		f := m.files[marked.Part]
		_, err := f.check()
		switch {
		case errors.As(err, new(*missingError)):
			return fmt.Errorf("%s, which an interrupted restore wrote, is missing: put it back, or delete %s and restore again", f.staged, m.marker)
		case err != nil:
			return fmt.Errorf("%s, which an interrupted restore replaces, can't be read (%w): run this as the user who restored", f.target, fileaccess.Cause(err))
		}
	}
	return m.apply(mark)
}

func (m marker) check() error {
	for _, f := range m.Files {
		if f.Part < 0 || f.Part >= parts {
			return errors.New("unknown part")
		}
	}
	if len(m.Files) == 0 {
		return errors.New("no files")
	}
	if m.Suffix == "" || filepath.Base("x"+m.Suffix) != "x"+m.Suffix {
		return errors.New("no suffix")
	}
	return nil
}
