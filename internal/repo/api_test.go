package repo

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateAPI = flag.Bool("update-api", false, "rewrite "+apiFile)

// apiFile lists the names, fields and methods that a program may rely on.
const apiFile = "internal/repo/testdata/api.txt"

// public lists the packages whose exported names are covered by the compatibility promise: see
// docs/embedding.md.
var public = []string{".", "limitinfo", "httpguard", "checkclient", "chatguardtest", "state", "shared", "sqlitestore", "redisstore", "dashboard", "connguard"}

// TestAPI checks the compatibility promise: the names in apiFile must not change. Run with
// -update-api to add new names.
func TestAPI(t *testing.T) {
	var now []string
	for _, dir := range public {
		now = append(now, exportedLines(t, dir)...)
	}
	if *updateAPI {
		must(t, os.WriteFile(apiFile, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	promised := strings.Split(strings.TrimSuffix(readPage(t, apiFile), "\n"), "\n")
	for _, line := range promised {
		if !slices.Contains(now, line) {
			t.Errorf("promised, and gone or changed: %s", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(promised, line) {
			t.Errorf("new; if it is meant to stay, run go test ./internal/repo -run TestAPI -update-api: %s", line)
		}
	}
}

// TestAPI_DocumentationMatches checks that every exported name on the pages that show code is in
// apiFile.
func TestAPI_DocumentationMatches(t *testing.T) {
	api := readPage(t, apiFile)
	qualified := regexp.MustCompile(`\b(chatguard|limitinfo|httpguard|checkclient|chatguardtest|state|shared|sqlitestore|dashboard|connguard)\.([A-Z]\w*)`)
	for _, page := range pages {
		found := qualified.FindAllStringSubmatch(readPage(t, page), -1)
		if len(found) == 0 {
			t.Errorf("%s shows no code", page)
		}
		for _, name := range found {
			known := fmt.Sprintf(`(?m)^%s: \w+ (\(\*?\w+\) )?%s\b`, name[1], name[2])
			if !regexp.MustCompile(known).MatchString(api) {
				t.Errorf("%s names %s, which there isn't", page, name[0])
			}
		}
	}
}

// TestAPI_NoInternalTypes checks that a program outside this module can name every type in the API.
func TestAPI_NoInternalTypes(t *testing.T) {
	api := readPage(t, apiFile)
	folders, err := filepath.Glob("internal/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no internal packages: %v", err)
	}
	for _, folder := range folders {
		typed := regexp.MustCompile(`(?m)^\w+: (func|type) .*\b` + filepath.Base(folder) + `\.[A-Z].*`)
		for _, line := range typed.FindAllString(api, -1) {
			t.Errorf("%s has a type of %s", line, folder)
		}
	}
}

// exportedLines returns one line for each exported name, field and method of a package.
func exportedLines(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no package in %s: %v", dir, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.FileExports(file)
		for _, decl := range file.Decls {
			for _, line := range declLines(decl) {
				lines = append(lines, file.Name.Name+": "+line)
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines) // files for different systems repeat names
}

func declLines(decl ast.Decl) (lines []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		d.Type.Params, d.Type.Results = dropNames(d.Type.Params), dropNames(d.Type.Results)
		signature := d.Name.Name + strings.TrimPrefix(types.ExprString(d.Type), "func")
		if d.Recv == nil {
			return []string{"func " + signature}
		}
		if of := types.ExprString(d.Recv.List[0].Type); ast.IsExported(strings.TrimPrefix(of, "*")) {
			return []string{fmt.Sprintf("func (%s) %s", of, signature)}
		}
	case *ast.GenDecl:
		for place, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				lines = append(lines, typeLines(s)...)
			case *ast.ValueSpec:
				lines = append(lines, valueLines(d.Tok, s, place)...)
			}
		}
	}
	return lines
}

// dropNames keeps only the types of parameters. Their names are not part of the API promise.
func dropNames(list *ast.FieldList) *ast.FieldList {
	if list == nil {
		return nil
	}
	var bare ast.FieldList
	for _, field := range list.List {
		for range max(len(field.Names), 1) {
			bare.List = append(bare.List, &ast.Field{Type: field.Type})
		}
	}
	return &bare
}

func typeLines(s *ast.TypeSpec) (lines []string) {
	name := "type " + s.Name.Name
	switch {
	case s.Assign.IsValid():
		return []string{name + " = " + types.ExprString(s.Type)}
	case fieldsOf(s.Type) == nil:
		return []string{name + " " + types.ExprString(s.Type)}
	}
	kind, _, _ := strings.Cut(types.ExprString(s.Type), "{")
	lines = []string{name + " " + kind}
	for _, field := range fieldsOf(s.Type).List {
		of := types.ExprString(field.Type)
		if field.Tag != nil {
			of += " " + field.Tag.Value
		}
		for _, n := range field.Names {
			lines = append(lines, name+", "+n.Name+" "+of)
		}
		if field.Names == nil {
			lines = append(lines, name+", "+of)
		}
	}
	return lines
}

func fieldsOf(e ast.Expr) *ast.FieldList {
	switch of := e.(type) {
	case *ast.StructType:
		return of.Fields
	case *ast.InterfaceType:
		return of.Methods
	}
	return nil
}

// valueLines leaves out the values of variables, because an error's text is not part of the API
// promise. A constant without a value of its own is identified by its position.
func valueLines(kind token.Token, s *ast.ValueSpec, place int) (lines []string) {
	for i, n := range s.Names {
		line := kind.String() + " " + n.Name
		if s.Type != nil {
			line += " " + types.ExprString(s.Type)
		}
		if kind == token.CONST && i < len(s.Values) {
			line += " = " + types.ExprString(s.Values[i])
		} else if kind == token.CONST {
			line += fmt.Sprintf(" = the one before, at %d", place)
		}
		lines = append(lines, line)
	}
	return lines
}
