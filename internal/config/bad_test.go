package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each file in testdata/bad has one mistake. Its first line is the error of Parse.
func TestParse_BadFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			must(t, err)
			first, _, _ := strings.Cut(string(data), "\n")
			want := strings.TrimPrefix(first, "# want: ")
			_, err = Parse(name, data, nil)
			if got := problem(t, err); got != name+want {
				t.Errorf("got  %s\nwant %s", got, name+want)
			}
		})
	}
}
