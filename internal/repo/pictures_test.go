package repo

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPictures_ShowThisVersion checks that each picture of the documentation is shown on a page, and
// that the dashboard's navigation in it is the present one.
func TestPictures_ShowThisVersion(t *testing.T) {
	want := navigation(t)
	shown := map[string]bool{}
	link := regexp.MustCompile(`!\[[^\]]*\]\(([^)\s]+\.png)\)`)
	for _, page := range allPages(t) {
		for _, found := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			shown[filepath.Join(filepath.Dir(page), found[1])] = true
		}
	}
	pictures, err := filepath.Glob("docs/*.png")
	must(t, err)
	navigations := 0
	for _, picture := range pictures {
		if !shown[picture] {
			t.Errorf("no page shows %s: delete it, or remove it from the pictures that `make screenshots` takes", picture)
		}
		data, err := os.ReadFile(picture)
		must(t, err)
		got, ok := textOf(data, "Navigation")
		if !ok {
			t.Errorf("%s is not from `make screenshots`", picture)
		} else if got != "" && got != want {
			t.Errorf("%s shows the navigation %q, and the page has %q: run `make screenshots`", picture, got, want)
		} else if got != "" {
			navigations++
		}
	}
	if navigations == 0 {
		t.Error("no picture shows the dashboard's navigation")
	}
}

// navigation returns the words of the dashboard's navigation for an owner, separated by commas.
func navigation(t *testing.T) string {
	t.Helper()
	texts := map[string]string{}
	must(t, json.Unmarshal([]byte(readPage(t, "web/static/text/en/shell.json")), &texts))
	var names []string
	for _, found := range regexp.MustCompile(`"shell\.(page-[a-z]+)"`).FindAllStringSubmatch(readPage(t, "web/static/app/core/route.js"), -1) {
		names = append(names, texts[found[1]])
	}
	return strings.Join(append(names, texts["page-lab"]), ",")
}

// textOf returns the text with a keyword in a PNG file.
func textOf(png []byte, keyword string) (text string, ok bool) {
	start := bytes.Index(png, []byte("tEXt"+keyword+"\x00"))
	if start < 4 {
		return "", false
	}
	length := binary.BigEndian.Uint32(png[start-4:])
	return string(png[start+len("tEXt"+keyword+"\x00") : start+len("tEXt")+int(length)]), true
}
