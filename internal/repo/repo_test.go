// Package repo only has tests: of the repository as a whole. They check what its packages import,
// how large their types are, which names are public, that pages lead somewhere and show code that
// compiles, and that CI runs every test.
package repo

import (
	"fmt"
	"os"
	"testing"
)

// TestMain lets the tests name files as they are named from the root folder.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const module = "github.com/chatguard/chatguard"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
