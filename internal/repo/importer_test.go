package repo

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// raised are the modules whose versions rise in testdata/importer.mod when it requires chatguard,
// although its library needs none of them. docs/decisions/14-one-module.md says why.
var raised = []string{
	"github.com/dustin/go-humanize",
	"github.com/gofrs/flock",
	"github.com/mattn/go-isatty",
	"github.com/ncruces/go-strftime",
	"github.com/rogpeppe/go-internal",
	"golang.org/x/crypto",
	"golang.org/x/sync",
	"golang.org/x/sys",
	"golang.org/x/term",
	"golang.org/x/text",
	"modernc.org/libc",
	"modernc.org/memory",
	"modernc.org/sqlite",
}

// A server that imports the library gets higher versions of these modules and of no others.
func TestImporter_Versions(t *testing.T) {
	c := newClient(t)
	before := c.versions()
	c.run("mod", "edit", "-require="+module+"@v0.0.0", "-replace="+module+"="+c.root)
	after := c.versions()
	var got []string
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if before[path] != after[path] {
			t.Logf("%s %s => %s", path, before[path], after[path])
			got = append(got, path)
		}
	}
	if !slices.Equal(got, raised) {
		t.Errorf("importing chatguard raises %q\nwant %q", got, raised)
	}
}

// client is a module in a folder of its own, with a module proxy that knows only the names and
// versions in its go.mod and in chatguard's. Go selects versions by these files alone, because a
// module of Go 1.17 or later doesn't load the go.mod files of what chatguard requires.
type client struct {
	*testing.T
	root, folder string
	env          []string
}

func newClient(t *testing.T) *client {
	root, err := os.Getwd()
	must(t, err)
	c := &client{T: t, root: root, folder: t.TempDir()}
	proxy := t.TempDir()
	c.env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw", "GOMODCACHE="+t.TempDir(), "GOPROXY=file:///"+strings.TrimPrefix(filepath.ToSlash(proxy), "/"), "GONOPROXY=none", "GOSUMDB=off")
	text, err := os.ReadFile("internal/repo/testdata/importer.mod")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(c.folder, "go.mod"), text, 0o600))
	for _, folder := range []string{c.folder, root} {
		for _, required := range c.requirements(folder) {
			publish(t, proxy, required.Path, required.Version)
		}
	}
	return c
}

type requirement struct{ Path, Version string }

// requirements returns what the go.mod of a folder requires.
func (c *client) requirements(folder string) []requirement {
	var parsed struct{ Require []requirement }
	must(c.T, json.Unmarshal(c.run("mod", "edit", "-json", filepath.Join(folder, "go.mod")), &parsed))
	return parsed.Require
}

// publish adds a module to a proxy, without its packages and what it requires.
func publish(t *testing.T, proxy, path, version string) {
	var escaped strings.Builder // as proxies write capital letters
	for _, c := range path {
		if unicode.IsUpper(c) {
			escaped.WriteByte('!')
		}
		escaped.WriteRune(unicode.ToLower(c))
	}
	folder := filepath.Join(proxy, filepath.FromSlash(escaped.String()), "@v")
	must(t, os.MkdirAll(folder, 0o700))
	must(t, os.WriteFile(filepath.Join(folder, version+".mod"), []byte("module "+path+"\n\ngo 1.25.0\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o600))
}

// versions returns the versions of all modules that Go selects.
func (c *client) versions() map[string]string {
	versions := map[string]string{}
	for line := range strings.Lines(string(c.run("list", "-m", "-f", "{{.Path}} {{.Version}}", "all"))) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		versions[path] = version
	}
	return versions
}

// run runs the go command in the importer's folder.
func (c *client) run(args ...string) []byte {
	c.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(c.Context(), "go", args...)
	command.Dir, command.Env, command.Stderr = c.folder, c.env, &stderr
	out, err := command.Output()
	if err != nil {
		c.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}
