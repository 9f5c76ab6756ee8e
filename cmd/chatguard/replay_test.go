//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// compareVerdicts compares the verdicts that the last command printed with a description of each:
// yes, "no burst 4s", and so on, as words returns them.
func compareVerdicts(ts *testscript.TestScript, _ bool, want []string) {
	var got []string
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var v printedVerdict
		ts.Check(json.Unmarshal([]byte(line), &v))
		got = append(got, v.words())
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			ts.Fatalf("from the verdict on message %d on:\ngot  %q\nwant %q", i+1, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}

// printedVerdict is the part of a verdict that a script checks.
type printedVerdict struct {
	Allowed, Observed, Exempt, Never bool
	Limit                            string
	Penalty                          string
	RetryAfterMS                     *int64 `json:"retry_after_ms"`
	DelayMS                          int64  `json:"delay_ms"`
}

// words returns "exempt", or "yes" with the delay if there is one. If a limit throttles the
// message, words returns "no", "observed" or "never", with the limit and the wait.
func (v printedVerdict) words() string {
	wait := func(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }
	switch {
	case v.Exempt:
		return "exempt"
	case v.Never:
		return "never " + v.Limit
	case v.RetryAfterMS == nil:
		return "no wait, and yet not never"
	case v.Observed && v.Allowed:
		return "observed " + v.Limit + " " + wait(*v.RetryAfterMS)
	case !v.Allowed:
		return "no " + v.Limit + " " + wait(*v.RetryAfterMS)
	case v.DelayMS > 0:
		return "yes after " + wait(v.DelayMS)
	}
	return "yes"
}

// metronome writes a record of one user's messages, which start at a given time and follow at
// regular intervals: metronome FILE START COUNT STEP COST.
func metronome(ts *testscript.TestScript, _ bool, args []string) {
	at, err := time.Parse(time.RFC3339, args[1])
	ts.Check(err)
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	step, err := time.ParseDuration(args[3])
	ts.Check(err)
	var b strings.Builder
	for range count {
		fmt.Fprintf(&b, `{"at":%d,"channel":"1","user_id":"7","cost":%s}`+"\n", at.UnixMilli(), args[4])
		at = at.Add(step)
	}
	ts.Check(writeNew(ts.MkAbs(args[0]), []byte(b.String())))
}
