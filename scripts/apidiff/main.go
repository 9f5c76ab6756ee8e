// Command apidiff compares the exported API of chatguard's module with that of its newest release:
//
//	apidiff FOLDER
//
// FOLDER has the module. The packages are those in the release's list of promised names, api.txt. A
// change that breaks importers is an error. Before 1.0, it is none if CHANGELOG.md has a section
// Breaking above that of the release, and if the next version, once it is there, has another minor
// number. From 1.0 on, such a change needs a new major version, and so another module path, which
// has no release to compare with.
//
// The newest release is the highest tag, such as v1.2.3, of a commit before HEAD. A clone without
// tags has none.
package main

import (
	"errors"
	"fmt"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "apidiff needs one argument: the folder of the module")
		os.Exit(2)
	}
	if err := compare(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compare compares the module in a folder with its newest release.
func compare(out io.Writer, now string) error {
	tag, err := newestRelease(now)
	if err != nil {
		return err
	}
	if tag == "" {
		fmt.Fprintln(out, "apidiff: no tag of a release before this commit (a shallow clone has none)")
		return nil
	}
	before, err := os.MkdirTemp("", "apidiff")
	if err != nil {
		return err
	}
	defer os.RemoveAll(before)
	if err := extract(now, tag, before); err != nil {
		return err
	}
	changes, err := incompatible(before, now)
	if err != nil || len(changes) == 0 {
		return err
	}
	list := fmt.Sprintf("Changes since %s that break importers:\n%s\n", tag, strings.Join(changes, "\n"))
	if err := permitted(now, tag); err != nil {
		return fmt.Errorf("%s%w", list, err)
	}
	fmt.Fprint(out, list)
	return nil
}

// newestRelease returns the highest tag of a release before HEAD; empty if there is none. A tag
// such as v1.0.0-rc.1 is no release.
func newestRelease(folder string) (newest string, err error) {
	tags, err := git(folder, "tag", "--merged=HEAD", "--no-contains=HEAD", "--list", "v*")
	for tag := range strings.FieldsSeq(tags) {
		if semver.Canonical(tag) == tag && semver.Prerelease(tag) == "" && semver.Compare(tag, newest) > 0 {
			newest = tag
		}
	}
	return newest, err
}

// extract writes the files of a tag into another folder.
func extract(folder, tag, into string) error {
	archive := filepath.Join(into, "release.tar")
	if _, err := git(folder, "archive", "--format=tar", "--output="+archive, tag); err != nil {
		return err
	}
	if out, err := exec.Command("tar", "-xf", archive, "-C", into).CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w\n%s", err, out)
	}
	return nil
}

func git(folder string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", folder}, args...)...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("git %s: %w\n%s", args[0], err, failed.Stderr)
	}
	return string(out), err
}

// incompatible returns a line for each change from one folder to another that breaks importers.
func incompatible(before, now string) (lines []string, err error) {
	path, err := moduleIn(before)
	if err != nil {
		return nil, err
	}
	if another, err := moduleIn(now); err != nil || another != path {
		return nil, err
	}
	names, err := promised(before, path)
	if err != nil {
		return nil, err
	}
	old, err := load(before, path, names)
	if err != nil {
		return nil, err
	}
	current, err := load(now, path, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if current[name] == nil {
			lines = append(lines, name+": package removed")
			continue
		}
		for _, change := range apidiff.Changes(old[name], current[name]).Changes {
			if !change.Compatible && !addsOurs(strings.TrimPrefix(name, path+"/"), change.Message) {
				lines = append(lines, name+": "+change.Message)
			}
		}
	}
	return lines, nil
}

// addsOurs reports whether a change in a package adds a method to an interface that only package
// chatguard implements.
func addsOurs(name, message string) bool {
	method, added := strings.CutSuffix(message, ": added")
	of, _, _ := strings.Cut(method, ".")
	return added && slices.Contains([]string{"state.Guard", "state.Batch", "shared.Guard"}, name+"."+of)
}

// moduleIn returns the path of the module in a folder.
func moduleIn(folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	return modfile.ModulePath(text), err
}

// promised returns the import paths of the packages whose names a folder's api.txt lists. The
// module's own package has the last part of its path as its name; the others are folders in it.
func promised(folder, path string) (names []string, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "internal", "repo", "testdata", "api.txt"))
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, ":")
		if prefix, _, _ := module.SplitPathVersion(path); strings.HasSuffix(prefix, "/"+name) {
			names = append(names, path)
		} else {
			names = append(names, path+"/"+name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// load returns those of the packages of a module that are in its folder.
func load(folder, path string, names []string) (map[string]*types.Package, error) {
	var patterns []string
	for _, name := range names {
		if inside := "." + strings.TrimPrefix(name, path); hasGo(filepath.Join(folder, inside)) {
			patterns = append(patterns, inside)
		}
	}
	all, err := packages.Load(&packages.Config{Dir: folder, Mode: packages.NeedName | packages.NeedTypes}, patterns...)
	found := map[string]*types.Package{}
	for _, p := range all {
		for _, mistake := range p.Errors {
			err = errors.Join(err, mistake)
		}
		found[p.PkgPath] = p.Types
	}
	return found, err
}

// hasGo reports whether a folder has Go files.
func hasGo(folder string) bool {
	files, _ := filepath.Glob(filepath.Join(folder, "*.go")) // the pattern isn't wrong
	return len(files) > 0
}

// permitted returns why changes since a release must not break importers; nil if they may.
func permitted(folder, tag string) error {
	if semver.Major(tag) != "v0" {
		return errors.New("undo them: since 1.0, they need a new major version, with which the module path ends")
	}
	text, err := os.ReadFile(filepath.Join(folder, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	news, _, found := strings.Cut(string(text), "\n## ["+tag[1:]+"]")
	switch {
	case !found:
		return fmt.Errorf("CHANGELOG.md has no section ## [%s]", tag[1:])
	case !strings.Contains(news, "\n### Breaking\n"):
		return errors.New("undo them, or list them in CHANGELOG.md, below Unreleased in a section ### Breaking")
	}
	for _, section := range strings.Split(news, "\n## [")[1:] {
		version, _, _ := strings.Cut(section, "]")
		if semver.IsValid("v"+version) && semver.MajorMinor("v"+version) == semver.MajorMinor(tag) {
			return fmt.Errorf("so the version can't be %s: it needs another minor number than %s", version, tag[1:])
		}
	}
	return nil
}
