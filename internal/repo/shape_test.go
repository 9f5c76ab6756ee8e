package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var tree = flag.String("tree", ".", "the folder that TestShape measures")

// shape is what TestShape measures of a package, without its tests.
type shape struct {
	name    string         // relative to the module
	files   int            //
	lines   int            //
	cycle   []string       // the largest set of files that all need each other
	methods map[string]int // number of methods, of each type
}

// TestShape checks that a package can be read in parts: each type has few methods, and few of its
// files need each other. With -v, it prints the figures of the largest packages.
func TestShape(t *testing.T) {
	for _, s := range measure(t, *tree) {
		for name, methods := range s.methods {
			full := s.name + "." + name
			reason, excepted := manyMethods[full]
			switch {
			case methods > maxMethods && !excepted:
				t.Errorf("%s has %d methods; at most %d", full, methods, maxMethods)
			case excepted && methods <= maxMethods:
				t.Errorf("%s has only %d methods: remove it from manyMethods (%s)", full, methods, reason)
			}
		}
		reason, excepted := largeCycles[s.name]
		switch {
		case len(s.cycle) > maxCycle && !excepted:
			t.Errorf("%s: %d files need each other, at most %d: %s", s.name, len(s.cycle), maxCycle, strings.Join(s.cycle, " "))
		case excepted && len(s.cycle) <= maxCycle:
			t.Errorf("%s has no large cycle: remove it from largeCycles (%s)", s.name, reason)
		}
	}
}

const (
	maxMethods = 40
	maxCycle   = 15 // files
)

// manyMethods has the types that may have more than maxMethods, with the reason.
var manyMethods = map[string]string{
	"internal/limits.Table": "it is what decides: its methods are one question each, over the same shards",
}

// largeCycles has the packages of which more than maxCycle files may need each other, with the
// reason.
var largeCycles = map[string]string{
	"internal/limits": "it is what decides: limits, sets, rows and the table name each other",
}

// TestShape_Figures prints the shape of the 20 largest packages, and the size of the whole.
func TestShape_Figures(t *testing.T) {
	shapes := measure(t, *tree)
	files, lines := 0, 0
	for _, s := range shapes {
		files, lines = files+s.files, lines+s.lines
	}
	slices.SortFunc(shapes, func(a, b shape) int { return b.lines - a.lines })
	out := &strings.Builder{}
	fmt.Fprintf(out, "%-32s %7s %6s %6s  %s\n", "package", "lines", "files", "cycle", "types with most methods")
	for _, s := range shapes[:20] {
		fmt.Fprintf(out, "%-32s %7d %6d %6d  %s\n", s.name, s.lines, s.files, len(s.cycle), s.largest())
	}
	entries, err := exec.CommandContext(t.Context(), "git", "-C", *tree, "ls-tree", "--name-only", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s%d packages, %d files, %d lines; %d entries in the root folder", out, len(shapes), files, lines, bytes.Count(entries, []byte("\n")))
}

// largest returns the two types with most methods.
func (s shape) largest() string {
	names := slices.SortedFunc(func(yield func(string) bool) {
		for name := range s.methods {
			if !yield(name) {
				return
			}
		}
	}, func(a, b string) int {
		if s.methods[a] != s.methods[b] {
			return s.methods[b] - s.methods[a]
		}
		return strings.Compare(a, b)
	})
	text := make([]string, 0, 2)
	for _, name := range names[:min(2, len(names))] {
		text = append(text, fmt.Sprintf("%s %d", name, s.methods[name]))
	}
	return strings.Join(text, ", ")
}

// listed is a package as "go list -json" prints it.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	Standard, DepOnly       bool
}

// measure returns the shapes of all packages in the module in dir.
func measure(t *testing.T, dir string) (shapes []shape) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,Standard,DepOnly", "./...")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %v: %s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	compiled := map[string]string{}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		compiled[p.ImportPath] = p.Export
		if !p.DepOnly {
			packages = append(packages, p)
		}
	}
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	for _, p := range packages {
		if len(p.GoFiles) > 0 {
			shapes = append(shapes, p.measure(t, files, from))
		}
	}
	return shapes
}

// measure returns the shape of p.
func (p listed) measure(t *testing.T, files *token.FileSet, from types.Importer) shape {
	t.Helper()
	s := shape{name: strings.TrimPrefix(p.ImportPath, "github.com/chatguard/chatguard/"), files: len(p.GoFiles), methods: map[string]int{}}
	parsed := make([]*ast.File, 0, len(p.GoFiles))
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		s.lines += files.File(file.Pos()).LineCount()
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: from}
	pkg, err := config.Check(p.ImportPath, files, parsed, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pkg.Scope().Names() {
		if named, ok := pkg.Scope().Lookup(name).Type().(*types.Named); ok && named.Obj().Pkg() == pkg && named.Obj().Name() == name {
			s.methods[name] = named.NumMethods()
		}
	}
	needs := map[string]map[string]bool{}
	for ident, used := range info.Uses {
		// The names of fields count too: who reads a field needs the file of its type.
		if used.Pkg() != pkg || !declared(used) {
			continue
		}
		here, there := files.Position(ident.Pos()).Filename, files.Position(used.Pos()).Filename
		if here != there {
			if needs[here] == nil {
				needs[here] = map[string]bool{}
			}
			needs[here][there] = true
		}
	}
	s.cycle = largestCycle(needs)
	return s
}

// declared returns whether used has a declaration that other files can use: not a local name.
func declared(used types.Object) bool {
	if v, ok := used.(*types.Var); ok && v.IsField() {
		return true
	}
	if f, ok := used.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return used.Parent() == used.Pkg().Scope()
}

// largestCycle returns the names of the largest set of files in which each needs each other one,
// directly or not, sorted. It is Tarjan's algorithm.
func largestCycle(needs map[string]map[string]bool) (largest []string) {
	var (
		stack   []string
		visited = map[string]int{}
		low     = map[string]int{}
		done    = map[string]bool{}
		visit   func(string)
	)
	visit = func(name string) {
		visited[name] = len(visited) + 1
		low[name] = visited[name]
		stack = append(stack, name)
		for other := range needs[name] {
			if visited[other] == 0 {
				visit(other)
				low[name] = min(low[name], low[other])
			} else if !done[other] {
				low[name] = min(low[name], visited[other])
			}
		}
		if low[name] != visited[name] {
			return
		}
		from := slices.Index(stack, name)
		cycle := slices.Clone(stack[from:])
		stack = stack[:from]
		for i, file := range cycle {
			done[file] = true
			cycle[i] = filepath.Base(file)
		}
		if slices.Sort(cycle); len(cycle) > len(largest) && len(cycle) > 1 {
			largest = cycle
		}
	}
	for name := range needs {
		if visited[name] == 0 {
			visit(name)
		}
	}
	return largest
}
