package persist

import (
	"errors"
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
	steps, err := readMigrations(migrationFiles)
	must(t, err)
	must(t, openMigrated(t, old, steps[:len(steps)-1]).close())
	for path, want := range map[string]bool{path: false, old: true} {
		before, beside := snapshot(t, path), files(t, filepath.Dir(path))
		outdated, err := Check(ctx, path)
		if outdated != want || err != nil {
			t.Errorf("outdated %v, %v; want %v", outdated, err, want)
		}
		if after := snapshot(t, path); !slices.EqualFunc(before, after, slices.Equal) || !slices.Equal(beside, files(t, filepath.Dir(path))) {
			t.Errorf("the database, or its folder, has changed: %q", files(t, filepath.Dir(path)))
		}
	}
	s := open(t, path, nil)
	defer s.Close()
	if outdated, err := Check(ctx, path); outdated || err != nil {
		t.Errorf("beside its owner: outdated %v, %v", outdated, err)
	}
}

// Check refuses what Open refuses, and a missing file.
func TestCheck_RefusesWhatOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path  func() string
		parts []string
	}{
		"none": {func() string { return databasePath(t) }, []string{"doesn't exist"}},
		"newer": {func() string {
			path := newFilledDatabase(t)
			alter(t, path, "PRAGMA user_version = 99")
			return path
		}, []string{"newer chatguard"}},
		"another program's": {func() string {
			path := newFilledDatabase(t)
			alter(t, path, "PRAGMA application_id = 7")
			return path
		}, []string{"another program"}},
		"a damaged page": {func() string {
			path := newFilledDatabase(t)
			overwrite(t, path, 3*4096, 4096)
			return path
		}, []string{"damaged", "backup"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := c.path()
			_, err := Check(ctx, path)
			wantError(t, err, append(c.parts, path)...)
			if _, err := os.Stat(path); name == "none" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a file was made: %v", err)
			}
		})
	}
}
