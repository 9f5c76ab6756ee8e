//go:build !race

package main

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// heading begins a module's licenses: its path, its version, and the systems that need it unless
// all do.
var heading = regexp.MustCompile(`(?m)^==== (\S+ v\S+)(?: \(([a-z,]+)\))?$`)

// TestLicenses_Modules checks that the printed licenses are those of the modules in the binary, in
// the same versions.
func TestLicenses_Modules(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".").Output()
	must(t, err)
	built := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" })
	slices.Sort(built)
	built = slices.Compact(built)
	file, err := os.ReadFile("../../go.mod")
	must(t, err)
	var printed []string
	for _, m := range heading.FindAllStringSubmatch(moduleLicenses, -1) {
		if !strings.Contains(string(file), m[1]) { // go list needs a download for other systems
			t.Errorf("go.mod has no %s: run sh scripts/licenses.sh", m[1])
		}
		if m[2] == "" || slices.Contains(strings.Split(m[2], ","), runtime.GOOS) {
			printed = append(printed, m[1])
		}
	}
	slices.Sort(printed)
	if !slices.Equal(built, printed) {
		t.Errorf("built of\n%s\nlicences of\n%s\nrun sh scripts/licenses.sh", strings.Join(built, "\n"), strings.Join(printed, "\n"))
	}
}

// TestLicenses_Text checks that every heading has a license below it and that each library of the
// dashboard has one.
func TestLicenses_Text(t *testing.T) {
	var out strings.Builder
	must(t, printLicenses(&out))
	sections := strings.Split(out.String(), "==== ")[1:]
	for _, section := range sections {
		title, text, _ := strings.Cut(section, "\n")
		if len(text) < 500 || !regexp.MustCompile(`(?i)copyright|licen[sc]e|public domain`).MatchString(text) {
			t.Errorf("%s: %d bytes", title, len(text))
		}
	}
	for _, name := range []string{"chatguard", "Go", "Unicode data", "modernc.org/sqlite ", "htm, in the dashboard", "preact, in the dashboard", "uplot, in the dashboard"} {
		if !slices.ContainsFunc(sections, func(s string) bool { return strings.HasPrefix(s, name) }) {
			t.Errorf("no licence of %s", name)
		}
	}
	vendored, err := os.ReadDir("../../web/static/vendor")
	must(t, err)
	for _, file := range vendored {
		if name := strings.TrimPrefix(file.Name(), "LICENSE-"); name != file.Name() && !strings.Contains(out.String(), "==== "+name+", in the dashboard") {
			t.Errorf("%s isn't printed", file.Name())
		}
	}
}
