package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestRun_Read reads what go test reports, and compares which tests run again.
func TestRun_Read(t *testing.T) {
	const start = `{"Action":"run","Package":"p","Test":"TestA"}` + "\n"
	fails := func(test string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"p","Test":%q,"Output":"a_test.go:7: wrong\n"}`+"\n"+`{"Action":"fail","Package":"p","Test":%[1]q}`+"\n", test)
	}
	end := func(output string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"p","Output":%q}`+"\n"+`{"Action":"fail","Package":"p"}`+"\n", output)
	}
	for name, c := range map[string]struct {
		events string
		want   string // the tests that run again; "all tests" is the whole package
		racy   bool
		broken bool
	}{
		"passes":             {start + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}`, "", false, false},
		"a test":             {start + fails("TestA") + end("FAIL\n"), "TestA", false, false},
		"a part of a test":   {start + fails("TestA/part") + fails("TestA") + end("FAIL\n"), "TestA", false, false},
		"two tests":          {fails("TestA") + fails("TestB") + end("FAIL\n"), "TestA TestB", false, false},
		"a panic":            {fails("TestA") + end("FAIL\tp\t0.1s\n"), "all tests", false, false},
		"a test never ended": {fails("TestA") + `{"Action":"output","Package":"p","Test":"TestB","Output":"panic: test timed out"}` + "\n" + end("FAIL\n"), "all tests", false, false},
		"the race detector fails": {
			`{"Action":"output","Package":"p","Test":"TestA","Output":"a_test.go:7: so far\nThreadSanitizer: CHECK failed: tsan_rtl.cpp:346 (0, 0)\n"}` + "\n" + end("FAIL\tp\t0.1s\n"),
			"all tests at ThreadSanitizer: CHECK failed: tsan_rtl.cpp:346", false, false,
		},
		"after the tests": {end("FAIL\n"), "all tests", false, false},
		"a data race":     {`{"Action":"output","Package":"p","Test":"TestA","Output":"WARNING: DATA RACE\n"}` + "\n" + fails("TestA") + end("FAIL\n"), "TestA", true, false},
		"one that passes has its words": {
			`{"Action":"output","Package":"p","Test":"TestB","Output":"WARNING: DATA RACE\n"}` + "\n" +
				`{"Action":"output","Package":"p","Test":"TestA","Output":"race detected during execution of test\n"}` + "\n" +
				`{"Action":"pass","Package":"p","Test":"TestB"}` + "\n" + fails("TestA") + end("FAIL\n"), "TestA", true, false,
		},
		"it does not compile":  {`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`, "", false, true},
		"words of go, no JSON": {"go: downloading something", "", false, false},
	} {
		r := run{out: io.Discard, outputs: map[string][]string{}}
		for line := range strings.Lines(c.events) {
			r.read(line)
		}
		var again []string
		for _, f := range r.failures {
			again = append(again, strings.SplitN(f.String(), " (", 2)[0])
			if where, _, _ := strings.Cut(f.First, ","); strings.HasPrefix(where, "ThreadSanitizer") {
				again = append(again, "at "+where)
			}
			if f.Test != "" && !strings.HasPrefix(f.First, "a_test.go:7,") {
				t.Errorf("%s: first failure at %s", name, f.First)
			}
		}
		if got := strings.Join(again, " "); got != c.want || r.racy != c.racy || r.broken != c.broken {
			t.Errorf("%s: %q again, racy %t, broken %t", name, got, r.racy, r.broken)
		}
	}
}

// A test that passes when it runs again is no fault of the product. If the race detector fails
// itself, the package runs again until its tests have run, but not for ever.
func TestAgain(t *testing.T) {
	failed, crashed := []failure{{Test: "TestA", First: "a_test.go:7, 12:00:00"}}, []failure{{First: "ThreadSanitizer: CHECK failed: tsan_rtl.cpp:346, 12:00:00"}}
	for name, c := range map[string]struct {
		first   failure
		results [][]failure // of each run
		fails   bool
	}{
		"passes":                {failed[0], [][]failure{nil}, false},
		"fails":                 {failed[0], [][]failure{failed}, true},
		"detector":              {crashed[0], [][]failure{nil}, false},
		"detector, twice":       {crashed[0], [][]failure{crashed, nil}, false},
		"detector, always":      {crashed[0], [][]failure{crashed, crashed, crashed, crashed, crashed}, true},
		"detector, then a test": {crashed[0], [][]failure{crashed, failed}, true},
	} {
		runs := 0
		err := again([]failure{c.first}, func(run, []string) ([]failure, error) {
			runs++
			return c.results[runs-1], nil
		})
		if runs != len(c.results) || (err != nil) != c.fails {
			t.Errorf("%s: %d runs, %v", name, runs, err)
		}
	}
}
