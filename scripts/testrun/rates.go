package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// busy is the number of loops that run beside the tests.
const busy = 2

// tested is a package whose tests run repeatedly.
type tested struct {
	path, folder, binary string
	runs, failures       int
}

// rates runs the tests of packages in turn, each the given number of times, beside busy loops. It
// ends early after the given duration. It prints how often each package failed, and fails if one
// did.
func rates(times, within string, packages []string) error {
	rounds, err := strconv.Atoi(times)
	if err != nil || rounds < 1 {
		return fmt.Errorf("-rates %s: write a number of runs, such as 20", times)
	}
	most, err := time.ParseDuration(within)
	if err != nil || most <= 0 {
		return fmt.Errorf("-within %s: write a duration, such as 30m", within)
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	folder, err := os.MkdirTemp("", "testrun")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	all, err := compile(folder, packages)
	if err != nil {
		return err
	}
	for range busy {
		go func() {
			for ctx.Err() == nil {
			}
		}()
	}
	for round := 1; round <= rounds && ctx.Err() == nil; round++ {
		fmt.Printf("round %d of %d\n", round, rounds)
		for _, p := range all {
			p.run(ctx)
		}
	}
	failures, missing := 0, 0
	for _, p := range all {
		fmt.Printf("%d of %d failed: %s\n", p.failures, p.runs, p.path)
		failures += p.failures
		missing += rounds - p.runs
	}
	switch {
	case failures > 0:
		return errors.New("tests failed beside busy loops")
	case missing > 0:
		return fmt.Errorf("the time was over before %d runs: give it more, or ask for fewer", missing)
	}
	return nil
}

// compile compiles the tests of packages into a folder.
func compile(folder string, packages []string) (all []*tested, err error) {
	list := exec.Command("go", append([]string{"list", "-f", `{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}`}, packages...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(out))
	for i := 0; i+1 < len(fields); i += 2 {
		p := &tested{path: fields[i], folder: fields[i+1], binary: filepath.Join(folder, fmt.Sprint(i, ".test"))}
		build := exec.Command("go", "test", "-vet=off", "-c", "-o", p.binary, p.path)
		build.Stdout, build.Stderr = os.Stdout, os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		all = append(all, p)
	}
	return all, nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// run runs the tests once, and prints what they say if they fail. A run that is cut off by the end
// of ctx doesn't count. One that hangs fails before that.
func (p *tested) run(ctx context.Context) {
	cmd := exec.CommandContext(ctx, p.binary, "-test.parallel=8", "-test.timeout=10m")
	cmd.Dir, cmd.WaitDelay = p.folder, 10*time.Second
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return
	}
	p.runs++
	if err == nil {
		return
	}
	p.failures++
	fmt.Printf("%s\n%s: %v", output, p.path, err)
	for _, match := range failedTest.FindAllSubmatch(output, -1) {
		fmt.Printf(" %s", match[1])
	}
	fmt.Println()
}
