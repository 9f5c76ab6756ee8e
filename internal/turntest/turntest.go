// Package turntest spreads tests over commits. Of cases that are nearly alike, each commit runs one
// (Choose) or a part (Sample). With -short, each commit runs a quarter of the expensive tests
// (Expensive). A test package that uses it has the flag -turn.
package turntest

import (
	"cmp"
	"flag"
	"hash/fnv"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// all is the turn that has every case.
const all = "all"

var chosen = flag.String("turn", "", `which cases tests run that take turns: those of this text, or "all"; the default is TEST_TURN or the commit's hash`)

// turn returns the text that decides whose turn it is: the flag -turn, the variable TEST_TURN, or
// the commit.
var turn = sync.OnceValue(func() string {
	if turn := cmp.Or(*chosen, os.Getenv("TEST_TURN")); turn != "" {
		return turn // go test knows of the variable, and repeats tests if it changes
	}
	commit, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "no-commit" // as in an unpacked archive
	}
	return strings.TrimSpace(string(commit))
})

// Choose returns the case whose turn it is, or all cases with -turn all. Each name has turns of its
// own. The test's log shows the choice, with the flag that repeats it.
func Choose[T any](t testing.TB, name string, cases []T) []T {
	t.Helper()
	if turn() == all || len(cases) < 2 {
		return cases
	}
	i := index(turn(), name, len(cases))
	t.Logf("-turn %s: %s is %v", turn(), name, cases[i])
	return cases[i : i+1]
}

// Sample returns every n-th case, or every 4n-th with -short, and at least one. With -turn all, it
// returns all cases. The turn decides where it begins. The test's log shows how many cases that is,
// with the flag that repeats the choice.
func Sample[T any](t testing.TB, n int, cases []T) (sample []T) {
	t.Helper()
	if testing.Short() {
		n *= 4
	}
	n = min(n, len(cases))
	if n < 2 || turn() == all {
		return cases
	}
	for i := index(turn(), t.Name(), n); i < len(cases); i += n {
		sample = append(sample, cases[i])
	}
	t.Logf("-turn %s: %d of %d cases", turn(), len(sample), len(cases))
	return sample
}

// Expensive skips the test on three commits of four with -short. A subtest is skipped if its test
// would be. A test calls Expensive before it starts goroutines.
func Expensive(t testing.TB) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	// Sample and Choose use another name: the tests that run must not always have the same cases.
	if testing.Short() && turn() != all && index(turn(), "expensive "+name, 4) != 0 {
		t.Skip("expensive: with -short it runs on one commit of four, or with -turn all")
	}
}

// index returns a number below n that a turn and a name decide.
func index(turn, name string, n int) int {
	sum := fnv.New64a()
	sum.Write([]byte(turn + "\x00" + name))
	return int(mix(sum.Sum64()) % uint64(n))
}

// mix makes all bits depend on all bits (the finalizer of MurmurHash3). Without it, hashes of names
// that end alike have like remainders.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
