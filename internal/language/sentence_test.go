package language

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// translated are the functions whose sentences are translated, with the index of the argument.
var translated = map[string]int{"problem.New": 1, "New": 1, "q.Fail": 0, "errUnavailable": 0, "errUnreadable": 0, "errFilter": 0, "errRecorded": 0, "language.Sentence": 0}

// english returns the sentences in the code of the web server.
func english(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir("../web", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if i, ok := translated[nameOf(call.Fun)]; ok && i < len(call.Args) {
				if text, ok := constant(call.Args[i]); ok && regexp.MustCompile(`\pL{3}`).MatchString(text) {
					found[text] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil || len(found) < 50 {
		t.Fatalf("%d sentences, %v", len(found), err)
	}
	return slices.Sorted(maps.Keys(found))
}

func nameOf(function ast.Expr) string {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if of, ok := f.X.(*ast.Ident); ok {
			return of.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// constant returns the value of a literal, or of literals that are added.
func constant(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		x, ok1 := constant(e.X)
		y, ok2 := constant(e.Y)
		return x + y, ok1 && ok2
	}
	return "", false
}

// Each language has each sentence of the server, with the same arguments.
func TestSprintf_Complete(t *testing.T) {
	all := english(t)
	for _, tag := range All[1:] {
		own := sentences()[tag]
		for _, sentence := range all {
			switch text := own[sentence]; {
			case text == "":
				t.Errorf("%s lacks %q", tag, sentence)
			case !slices.Equal(verbsOf(text), verbsOf(sentence)):
				t.Errorf("%s: %q has other arguments than %q", tag, text, sentence)
			}
		}
		for sentence := range own {
			if !slices.Contains(all, sentence) {
				t.Errorf("%s: the server no longer says %q", tag, sentence)
			}
		}
	}
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?([a-z])`)

// verbsOf returns the verbs of a format with the indexes of their arguments, sorted.
func verbsOf(format string) (list []string) {
	for i, found := range verb.FindAllStringSubmatch(format, -1) {
		index := found[1]
		if index == "" {
			index = strconv.Itoa(i + 1)
		}
		list = append(list, index+found[2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func TestSprintf(t *testing.T) {
	for _, tag := range []string{"en", "xx"} {
		if got := Sprintf(tag, "%s: %d", Sentence("Nothing"), 7); got != "Nothing: 7" {
			t.Errorf("%s: %q", tag, got)
		}
	}
	for _, tag := range All[1:] {
		const sentence = "There is no channel with the ID %s here."
		if got := Sprintf(tag, sentence, "7"); got == fmt.Sprintf(sentence, "7") || !strings.Contains(got, "7") {
			t.Errorf("%s: %q", tag, got)
		}
	}
}
