package repo

import (
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// TestExamples_ShowEveryName checks that the examples of the public packages use every exported
// name, with its methods and fields, at least once. So each name has an example that shows what it
// is for, or appears in one.
func TestExamples_ShowEveryName(t *testing.T) {
	c := newChecker(t)
	missing := map[types.Object]string{}
	for _, dir := range public {
		pkg, err := c.importer.Import(filepath.ToSlash(filepath.Join("github.com/chatguard/chatguard", dir)))
		if err != nil {
			t.Fatal(err)
		}
		addNames(missing, pkg)
	}
	for _, dir := range public {
		for _, used := range c.uses(t, exampleFiles(t, c, dir), func(types.Error) bool { return true }) {
			delete(missing, used)
			delete(missing, typeOf(used))
		}
	}
	for _, name := range slices.Sorted(maps.Values(missing)) {
		t.Errorf("no example uses %s", name)
	}
}

// typeOf returns the name of the type of what an example uses, or of its first result. So a type is
// shown where a value of it is.
func typeOf(used types.Object) types.Object {
	of := used.Type()
	if function, ok := of.(*types.Signature); ok && function.Results().Len() > 0 {
		of = function.Results().At(0).Type()
	}
	switch t := of.(type) {
	case *types.Pointer:
		of = t.Elem()
	case *types.Slice:
		of = t.Elem()
	}
	if named, ok := of.(*types.Named); ok {
		return named.Obj()
	}
	return nil
}

// exampleFiles returns the examples of a package.
func exampleFiles(t *testing.T, c *checker, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "example_*test.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples in %s: %v", dir, err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// implicit are the methods that other packages call: fmt, errors, log/slog, encoding/json,
// net/http.
var implicit = []string{
	"String", "Error", "LogValue", "MarshalText", "UnmarshalText", "MarshalJSON", "UnmarshalJSON", "ServeHTTP",
}

// addNames adds the exported names of a package, with their methods and fields.
func addNames(names map[types.Object]string, pkg *types.Package) {
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		full := pkg.Name() + "." + name
		names[object] = full
		named, ok := object.Type().(*types.Named)
		if _, isType := object.(*types.TypeName); !ok || !isType {
			continue
		}
		for method := range named.Methods() {
			if method.Exported() && !slices.Contains(implicit, method.Name()) {
				names[method] = full + "." + method.Name()
			}
		}
		if of, ok := named.Underlying().(*types.Struct); ok {
			for field := range of.Fields() {
				if field.Exported() {
					names[field] = full + "." + field.Name()
				}
			}
		}
	}
}
