// Package waittest waits in tests for what other goroutines and programs do, collects what they
// write, and counts allocations beside them.
package waittest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long a condition may take. It only matters if the program is broken.
const patience = time.Minute

// Until waits until holds returns true. It calls holds about every millisecond. If that takes more
// than a minute, or the test ends, Until fails the test and prints the call.
func Until(t testing.TB, holds func() bool) {
	t.Helper()
	if !Poll(t.Context(), time.Millisecond, holds) {
		t.Fatalf("waited in vain: %s", callText(2))
	}
}

// Poll calls holds at this interval until it returns true. It returns false if that takes more than
// a minute, or if ctx ends.
func Poll(ctx context.Context, interval time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look := time.NewTicker(interval)
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// longest is how many lines of a call are printed.
const longest = 12

// callText returns the source of the statement that called a function, skip callers up. It returns
// the name of the file if the test isn't in its package's folder.
func callText(skip int) string {
	_, file, number, _ := runtime.Caller(skip)
	source, err := os.ReadFile(filepath.Base(file))
	lines := strings.Split(string(source), "\n")
	if err != nil || number > len(lines) {
		return file
	}
	lines = lines[number-1:]
	end := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], "\t"))] + "})"
	n := 1
	for strings.HasSuffix(lines[0], "{") && n < min(longest, len(lines)) && lines[n-1] != end {
		n++
	}
	return strings.Join(lines[:n], "\n")
}
