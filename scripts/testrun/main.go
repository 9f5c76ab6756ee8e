// Command testrun runs `go test` so that a red run means a fault of the product.
//
//	testrun [-later FILE] FLAG... -- PACKAGE...
//	testrun -again FILE
//	testrun -rates N -within DURATION -- PACKAGE...
//
// It prints a line for each package, the output of the tests that failed, whole and together, and
// the processor time. A test that failed runs once more, alone. If it passes then, the run goes on,
// and ends with a list of the flaky tests. If it fails again, the run fails. If a package ended
// before all its tests had run, all of them run again. A data race is never the machine's fault. It
// fails the run, as does a package that does not compile. Neither runs again.
//
// The race detector of Go 1.26 sometimes fails itself in tests that use testing/synctest
// (https://go.dev/issue/78156), and ends the package with "ThreadSanitizer: CHECK failed". That is
// no test's fault: the package runs again until its tests have run, five times at most.
//
// With -later, failed tests are written to FILE instead, and testrun -again FILE runs them: after
// all other jobs, when nothing else uses the machine.
//
// With -rates, it looks for tests that depend on the machine: see rates.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "-again":
		err = runAgain(args[1])
	case len(args) > 2 && args[0] == "-later":
		err = runFirst(args[2:], args[1])
	case len(args) > 5 && args[0] == "-rates" && args[2] == "-within" && args[4] == "--":
		err = rates(args[1], args[3], args[5:])
	default:
		err = runFirst(args, "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
}

// failure is a test that failed, or a package that ended before all its tests had run, or that
// failed without a test.
type failure struct {
	Folder  string   // where go test ran
	Cgo     string   // CGO_ENABLED
	Flags   []string // of go test
	Package string
	Test    string // empty for the whole package
	First   string // the place and the time of the first failure
}

// String says what failed, where, and when.
func (f failure) String() string {
	test := f.Test
	if test == "" {
		test = "all tests"
	}
	return fmt.Sprintf("%s (%s), first failure at %s", test, f.Package, f.First)
}

// isDetectors reports whether the race detector failed itself, and not a test.
func (f failure) isDetectors() bool { return detector.MatchString(f.First) }

// runFirst runs the tests of packages. It then runs the failed ones again, at once or later.
func runFirst(args []string, later string) error {
	split := slices.Index(args, "--")
	if split < 0 {
		return errors.New("write -- between the flags of go test and the packages")
	}
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	failures, err := goTest(run{folder: folder, cgo: os.Getenv("CGO_ENABLED"), flags: args[:split]}, args[split+1:])
	switch {
	case err != nil || len(failures) == 0:
		return err
	case later != "":
		return appendTo(later, failures)
	}
	return again(failures, goTest)
}

func appendTo(file string, failures []failure) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for _, failed := range failures {
		if err := json.NewEncoder(f).Encode(failed); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// runAgain runs the failed tests of a file once more. No file means that none failed.
func runAgain(file string) error {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var failures []failure
	for decoder := json.NewDecoder(f); ; {
		var failed failure
		if err := decoder.Decode(&failed); err == io.EOF {
			return again(failures, goTest)
		} else if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		failures = append(failures, failed)
	}
}

// maxDetectorFailures is how often the race detector may fail itself before the run fails.
const maxDetectorFailures = 5

// again runs failed tests alone with test, which is goTest, one after another. It lists those that
// pass now.
func again(failures []failure, test func(run, []string) ([]failure, error)) error {
	var flaky, failed, detectors []failure
	var problems error
	for _, f := range failures {
		flags := append(slices.Clone(f.Flags), "-count=1")
		if f.Test != "" {
			flags = append(flags, "-run", "^"+regexp.QuoteMeta(f.Test)+"$")
		}
		var still []failure
		var err error
		for range maxDetectorFailures {
			fmt.Printf("once more, alone: %s\n", f)
			still, err = test(run{folder: f.Folder, cgo: f.Cgo, flags: flags}, []string{f.Package})
			if err != nil || len(still) == 0 || !still[0].isDetectors() {
				break
			}
		}
		problems = errors.Join(problems, err)
		switch {
		case err != nil || len(still) > 0:
			failed = append(failed, f)
		case f.isDetectors():
			detectors = append(detectors, f)
		default:
			flaky = append(flaky, f)
		}
	}
	printAll("the race detector failed itself: ", detectors)
	printAll("flaky: ", flaky)
	printAll("failed twice: ", failed)
	if len(failed) > 0 {
		return errors.Join(problems, fmt.Errorf("%d tests failed twice", len(failed)))
	}
	return nil
}

func printAll(title string, failures []failure) {
	for _, f := range failures {
		fmt.Println(title + f.String())
	}
}

// event is an event of `go test -json`; see `go doc test2json`.
type event struct {
	Time        time.Time
	Action      string
	ImportPath  string
	Package     string
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// run is one run of go test, and what it has reported.
type run struct {
	folder   string
	cgo      string // CGO_ENABLED; empty is Go's default
	flags    []string
	out      io.Writer
	outputs  map[string][]string // the output of the tests that run, by package and test
	failures []failure
	broken   bool // a package does not compile
	racy     bool // the race detector has found something
}

// goTest runs go test, and prints what a person wants to know. It returns the tests that failed,
// and an error if a package does not compile, has a data race, or go test itself fails.
func goTest(r run, packages []string) ([]failure, error) {
	began := time.Now()
	r.out, r.outputs = os.Stdout, map[string][]string{}
	cmd := exec.Command("go", slices.Concat([]string{"test", "-json"}, r.flags, packages)...)
	cmd.Dir, cmd.Stderr = r.folder, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+r.cgo)
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewReader(output); err == nil; {
		var line string
		if line, err = lines.ReadString('\n'); line != "" {
			r.read(line)
		}
	}
	err = cmd.Wait()
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("%.0f s of processor time in %.0f s\n", used.Seconds(), time.Since(began).Seconds())
	switch {
	case r.broken:
		return nil, errors.New("packages do not compile")
	case r.racy:
		return nil, errors.New("data races")
	case err != nil && len(r.failures) == 0:
		return nil, err
	}
	return r.failures, nil
}

func (r *run) read(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil { // not an event: go's own words
		fmt.Fprint(r.out, line)
		return
	}
	test, _, _ := strings.Cut(e.Test, "/")
	key := e.Package + " " + test // ends with a space for the package
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		r.outputs[key] = append(r.outputs[key], e.Output)
		r.racy = r.racy || race.MatchString(e.Output)
	case "pass", "skip":
		if e.Test == "" {
			r.printResult(key)
		} else if e.Test == test {
			r.printRace(key)
			delete(r.outputs, key)
		}
	case "fail":
		if e.FailedBuild != "" {
			r.broken = true
		} else if e.Test == test {
			r.fail(e, key)
		}
	}
}

// printResult prints the last line of a package that passed, such as "ok … 1.2s".
func (r *run) printResult(key string) {
	for _, line := range r.outputs[key] {
		if strings.HasPrefix(line, "ok ") {
			fmt.Fprint(r.out, line)
		}
	}
	delete(r.outputs, key)
}

// race matches what Go says of a data race. The race detector's own words may be in the output of
// another test than the one that fails.
var race = regexp.MustCompile(`WARNING: DATA RACE|race detected during execution|fatal error: concurrent map`)

// printRace prints the output of a test that passed if a data race is described there.
func (r *run) printRace(key string) {
	if output := strings.Join(r.outputs[key], ""); race.MatchString(output) {
		fmt.Fprint(r.out, output)
	}
}

// fail prints the output of a failed test, and remembers the failure. If a package fails, it prints
// the output of the tests that have not ended. If all tests have run and some have failed, that
// failure is known; otherwise it remembers the whole package.
func (r *run) fail(e event, key string) {
	keys := []string{key}
	if e.Test == "" {
		for _, other := range slices.Sorted(maps.Keys(r.outputs)) {
			if strings.HasPrefix(other, key) && other != key {
				keys = append(keys, other)
			}
		}
		slices.Reverse(keys) // the package's own last
	}
	var output []string
	for _, key := range keys {
		output = append(output, r.outputs[key]...)
		delete(r.outputs, key)
	}
	fmt.Fprint(r.out, strings.Join(output, ""))
	ofPackage := func(f failure) bool { return f.Package == e.Package }
	if e.Test == "" && slices.ContainsFunc(r.failures, ofPackage) {
		if len(keys) == 1 && slices.Contains(output, "FAIL\n") {
			return // all tests have run
		}
		r.failures = slices.DeleteFunc(r.failures, ofPackage)
	}
	r.failures = append(r.failures, failure{r.folder, r.cgo, r.flags, e.Package, e.Test, firstPlace(output, e.Time)})
}

// place matches a line of Go, and detector a failure of the race detector itself, which ends all
// tests of a package.
var (
	place    = regexp.MustCompile(`\b\w+\.go:\d+`)
	detector = regexp.MustCompile(`ThreadSanitizer: CHECK failed: \S+`)
)

// firstPlace returns where and when a test failed.
func firstPlace(output []string, at time.Time) string {
	text := strings.Join(output, "")
	return cmp.Or(detector.FindString(text), place.FindString(text), "no line that it named") + ", " + at.Format(time.TimeOnly)
}
