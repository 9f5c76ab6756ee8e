package repo

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPages_NameTests checks that each test and benchmark that a page names exists. A name may be
// the beginning of several, as in `go test -run`.
func TestPages_NameTests(t *testing.T) {
	var functions []string
	function := regexp.MustCompile(`(?m)^func ((Test|Benchmark|Fuzz)\w+)\(`)
	for _, file := range testFiles(t) {
		for _, found := range function.FindAllStringSubmatch(readPage(t, file), -1) {
			functions = append(functions, found[1])
		}
	}
	named := regexp.MustCompile(`\b(Test|Benchmark|Fuzz)[A-Z]\w{2,}`)
	for _, page := range allPages(t) {
		for _, name := range named.FindAllString(readPage(t, page), -1) {
			if !slices.ContainsFunc(functions, func(f string) bool { return strings.HasPrefix(f, name) }) {
				t.Errorf("%s names %s, which doesn't exist", page, name)
			}
		}
	}
}

// TestPages_NameFiles checks that each file and folder of this repository that a page names exists.
func TestPages_NameFiles(t *testing.T) {
	named := regexp.MustCompile("`((?:\\.github|bench|cmd|docs|examples|internal|packaging|scripts|web)/[\\w./*-]+)`")
	for _, page := range allPages(t) {
		for _, found := range named.FindAllStringSubmatch(readPage(t, page), -1) {
			if files, err := filepath.Glob(filepath.FromSlash(found[1])); err != nil || len(files) == 0 {
				t.Errorf("%s names %s, which doesn't exist", page, found[1])
			}
		}
	}
}
