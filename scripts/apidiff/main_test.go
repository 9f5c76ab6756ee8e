package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	library = "package guard\n\nfunc Kept() {}\n\nfunc Other(int) {}\n"
	without = "package guard\n\nfunc Kept() {}\n"
	with    = library + "\nfunc Added() {}\n"

	fixed    = "# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- It.\n"
	breaking = "# Changelog\n\n## [Unreleased]\n\n### Breaking\n\n- `Other` is gone.\n"
)

func TestCompare_ByChange(t *testing.T) {
	const removed = "example.org/guard: Other: removed"
	for name, test := range map[string]struct {
		tag, library, sub, news, module string
		want, refused                   string // part of the output or of the error
	}{
		"no release":                  {library: without, news: fixed, want: "no tag of a release"},
		"a candidate only":            {tag: "v0.1.0-rc.1", library: without, news: fixed, want: "no tag of a release"},
		"nothing":                     {tag: "v0.1.0", library: library, news: fixed},
		"an added name":               {tag: "v0.1.0", library: with, news: fixed},
		"a removed name":              {tag: "v0.1.0", library: without, news: fixed, refused: removed},
		"another parameter":           {tag: "v0.1.0", library: strings.Replace(library, "int", "string", 1), news: fixed, refused: "from func(int) to func(string)"},
		"a removed package":           {tag: "v0.1.0", library: library, sub: "none", news: fixed, refused: "example.org/guard/sub: package removed"},
		"code that doesn't compile":   {tag: "v0.1.0", library: library + "func {", news: breaking, refused: "syntax error"},
		"announced":                   {tag: "v0.1.0", library: without, news: breaking, want: removed},
		"the next minor version":      {tag: "v0.1.0", library: without, news: strings.Replace(breaking, "Unreleased", "0.2.0", 1), want: removed},
		"the first stable version":    {tag: "v0.1.0", library: without, news: strings.Replace(breaking, "Unreleased", "1.0.0", 1), want: removed},
		"a patch":                     {tag: "v0.1.0", library: without, news: strings.Replace(breaking, "Unreleased", "0.1.1", 1), refused: "can't be 0.1.1"},
		"announced since 1.0":         {tag: "v1.0.0", library: without, news: breaking, refused: "new major version"},
		"another major version":       {tag: "v1.0.0", library: without, news: breaking, module: "example.org/guard/v2"},
		"a changelog without the tag": {tag: "v0.3.0", library: without, news: breaking, refused: "no section ## [0.3.0]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			if test.tag != "" {
				r.git("tag", test.tag)
			}
			r.write("guard.go", test.library)
			r.write("CHANGELOG.md", test.news+"\n## [0.1.0] - 2026-12-01\n\n### Breaking\n\n## [1.0.0]\n")
			if test.sub != "" {
				r.must(os.RemoveAll(filepath.Join(r.folder, "sub")))
			}
			if test.module != "" {
				r.write("go.mod", "module "+test.module+"\n\ngo 1.26.0\n")
			}
			r.commit()
			r.expect(test.want, test.refused)
		})
	}
}

// The newest release is compared, also in the commit of the next one, which its tag already names.
func TestCompare_NewestRelease(t *testing.T) {
	r := newRepository(t)
	r.git("tag", "v0.9.0")
	r.write("guard.go", with)
	r.commit()
	r.git("tag", "v0.10.0")
	r.write("guard.go", library)
	r.commit()
	r.expect("", "example.org/guard: Added: removed")
	r.git("tag", "v0.10.1")
	r.expect("", "example.org/guard: Added: removed")
}

// An interface that only package chatguard implements may get more methods. Others may not.
func TestCompare_AddedMethod(t *testing.T) {
	for name, refused := range map[string]string{"Guard": "", "Store": "example.org/guard/state: Store.Do: added"} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.write("internal/repo/testdata/api.txt", "state: type "+name+" interface\n")
			r.write("state/state.go", "package state\n\ntype "+name+" interface{ Kept() }\n")
			r.write("CHANGELOG.md", fixed+"\n## [0.1.0]\n")
			r.commit()
			r.git("tag", "v0.1.0")
			r.write("state/state.go", "package state\n\ntype "+name+" interface{ Kept(); Do() }\n")
			r.commit()
			r.expect("", refused)
		})
	}
}

func TestCompare_ShallowClone(t *testing.T) {
	r := newRepository(t)
	r.git("tag", "v0.1.0")
	r.write("guard.go", without)
	r.commit()
	clone := &repository{T: t, folder: t.TempDir()}
	clone.git("clone", "--quiet", "--depth=1", "--no-tags", "file://"+r.folder, ".")
	clone.expect("a shallow clone has none", "")
}

// repository is a Git repository with a module that has a package in its folder and another one.
type repository struct {
	*testing.T
	folder string
}

func newRepository(t *testing.T) *repository {
	r := &repository{T: t, folder: t.TempDir()}
	r.git("init", "--quiet")
	r.write("go.mod", "module example.org/guard\n\ngo 1.26.0\n")
	r.write("internal/repo/testdata/api.txt", "guard: func Kept()\nguard: func Other(int)\nsub: func Do()\n")
	r.write("guard.go", library)
	r.write("sub/sub.go", "package sub\n\nfunc Do() {}\n")
	r.commit()
	return r
}

func (r *repository) write(name, text string) {
	r.Helper()
	file := filepath.Join(r.folder, name)
	r.must(os.MkdirAll(filepath.Dir(file), 0o700))
	r.must(os.WriteFile(file, []byte(text), 0o600))
}

func (r *repository) commit() {
	r.Helper()
	r.git("add", "--all")
	r.git("-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--allow-empty", "--message=a change")
}

func (r *repository) git(args ...string) {
	r.Helper()
	command := exec.Command("git", args...)
	command.Dir = r.folder
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := command.CombinedOutput(); err != nil {
		r.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

// expect compares the module, and checks that the output and the error contain these texts; an
// empty text stands for none.
func (r *repository) expect(want, refused string) {
	r.Helper()
	var out strings.Builder
	text := ""
	if err := compare(&out, r.folder); err != nil {
		text = err.Error()
	}
	if !strings.Contains(out.String(), want) || want == "" && out.Len() > 0 {
		r.Errorf("the output is %q, want %q", &out, want)
	}
	if !strings.Contains(text, refused) || refused == "" && text != "" {
		r.Errorf("the error is %q, want %q", text, refused)
	}
}

func (r *repository) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}
