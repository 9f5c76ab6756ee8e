package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Limiters of nodes that the tests start.
const (
	failing limiterName = "failing limiter" // can't be closed
	hanging limiterName = "hanging limiter" // doesn't open
)

// unclosable is a failing limiter.
type unclosable struct{ limiter }

func (unclosable) Close() error { return errors.New("73 rows weren't written") }

func TestMain(m *testing.M) {
	if isNode() {
		limiters[failing] = func(ctx context.Context, at site) (limiter, error) {
			l, err := openAlone(ctx, at)
			return unclosable{l}, err
		}
		limiters[hanging] = func(context.Context, site) (limiter, error) { select {} }
		runNode()
		return
	}
	os.Exit(m.Run())
}

// settingsOf parses arguments, and discards the report.
func settingsOf(t *testing.T, args ...string) (*settings, *strings.Builder) {
	t.Helper()
	s, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s.out = &out
	return s, &out
}

func TestCompare_AllDemands(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs all comparisons for seconds")
	}
	file := filepath.Join(t.TempDir(), "figures.json")
	s, out := settingsOf(t, "-short", "-json", file)
	if err := compare(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var figures struct{ Demands []outcome }
	if err := json.Unmarshal(text, &figures); err != nil {
		t.Fatal(err)
	}
	if len(figures.Demands) != len(demands()) {
		t.Errorf("%d lines, want %d", len(figures.Demands), len(demands()))
	}
	for _, o := range figures.Demands {
		// On a busy machine, a contender may make no check in its short time.
		if o.Value <= 0 && o.Holds != "no such server" && !strings.HasSuffix(o.Holds, " is wrong") {
			t.Errorf("%s: no value: %s", o.Name, o.Holds)
		}
		if !strings.Contains(out.String(), o.Name) {
			t.Errorf("%s isn't in the report", o.Name)
		}
	}
}

func TestCompare_Only(t *testing.T) {
	s, out := settingsOf(t, "-short", "-only", "^round trips.* 1 node$", "-check", "-markdown")
	if err := compare(t.Context(), s); err != nil && err != errNotMet {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "| round trips"); got != 1 {
		t.Errorf("%d lines, want 1:\n%s", got, out)
	}
}

// raceOfNodes returns a race between a limiter of the tests and a chatguard that isn't shared.
func raceOfNodes(t *testing.T, other limiterName) (*race, *strings.Builder) {
	all, err := startServers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.stop)
	s, out := settingsOf(t, "-short", "-only", "^$")
	r := newRace(s, all)
	r.demands = []demand{{name: "ratio", load: hot1, server: byScript, of: rate, own: alone, other: other}}
	return r, out
}

// TestRun_FailedNode checks that a node that fails leaves out one measurement only, and that the
// report says why.
func TestRun_FailedNode(t *testing.T) {
	r, out := raceOfNodes(t, failing)
	if err := r.run(t.Context(), r.measure); err != nil {
		t.Fatal(err)
	}
	if o := r.outcomes()[0]; o.Own <= 0 || o.Holds != "failing limiter is missing" {
		t.Errorf("outcome %+v", o)
	}
	if r.print(); !strings.Contains(out.String(), "a node has failed: 73 rows weren't written") {
		t.Errorf("the report doesn't say why:\n%s", out)
	}
}

// TestMeasure_HangingNode checks that a node that doesn't end is killed.
func TestMeasure_HangingNode(t *testing.T) {
	r, _ := raceOfNodes(t, hanging)
	r.longest = time.Millisecond
	_, err := r.measure(t.Context(), contest{byScript, hot1.Name, hanging}, hot1)
	if err == nil || err.Error() != "no result within 1ms" {
		t.Errorf("error %v", err)
	}
}

// TestRun_Interrupted checks that an interrupted race reports what it has.
func TestRun_Interrupted(t *testing.T) {
	r := raceOf(t, demand{name: "ratio", load: uniform, server: byScript, of: rate, other: redisRate}, nil, nil)
	var out strings.Builder
	r.rounds, r.out = 3, &out
	ctx, interrupt := context.WithCancel(t.Context())
	measured := 0
	err := r.run(ctx, func(_ context.Context, c contest, _ load) (*figures, error) {
		if measured++; measured > 2 {
			interrupt()
			return nil, errors.New("signal: interrupt")
		}
		return &figures{Rate: map[limiterName]float64{ours: 300, redisRate: 100}[c.limiter]}, nil
	})
	if err != nil || measured != 3 {
		t.Fatalf("%d measurements, error %v", measured, err)
	}
	if o := r.outcomes()[0]; o.Value != 3 || !slices.Equal(o.Range, []float64{3, 3}) {
		t.Errorf("outcome %+v", o)
	}
	if r.print(); strings.Count(out.String(), interrupted) != 4 {
		t.Errorf("want the four measurements that are missing:\n%s", &out)
	}
}

func TestParse_Refused(t *testing.T) {
	for _, args := range []string{"-rounds 0", "-seconds 0.01", "-only ("} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

func TestVerify(t *testing.T) {
	few, many := load{Rules: chat}, load{Rules: large}
	users := func(allowed uint64, refused bool) result {
		return result{Asked: 9, users: []tally{{3, true}, {allowed, refused}}}
	}
	for i, c := range []struct {
		load  load
		took  time.Duration
		r     result
		wrong bool
	}{
		{few, 3 * time.Second, users(3, true), false},
		{few, 3 * time.Second, users(4, true), true},
		{few, 4 * time.Second, users(4, true), false},
		{few, time.Second, users(2, false), false},
		{few, time.Second, users(2, true), true},
		{few, time.Second, result{Failed: 9}, true},
		{few, time.Second, result{Asked: 9, Offline: 1}, true},
		{many, time.Second, result{Asked: 9}, false},
		{many, time.Second, result{Asked: 9, Refused: 1}, true},
	} {
		if err := c.load.verify(&c.r, c.took, 1); (err != nil) != c.wrong {
			t.Errorf("case %d: error %v, want one: %v", i, err, c.wrong)
		}
	}
}

func TestVerify_Copies(t *testing.T) {
	r := result{Asked: 9, users: []tally{{6, true}}}
	for copies, wrong := range map[int]bool{1: true, 2: false} {
		if err := (load{Rules: chat}).verify(&r, time.Second, copies); (err != nil) != wrong {
			t.Errorf("%d copies: error %v, want one: %v", copies, err, wrong)
		}
	}
}

// A chatguard that ends at once is an error with what it says.
func TestServed_Refused(t *testing.T) {
	program, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openLimiter(t.Context(), aloneHTTP, site{rules: chat, program: program}); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("error %v", err)
	}
}

func TestResult_AddsNodes(t *testing.T) {
	var all result
	for _, counts := range [][]byte{{6, 0, 1}, {2, 1, 4}} {
		if err := all.add(&result{Asked: 5, Counts: counts}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []tally{{4, false}, {0, true}, {2, true}}; !slices.Equal(all.users, want) || all.Asked != 10 {
		t.Errorf("%d checks, users %v, want %v", all.Asked, all.users, want)
	}
	if err := all.add(&result{Counts: []byte{0x80}}); err == nil {
		t.Error("counts that end too early are accepted")
	}
}

// raceOf returns a race with the given figures of one demand.
func raceOf(t *testing.T, d demand, own, other []figures) *race {
	s, _ := settingsOf(t, "-short")
	return &race{
		settings: s, servers: servers{byScript: {}}, demands: []demand{d},
		runs: map[contest][]figures{d.ownContest(): own, d.contest(d.other): other},
	}
}

func TestOutcome(t *testing.T) {
	least := demand{load: uniform, server: byScript, of: rate, other: redisRate, bound: bound{least: 1.5}}
	most := demand{load: uniform, server: byScript, of: serverTime, other: redisRate, bound: bound{most: 0.5}}
	inverse := demand{load: uniform, server: byScript, of: serverTime, other: redisRate, inverse: true, bound: bound{least: 2}}
	elsewhere := demand{load: uniform, server: byIFEQ, of: rate}
	own := []figures{{Rate: 200, Server: 1}, {Rate: 100, Server: 3}, {Rate: 300, Server: 2}}
	other := []figures{{Rate: 100, Server: 4}, {Rate: 400, Server: 4}, {Rate: 100, Server: 8}}
	wrong := []figures{{Rate: 1000, Wrong: "too many"}, {Rate: 1}, {Rate: 1}}
	partial := []figures{{Missing: "EOF"}, {Rate: 400}, {Rate: 100}}
	missing := []figures{{Missing: "EOF"}, {Missing: "EOF"}, {Missing: interrupted}}
	for _, c := range []struct {
		d          demand
		own, other []figures
		want       string // value, range, holds
	}{
		{least, own, other, "2 [0.25 3] yes"},
		{most, own, other, "0.5 [0.25 0.75] yes"},
		{inverse, own, other, "2 [1.3333333333333333 4] yes"},
		{least, other, own, "0.5 [0.3333333333333333 4] no"},
		{least, own, wrong, "0 [] redis_rate is wrong"},
		{least, wrong, own, "0 [] chatguard is wrong"},
		{least, own, partial, "0.5 [0.25 3] no"},
		{least, own, missing, "0 [] redis_rate is missing"},
		{least, partial, []figures{{Rate: 100}, {Missing: "EOF"}, {Missing: "EOF"}}, "4 [] yes"},
		{elsewhere, own, other, "0 [] no such server"},
	} {
		r := raceOf(t, c.d, c.own, c.other)
		o := r.outcomes()[0]
		if got := fmt.Sprint(o.Value, o.Range, " ", o.Holds); got != c.want {
			t.Errorf("%s: got %q", c.want, got)
		}
		if met := strings.HasSuffix(c.want, "yes") || strings.HasSuffix(c.want, "server"); r.met() != met {
			t.Errorf("%s: met is %v", c.want, r.met())
		}
	}
}

// TestOutcome_Figure checks that a value that misses its bound doesn't look equal to it.
func TestOutcome_Figure(t *testing.T) {
	for _, c := range []struct {
		value float64
		bound bound
		want  string
	}{
		{1.2996, bound{least: 1.3}, "1.2996"},
		{1.297, bound{least: 1.3}, "1.297"},
		{1.29, bound{least: 1.3}, "1.29"},
		{1.3, bound{least: 1.3}, "1.30"},
		{1.4502, bound{most: 1.45}, "1.4502"},
		{1.4502, bound{}, "1.45"},
		{149_999.7, bound{least: 150_000}, "149999.7"},
		{249.8, bound{most: 250}, "250"},
		{0, bound{least: 1}, ""},
	} {
		o := outcome{Value: c.value, bound: c.bound}
		if got := o.figure(); got != c.want {
			t.Errorf("%v, %s: %q, want %q", c.value, c.bound, got, c.want)
		}
	}
}

// TestServer_Empty checks that the memory of deleted keys is free at once.
func TestServer_Empty(t *testing.T) {
	all, err := startServers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer all.stop()
	for kind, s := range all {
		used := func() float64 {
			bytes, err := s.number(t.Context(), "used_memory")
			if err != nil {
				t.Fatal(err)
			}
			return bytes
		}
		// A script that runs for 5 s, on a busy machine, would block the server.
		const fill = "for i = ARGV[1], ARGV[1] + 9999 do redis.call('SET', i, i) end"
		if err := s.empty(t.Context()); err != nil { // the client's connection is counted now
			t.Fatal(err)
		}
		before := used()
		for first := 0; first < 300_000; first += 10_000 {
			if err := s.client.Eval(t.Context(), fill, nil, first).Err(); err != nil && !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
		}
		full := used()
		if err := s.empty(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := used() - before; left > (full-before)/100 {
			t.Errorf("%s, %s: %.0f of %.0f bytes are still used", kind, s.name, left, full-before)
		}
	}
}

func TestServe_UnknownLimiter(t *testing.T) {
	_, err := serve(strings.NewReader(`{"Limiter":"none","Load":{"Nodes":1}}`), json.NewEncoder(io.Discard))
	if err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("error %v", err)
	}
}

func TestLimiters_AgreeOnTheBurst(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts every limiter")
	}
	all, err := startServers(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer all.stop()
	program, err := buildProgram(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for kind, server := range all {
		for name := range limiters {
			l, err := openLimiter(t.Context(), name, site{address: server.address, goroutines: 1, rules: chat, program: program})
			if err != nil {
				t.Fatal(err)
			}
			passed, want := 0, burst
			switch name {
			case ping, rapidity, rapidity2: // they don't enforce these rules
				want = 10
			}
			for range 10 {
				if ok, err := l.check(t.Context(), "user of "+string(name)); err != nil {
					t.Error(err)
				} else if ok {
					passed++
				}
			}
			if passed != want {
				t.Errorf("%s, %s: %d of 10 messages passed, want %d", kind, name, passed, want)
			}
			if err := closeLimiter(l); err != nil {
				t.Error(err)
			}
		}
	}
}
