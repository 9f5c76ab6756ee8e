package sqlite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The files beside a database are found whatever its name is, also through a link to it.
func TestKept(t *testing.T) {
	t.Parallel()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	path := filepath.Join(folder, "a[b.db")
	var want []string
	for _, suffix := range []string{".before-import", ".before-import.2", ".before-restore", ".before-restore-wal", ".before-restore.2", ".rescued", ".v10"} {
		want = append(want, path+suffix)
	}
	for _, name := range append(want, path, path+"-wal", path+".v", path+".v10.chatguard-part", path+".lock", path+".other", folder+"/other.v10") {
		must(t, os.WriteFile(name, nil, 0o600))
	}
	must(t, os.Mkdir(path+".v9", 0o700))
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	for _, name := range []string{path, link} {
		if got := Kept(name); !slices.Equal(got, want) {
			t.Errorf("beside %s are %q, want %q", name, got, want)
		}
		if got := Abandoned(name); !slices.Equal(got, []string{path + ".v10.chatguard-part"}) {
			t.Errorf("abandoned are %q", got)
		}
	}
}
