package persist

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// files returns the names in a folder.
func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Check changes nothing, whether or not a process owns the database. It doesn't migrate an older
// database but reports it.
func TestCheck_ChangesNothing(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	old := databasePath(t)
	steps := Schema.Steps
	must(t, openMigrated(t, old, steps[:len(steps)-1]).Close())
	for path, want := range map[string]bool{path: false, old: true} {
		before, beside := snapshot(t, path), files(t, filepath.Dir(path))
		outdated, err := Schema.Check(ctx, path)
		if outdated != want || err != nil {
			t.Errorf("outdated %v, %v; want %v", outdated, err, want)
		}
		if after := snapshot(t, path); !slices.EqualFunc(before, after, slices.Equal) || !slices.Equal(beside, files(t, filepath.Dir(path))) {
			t.Errorf("the database, or its folder, has changed: %q", files(t, filepath.Dir(path)))
		}
	}
	s := open(t, path, nil)
	defer s.Close()
	if outdated, err := Schema.Check(ctx, path); outdated || err != nil {
		t.Errorf("beside its owner: outdated %v, %v", outdated, err)
	}
}
