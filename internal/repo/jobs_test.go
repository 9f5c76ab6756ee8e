package repo

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// jobs say, for the modules with tests and for each build constraint of test files, in which
// folders such tests may be, which targets of the Makefile run them there, and how.
var jobs = map[string]struct{ folders, targets, how string }{
	"module":     {`^(\.|examples/\w+|bench|packaging/monitoring/schema|scripts/apidiff)$`, "race plain recipes test-deploy check", ""},
	"!race":      {`^(\.|cmd/.*|internal/.*)$`, "plain", "constrained.sh '!race' tests"},
	"browser":    {`^(cmd/chatguard|dashboard|internal/web|examples/cluster|examples/wschat)$`, "browser recipes", "-tags browser"},
	"proxy":      {`^packaging/proxy$`, "plain", "-tags proxy"},
	"packed":     {`^web/static$`, "check", "-tags packed"},
	"deploy":     {`^packaging(/monitoring)?$`, "test-deploy", "-tags deploy"},
	"clocksteps": {`^cmd/chatguard$`, "clock-steps test-shared", "-tags clocksteps"},
}

// TestJobs_RunAllTests checks that a target of the Makefile runs the tests of each file. A job that
// nobody needs is an error too.
func TestJobs_RunAllTests(t *testing.T) {
	unused := map[string]bool{}
	makefile := readPage(t, "Makefile")
	for kind, job := range jobs {
		unused[kind] = true
		for target := range strings.FieldsSeq(job.targets) {
			rule := regexp.MustCompile(`(?m)^` + target + `:.*(\n.+)*`).FindString(makefile)
			if rule == "" || !strings.Contains(rule, job.how) {
				t.Errorf("the Makefile's target %s has no %q:\n%s", target, job.how, rule)
			}
		}
	}
	for _, file := range testFiles(t) {
		for kind, folder := range map[string]string{"module": moduleOf(file), constraintOf(t, file): path.Dir(file)} {
			if job, ok := jobs[kind]; kind != "" && (!ok || !regexp.MustCompile(job.folders).MatchString(folder)) {
				t.Errorf("%s: no job runs tests of the kind %q in the folder %s; add them to the Makefile and to jobs", file, kind, folder)
			}
			delete(unused, kind)
		}
	}
	for kind := range unused {
		t.Errorf("there are no tests of the kind %q", kind)
	}
}

// TestJobs_ConcurrentLimits checks that the tests of internal/limits that start goroutines have the
// name by which the Makefile runs them with the race detector.
func TestJobs_ConcurrentLimits(t *testing.T) {
	if !strings.Contains(readPage(t, "Makefile"), "$(RACE) -run Concurrent -- ./internal/limits ") {
		t.Error("the Makefile doesn't run concurrent tests of internal/limits with the race detector")
	}
	starts, named := regexp.MustCompile(`\bgo func|\.Go\(`), 0
	for _, file := range testFiles(t) {
		if path.Dir(file) != "internal/limits" {
			continue
		}
		for _, function := range strings.Split(readPage(t, file), "\nfunc ")[1:] {
			name, _, _ := strings.Cut(function, "{")
			switch concurrent := strings.HasPrefix(name, "Test") && strings.Contains(name, "Concurrent"); {
			case concurrent:
				named++
			case starts.MatchString(function):
				t.Errorf("%s: %s starts goroutines; only a test with Concurrent in its name may", file, name)
			}
		}
	}
	if named == 0 {
		t.Error("no test of internal/limits has Concurrent in its name")
	}
}

// testFiles returns the paths of the test files of all modules.
func testFiles(t *testing.T) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || name == "testdata" || len(name) > 1 && name[0] == '.'):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// moduleOf returns the folder of the module that a file belongs to.
func moduleOf(file string) string {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(path.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return "."
}

// constraintOf returns the build constraint of a file without the conditions on the system, which
// the jobs fulfil.
func constraintOf(t *testing.T, file string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^//go:build (.*)$`).FindStringSubmatch(readPage(t, file))
	if found == nil {
		return ""
	}
	conditions := slices.DeleteFunc(strings.Split(found[1], " && "), func(condition string) bool {
		return slices.Contains([]string{"unix", "linux", "!windows"}, condition)
	})
	return strings.Join(conditions, " && ")
}
