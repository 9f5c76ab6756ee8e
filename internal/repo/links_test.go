package repo

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPages_LinksLead checks that each link from a page to a file or a heading of this repository
// leads there.
func TestPages_LinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range allPages(t) {
		for _, found := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(found[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", page, found[1], err)
			} else if heading != "" && !headings(readPage(t, target))[heading] {
				t.Errorf("%s: link to %s, and %s has no such heading", page, found[1], target)
			}
		}
	}
}

// allPages returns the pages of this repository.
func allPages(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages match %s: %v", pattern, err)
		}
		all = append(all, found...)
	}
	return all
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	return string(text)
}

// headings returns the anchors of a page's headings, as GitHub makes them.
func headings(page string) map[string]bool {
	anchors := map[string]bool{}
	left := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		anchors[strings.ReplaceAll(left.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	return anchors
}
