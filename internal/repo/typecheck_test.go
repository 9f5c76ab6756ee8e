package repo

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// checker checks the types of code that the compiler doesn't see in this package: examples of all
// public packages, and the Go blocks of the pages.
type checker struct {
	files    *token.FileSet
	importer types.Importer
}

// newChecker returns a checker for code that imports what the public packages and their tests do.
func newChecker(t *testing.T) *checker {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-test", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, dir := range public {
		args = append(args, "./"+dir)
	}
	list, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("%v: %s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	compiled := map[string]string{}
	for line := range strings.Lines(string(list)) {
		// A package that is compiled for a test has another name: "path [path.test]".
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok && file != "" && !strings.HasPrefix(file, "[") {
			compiled[path] = file
		}
	}
	c := &checker{files: token.NewFileSet()}
	c.importer = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		if compiled[path] == "" {
			return nil, fmt.Errorf("no test of a public package imports %s", path)
		}
		return os.Open(compiled[path])
	})
	return c
}

// uses returns what the files refer to. It reports the errors for which report is true.
func (c *checker) uses(t *testing.T, files []*ast.File, report func(types.Error) bool) map[*ast.Ident]types.Object {
	t.Helper()
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: c.importer, Error: func(err error) {
		if wrong := (types.Error{}); !errors.As(err, &wrong) || report(wrong) {
			t.Error(err)
		}
	}}
	_, _ = config.Check("checked", c.files, files, info) // the errors have been reported
	return info.Uses
}
