//go:build !race

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// documentedBackup matches a command of the documentation that makes a backup in a folder.
var documentedBackup = regexp.MustCompile(`(?m)^    .*?chatguard (backup --folder (/\S+).*)$`)

// TestBackup_DocumentedFolders runs the commands that the documentation prints, each twice, with
// their folders in a folder of the test. Nothing but the database exists before.
func TestBackup_DocumentedFolders(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.stop()
	for _, page := range []string{"backup.md", "container.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		must(t, err)
		command := documentedBackup.FindStringSubmatch(string(text))
		if command == nil {
			t.Errorf("docs/%s has no backup in a folder", page)
			continue
		}
		root := t.TempDir()
		folder := filepath.Join(root, command[2])
		args := strings.Fields(strings.Replace(command[1], command[2], folder, 1))
		killed := filepath.Join(folder, "chatguard-20260101T000000Z.db.chatguard-part")
		for i := range 2 {
			if i == 1 {
				must(t, os.WriteFile(killed, nil, 0o600))
				must(t, os.Chtimes(killed, time.Time{}, time.Now().Add(-2*time.Hour)))
			}
			if out := s.run(append(args, "--force")...); !strings.HasPrefix(out, "Wrote "+folder) { // the two may be made in one second
				t.Errorf("%s prints %s", command[1], out)
			}
		}
		if _, err := os.Stat(killed); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a killed backup's file is left: %v", err)
		}
		for at := folder; at != root; at = filepath.Dir(at) {
			if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s has mode %v, %v", at, info.Mode(), err)
			}
		}
	}
}
