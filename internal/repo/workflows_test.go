package repo

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWorkflows_PinActions checks that the workflows name each action by its commit, with the
// version as a comment: the owner of an action's repository can move its tags.
func TestWorkflows_PinActions(t *testing.T) {
	workflows, err := filepath.Glob(".github/workflows/*.yml")
	must(t, err)
	uses := regexp.MustCompile(`(?m)^[ -]*uses: (.*)$`)
	pinned := regexp.MustCompile(`^(\./\S+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	var found int
	for _, workflow := range workflows {
		for _, use := range uses.FindAllStringSubmatch(readPage(t, workflow), -1) {
			if found++; !pinned.MatchString(use[1]) {
				t.Errorf("%s uses %s: name the commit, and the version in a comment", workflow, use[1])
			}
		}
	}
	if found == 0 {
		t.Error("no workflow uses an action")
	}
}

// TestDependabot_UpdatesModules checks that each module of this repository gets updates.
func TestDependabot_UpdatesModules(t *testing.T) {
	gomod := regexp.MustCompile(`gomod\n\s+directories: \[(.*)\]`).FindStringSubmatch(readPage(t, ".github/dependabot.yml"))
	if gomod == nil {
		t.Fatal("dependabot.yml doesn't list the folders of Go modules")
	}
	folders := strings.Split(gomod[1], ", ")
	for _, file := range testFiles(t) {
		module := path.Join("/", moduleOf(file))
		if !slices.ContainsFunc(folders, func(folder string) bool {
			matches, err := path.Match(strings.Trim(folder, `"`), module)
			return err == nil && matches
		}) {
			t.Errorf("dependabot.yml doesn't list the module %s", module)
		}
	}
}
