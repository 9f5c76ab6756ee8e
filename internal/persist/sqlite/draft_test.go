package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// If the target or the unfinished file is replaced by a link during a copy, nothing is written
// through the link.
func TestDraft_LinkAppearsDuringCopy(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	folder := t.TempDir()
	target, other := filepath.Join(folder, "copy"), filepath.Join(folder, "other")
	must(t, os.WriteFile(other, []byte("theirs"), 0o600))
	for name, at := range map[string]string{"target": target, "part": target + PartSuffix} {
		d, err := newDraft(target, true, path)
		must(t, err)
		os.Remove(at) // the target doesn't exist yet
		must(t, os.Symlink(other, at))
		if _, err := d.Publish(); err == nil {
			t.Errorf("%s: published", name)
		}
		d.Discard()
		if theirs, err := os.ReadFile(other); err != nil || string(theirs) != "theirs" {
			t.Errorf("%s: the other file holds %q, %v", name, theirs, err)
		}
		must(t, os.Remove(at))
	}
}
