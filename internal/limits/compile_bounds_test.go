package limits

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// manyLimits returns n limits of one algorithm.
func manyLimits(n int, of Limit) (limits []Limit) {
	for i := range n {
		limits = append(limits, of.withName(fmt.Sprintf("limit%d", i)))
	}
	return limits
}

func TestCompile_TooManyLimits(t *testing.T) {
	spread := manyLimits(MaxLimits, bucket(3, time.Second)) // in all scopes together
	for i := range spread {
		spread[i].Scope = Scope(i % int(PerUserText))
	}
	if _, err := Compile(spread, testRoles, Strikes{}); err != nil {
		t.Errorf("%d limits: %v", len(spread), err)
	}
	for _, more := range []int{1, 14_000} {
		limits := append(spread, manyLimits(more, Limit{})...) // the mistakes of these limits aren't reported
		want := fmt.Sprintf("the policy has %d limits, want 32 or fewer", MaxLimits+more)
		if _, err := Compile(limits, testRoles, Strikes{}); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestCompile_RowsTooWide(t *testing.T) {
	log := func(name string, messages int64) Limit {
		return window("sliding-log", messages, time.Minute).withName(name)
	}
	rest := int64(MaxRow - headerWords - 3*(1+maxLog) - 1) // words left for a fourth log
	for _, test := range []struct {
		name   string
		limits []Limit
		want   string // empty if it is allowed
	}{
		{"full", []Limit{log("a", 1024), log("b", 1024), log("c", 1024), log("d", rest)}, ""},
		{"one more", []Limit{log("a", 1024), log("b", 1024), log("c", 1024), log("d", rest+1)},
			`limit "d": with it, 4097 words are needed for each user, want 4096 or fewer: ` +
				"a sliding-log takes a word for each of its messages, so allow fewer, or use a sliding-window"},
		{"by a role", []Limit{log("a", 1024).withRole("vip", Numbers{Messages: 1000}), log("b", 1024), log("c", 1), log("d", 1).withRole("vip", Numbers{Messages: 1024}), log("e", 1024)},
			`limit "e": with it, 4107 words`},
		{"in another scope", []Limit{log("a", 1024), log("b", 1024), log("c", 1024), log("d", 1024).withScope(PerChannel)}, ""},
	} {
		_, err := Compile(test.limits, testRoles, Strikes{})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: got %v\nwant %s", test.name, err, test.want)
		}
	}
}

// After a change, logs keep their contents. If that is more than a row holds, they keep the newest
// messages, and the limit decides as if it had kept all.
func TestChange_RowsTooWide(t *testing.T) {
	logs := func(names string, messages int64) (limits []Limit) {
		for _, name := range strings.Split(names, "") {
			limits = append(limits, window("sliding-log", messages, time.Hour).withName(name))
		}
		return limits
	}
	table := newTable(t, logs("abc", 1024)...)
	at := 0.0
	for range 1024 {
		at++
		table.send(at, 1)
	}
	for _, names := range []string{"def", "ghi"} {
		change := append(logs("abc", 10), logs(names, 1000)...)
		table.Change(compileSets(t, Strikes{}, change...)[PerUser], nanos(at))
		if table.set.width > MaxRow {
			t.Fatalf("a row has %d words, want %d at most", table.set.width, MaxRow)
		}
		if d := table.Peek("7", &Request{At: nanos(at), Cost: 1}); d.Allowed || d.RetryAt != nanos(1015+3600) {
			// 10 of them count: 1015 to 1024
			t.Errorf("allowed is %v, retry at %v s", d.Allowed, float64(d.RetryAt-nanos(0))/1e9)
		}
	}
}
