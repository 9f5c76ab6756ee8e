// Command mutants shows whether the tests notice faults. It puts small faults into the product, one
// at a time, as mutants.txt describes them. A test must fail for each. Run it in the module's
// folder, after scripts/prepare.sh and make web/node_modules:
//
//	go run ./scripts/mutants                         # all, as make test-long does
//	go run ./scripts/mutants -only '^7 |/now/' -j 2  # one and those of a folder, two at a time
//
// For each mutant, it prints the place, what changes, and the first test that fails. If a mutant
// survives, no test checks that behaviour: write one. The command fails if a mutant survives,
// doesn't compile, or no longer fits its file.
//
// The cheapest tests run first, until one fails. For a Go file, these are its package's, then those
// of packages that may use it. For web/static, these are Node's, then the browser's. A failed Go
// test counts if it fails again alone, and passes without the mutant. The working tree never
// changes: Go files are replaced with -overlay, and the tests of web/static read a copy.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// limit is how long a run of tests may take, for example of all tests in the browser. A longer run
// counts as a failure.
const limit = 30 * time.Minute

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutants: ")
	only := flag.String("only", "", `a pattern of the mutants to test, in the form "number file"`)
	jobs := flag.Int("j", 1, "how many mutants to test side by side")
	flag.Parse()
	if err := testAll(*only, *jobs); err != nil {
		log.Fatal(err)
	}
}

// mutant is a change of one file that a test should notice.
type mutant struct {
	name     string // its number in the list, and file
	file     string // from the module's folder
	old, new string // old occurs once in the file
	first    string // a pattern of the tests that run first; may be empty
	survives string // why no test can notice it; empty for nearly all
}

func (m mutant) isPage() bool { return strings.HasPrefix(m.file, "web/static/") }

// parse reads a list of mutants.
func parse(list string) (mutants []mutant, err error) {
	for block := range strings.SplitSeq(list, "\n\n") {
		var m mutant
		for line := range strings.SplitSeq(strings.Trim(block, "\n"), "\n") {
			switch word, rest, _ := strings.Cut(line, " "); {
			case line == "" || word == "#":
			case m.file == "":
				m.file, m.name = line, fmt.Sprint(len(mutants)+1, " ", line)
			case word == "-":
				m.old += "\n" + rest
			case word == "+":
				m.new += "\n" + rest
			case word == "first:":
				m.first = rest
			case word == "survives:":
				m.survives = rest
			default:
				return nil, fmt.Errorf("%s: begin the line %q with -, +, first:, survives: or #", m.name, line)
			}
		}
		if m.old, m.new = strings.TrimPrefix(m.old, "\n"), strings.TrimPrefix(m.new, "\n"); m.old != m.new {
			mutants = append(mutants, m)
		} else if m.file != "" { // otherwise the paragraph has only comments
			return nil, fmt.Errorf("%s: name a text to replace, and a different one", m.name)
		}
	}
	return mutants, nil
}

// testAll tests the mutants whose name matches a pattern, and prints a line for each. It returns an
// error if one isn't killed.
func testAll(only string, jobs int) error {
	chosen, err := regexp.Compile(only)
	list, readErr := os.ReadFile("scripts/mutants/mutants.txt")
	mutants, parseErr := parse(string(list))
	temp, tempErr := os.MkdirTemp("", "mutants")
	if err := errors.Join(err, readErr, parseErr, tempErr); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !chosen.MatchString(m.name) })
	if slices.ContainsFunc(mutants, mutant.isPage) {
		if out, err := run("web", "npm", "test", "--silent"); err != nil {
			return fmt.Errorf("a test of Node fails without a mutant: %s", failure(out))
		}
	}
	var mu sync.Mutex // guards bad and the output
	var bad []string
	var working errgroup.Group
	working.SetLimit(max(jobs, 1))
	for i, m := range mutants {
		working.Go(func() error {
			start, place := time.Now(), filepath.Join(temp, fmt.Sprint(i))
			line, killer, level, err := m.test(place)
			verdict := fmt.Sprintf("killed by %s in %.0f s (%s)", killer, time.Since(start).Seconds(), level)
			if err = errors.Join(err, os.RemoveAll(place)); err != nil {
				verdict = "ERROR: " + err.Error()
			} else if killer == "" {
				verdict = strings.TrimSuffix("SURVIVED: "+m.survives, ": ")
			}
			mu.Lock()
			defer mu.Unlock()
			fmt.Printf("%d of %d: %s:%d: %.70q → %.70q: %s\n", i+1, len(mutants), m.name, line, m.old, m.new, verdict)
			if err != nil || killer+m.survives == "" {
				bad = append(bad, m.name)
			}
			return nil
		})
	}
	working.Wait()
	fmt.Printf("%d of %d mutants were killed, or survive for a reason\n", len(mutants)-len(bad), len(mutants))
	if len(bad) > 0 {
		return fmt.Errorf("not killed: %s", strings.Join(bad, ", "))
	}
	return nil
}

// test runs tests with the mutant until one fails, the killer. level says which tests these were.
func (m mutant) test(temp string) (line int, killer, level string, err error) {
	data, err := os.ReadFile(m.file)
	before, after, _ := strings.Cut(string(data), m.old)
	if n := strings.Count(string(data), m.old); err != nil || n != 1 {
		return 0, "", "", errors.Join(err, fmt.Errorf("the text to replace occurs %d times, not once", n))
	}
	line = 1 + strings.Count(before, "\n")
	if content := before + m.new + after; m.isPage() {
		killer, level, err = m.testPage(temp, content)
	} else {
		for _, level = range slices.Compact([]string{path.Dir(m.file), "internal/web", "internal/app", "cmd/chatguard"}) {
			if killer, err = m.kill(temp, level, "", m.file, content, "."); killer != "" || err != nil {
				break
			}
		}
	}
	return line, killer, level, err
}

// copyWeb copies the folder web to $0, with links to the installed modules and to all folders that
// are beside it.
const copyWeb = `mkdir -p "$0/web"
for name in *; do [ $name = web ] || ln -s "$PWD/$name" "$0/$name"; done
for name in web/*; do [ $name = web/node_modules ] || cp -R $name "$0/$name"; done
[ ! -d web/node_modules ] || ln -s "$PWD/web/node_modules" "$0/web"`

// folderFiles replaces web/static/plain.go, so that all mutants of web/static share a build.
const folderFiles = "package static\n\nimport \"os\"\n\nvar Files = os.DirFS(os.Getenv(\"MUTANT\"))\n"

// browserTests prints a pattern of the tests of internal/web that open a browser window.
const browserTests = `grep -l '^//go:build browser' internal/web/*_test.go | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/^\1$/p' | paste -sd '|' -`

func (m mutant) testPage(temp, content string) (killer, level string, err error) {
	out, err := run(".", "sh", "-ec", copyWeb, temp)
	err = errors.Join(err, os.WriteFile(filepath.Join(temp, m.file), []byte(content), 0o600))
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", out, err)
	}
	if out, err := run(temp, "node", "--check", m.file); err != nil {
		return "", "", fmt.Errorf("it doesn't compile: %s", out)
	}
	if out, err := run(filepath.Join(temp, "web"), "npm", "test", "--silent"); err != nil {
		return failure(out), "node", nil
	}
	all, err := run(".", "sh", "-c", browserTests)
	if err == nil {
		killer, err = m.kill(temp, "internal/web", "browser", "web/static/plain.go", folderFiles, strings.TrimSpace(all))
	}
	return killer, "browser", err
}

// kill builds the tests of a folder with other content of a file. It runs those that match m.first,
// then those that match a pattern. It returns the first that fails, if it also fails alone, and
// passes without the mutant.
func (m mutant) kill(temp, folder, tags, file, content, pattern string) (killer string, err error) {
	binary, overlay, changed := filepath.Join(temp, "tests"), filepath.Join(temp, "overlay.json"), filepath.Join(temp, "changed")
	replaced, err := filepath.Abs(file)
	err = errors.Join(err, os.MkdirAll(temp, 0o700), os.WriteFile(changed, []byte(content), 0o600),
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, replaced, changed), 0o600))
	out, buildErr := run(".", "go", "test", "-overlay", overlay, "-c", "-tags", tags, "-o", binary, "./"+folder)
	if err := errors.Join(err, buildErr); err != nil {
		return "", fmt.Errorf("it doesn't compile: %w: %s", err, out)
	}
	runTests := func(pattern, skip string) (out string, err error) {
		return run(folder, "env", "MUTANT="+filepath.Join(temp, "web/static"), "GOFLAGS=-trimpath -overlay="+overlay,
			binary, "-test.failfast", "-test.parallel", "4", "-test.timeout", limit.String(), "-test.run", pattern, "-test.skip", skip)
	}
	skip := "^$"
	for _, pattern := range []string{cmp.Or(m.first, "^$"), pattern} {
		for out, err := runTests(pattern, skip); err != nil; out, err = runTests(pattern, skip) {
			killer, alone := failure(out), "^"+failure(out)+"$"
			if !strings.HasPrefix(killer, "Test") {
				return killer, nil // a panic, as also after the time limit
			}
			_, err := runTests(alone, "^$")
			_, errWithout := run(".", "go", "test", "-vet=off", "-tags", tags, "-run", alone, "./"+folder)
			if err != nil && errWithout == nil {
				return killer, nil
			}
			skip += "|" + alone
		}
	}
	return "", nil
}

// run runs a command and returns its output. Tests that usually run only some of their cases run
// all of them.
func run(folder string, command ...string) (out string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir, c.Env, c.WaitDelay = folder, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "TEST_TURN=all"), 10*time.Second
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	data, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return "panic: test timed out", err
	}
	return string(data), err
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (Test\w*)|^✖ (.+) \(\S+\)$|^panic: (.+)`)

// failure returns the name of the first test that failed, or the end of the output if there is
// none.
func failure(out string) string {
	if name := failed.FindStringSubmatch(out); name != nil {
		return name[1] + name[2] + name[3]
	}
	return out[max(0, len(out)-200):]
}
