//go:build !race

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBinary_UnusedMethods checks that the linker leaves unused methods out of the binary. It keeps
// every exported method if reachable code looks up a method by a variable name or number, as
// text/template and html/template do.
func TestBinary_UnusedMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	t.Parallel()
	build := exec.Command("go", "build", "-ldflags=-dumpdep", "-o", filepath.Join(t.TempDir(), "chatguard"), ".")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 2000)])
	}
	const mark = " <ReflectMethod>"
	usedBy := map[string]string{} // the symbol through which the linker first reached a symbol
	for line := range strings.Lines(string(out)) {
		from, to, ok := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), " <UsedInIface>", ""), " -> ")
		if !ok {
			continue
		}
		from, found := strings.TrimSuffix(from, mark), strings.HasSuffix(to, mark)
		to = strings.TrimSuffix(to, mark)
		if usedBy[to] == "" {
			usedBy[to] = from
		}
		if found {
			var path strings.Builder
			for symbol := to; symbol != "" && symbol != "_"; symbol = usedBy[symbol] {
				path.WriteString("\n" + symbol)
			}
			t.Fatalf("the linker keeps all exported methods because of the first of these, which the next one uses, and so on:%s", path.String())
		}
	}
	if usedBy["main.main"] == "" {
		t.Error("the linker's output doesn't name main.main: change the test")
	}
}
