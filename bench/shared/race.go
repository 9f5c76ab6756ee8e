package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/chatguard/chatguard/bench/internal/report"
)

// contest is one limiter under one load on one server.
type contest struct {
	server  serverKind
	load    string
	limiter limiterName
}

// String returns the contest's name in reports.
func (c contest) String() string { return fmt.Sprintf("%s, %s, %s", c.limiter, c.load, c.server) }

// figures are what was measured in one run of a contest.
type figures struct {
	Rate       float64 `json:"checks_per_second"`
	Node       float64 `json:"node_us"`   // processor time per check
	Server     float64 `json:"server_us"` // processor time per check
	Mallocs    float64 `json:"allocations"`
	RoundTrips float64 `json:"round_trips,omitempty"` // of chatguard, per check
	Bytes      float64 `json:"bytes_per_user,omitempty"`
	Allowed    float64 `json:"allowed"`          // part of the messages
	Failed     float64 `json:"failed,omitempty"` // checks with an error, per check without one
	Offline    int64   `json:"offline,omitempty"`
	Wrong      string  `json:"wrong,omitempty"`   // why the limiter has no figure at all
	Missing    string  `json:"missing,omitempty"` // why this run has no figures
}

// race runs all contests.
type race struct {
	*settings
	servers servers
	demands []demand
	runs    map[contest][]figures // one for each round
	program string                // path of the command chatguard, if a limiter needs it
	began   string                // load average
}

func newRace(s *settings, all servers) *race {
	r := &race{settings: s, servers: all, runs: map[contest][]figures{}, began: loadAverage()}
	for _, d := range demands() {
		if s.only.MatchString(d.name) {
			r.demands = append(r.demands, d)
		}
	}
	return r
}

// run runs all rounds. A measurement that fails is missing, and so is each one after ctx has ended.
// run returns an error only if it can't begin.
func (r *race) run(ctx context.Context, measure func(context.Context, contest, load) (*figures, error)) error {
	loads := map[contest]load{}
	var contests []contest
	for _, d := range r.demands {
		for _, c := range d.contests() {
			if _, ok := loads[c]; !ok && r.servers[c.server] != nil {
				loads[c] = d.load
				contests = append(contests, c)
			}
		}
	}
	if slices.ContainsFunc(contests, func(c contest) bool { return c.limiter.usesProgram() }) {
		dir, err := os.MkdirTemp("", "bench-shared")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if r.program, err = buildProgram(ctx, dir); err != nil {
			return err
		}
	}
	for round := range r.rounds {
		for i, at := range rand.Perm(len(contests)) {
			c, f := contests[at], &figures{Missing: interrupted}
			if ctx.Err() == nil {
				log.Printf("round %d of %d, %2d of %d: %s", round+1, r.rounds, i+1, len(contests), c)
				var err error
				if f, err = measure(ctx, c, loads[c]); ctx.Err() != nil {
					f = &figures{Missing: interrupted}
				} else if err != nil {
					f = &figures{Missing: err.Error()}
				}
				if problem := cmp.Or(f.Wrong, f.Missing); problem != "" {
					log.Printf("%s: %s", c, problem)
				}
			}
			r.runs[c] = append(r.runs[c], *f)
		}
	}
	return nil
}

// interrupted is why a measurement is missing after ctx has ended.
const interrupted = "interrupted"

// measure runs a contest once. A node that doesn't end within r.longest is killed.
func (r *race) measure(ctx context.Context, c contest, l load) (f *figures, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.longest, fmt.Errorf("no result within %v", r.longest))
	defer cancel()
	if f, err = r.measureOnce(ctx, c, l); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return f, err
}

func (r *race) measureOnce(ctx context.Context, c contest, l load) (*figures, error) {
	if r.short {
		l = l.shrunk()
	}
	s := r.servers[c.server]
	if err := s.empty(ctx); err != nil {
		return nil, err
	}
	free, err := s.number(ctx, "used_memory")
	if err != nil {
		return nil, err
	}
	team, err := r.startNodes(ctx, c, l)
	if err != nil {
		return nil, err
	}
	defer team.kill()
	begin := time.Now()
	used, err := team.begin(ctx, s)
	if err != nil {
		return nil, err
	}
	all, err := team.results()
	if err != nil {
		return nil, err
	}
	f := figuresOf(all, used)
	if all.Failed > 0 {
		log.Printf("%s: %d of %d checks have failed and don't count: %s", c, all.Failed, all.Asked+all.Failed, all.Problem)
	}
	copies := 1
	if !c.limiter.shares() {
		copies = l.Nodes
	}
	if err := l.verify(all, time.Since(begin), copies); err != nil && c.limiter != ping {
		f.Wrong = err.Error()
	}
	if l.Fill {
		full, err := s.number(ctx, "used_memory")
		if err != nil {
			return nil, err
		}
		f.Bytes = (full - free) / float64(l.Users)
	}
	return f, nil
}

// figuresOf returns the figures of a run. They are 0 if no check was made, which is wrong.
func figuresOf(all *result, server time.Duration) *figures {
	if all.Asked == 0 {
		return &figures{}
	}
	n := float64(all.Asked)
	return &figures{
		Rate: n / all.Wall.Seconds(), Node: float64(all.Processor.Nanoseconds()) / n / 1000, Server: float64(server.Nanoseconds()) / n / 1000,
		Mallocs: float64(all.Mallocs) / n, RoundTrips: float64(all.RoundTrips) / n, Allowed: float64(all.Allowed) / n, Failed: float64(all.Failed) / n, Offline: all.Offline,
	}
}

// team is the nodes of a run.
type team struct {
	load            load
	warmup, seconds time.Duration
	nodes           []*process
}

// process is a node's process.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// startNodes starts the nodes of a run, and returns when all are ready.
func (r *race) startNodes(ctx context.Context, c contest, l load) (*team, error) {
	t := &team{load: l, warmup: r.warmup, seconds: r.seconds}
	if l.Known {
		t.warmup *= 11
	}
	for i := range l.Nodes {
		j := job{Limiter: c.limiter, Load: l, Node: i, Address: r.servers[c.server].address, Program: r.program, Warmup: t.warmup, Seconds: r.seconds}
		if r.profile != "" && strings.HasPrefix(string(c.limiter), string(ours)) {
			j.Profile = filepath.Join(r.profile, fmt.Sprintf("%s, node %d.pprof", c, i))
		}
		p, err := startProcess(ctx, &j)
		if err != nil {
			t.kill()
			return nil, err
		}
		t.nodes = append(t.nodes, p)
	}
	for _, p := range t.nodes {
		if _, err := p.read(); err != nil {
			t.kill()
			return nil, fmt.Errorf("a node doesn't start: %w", err)
		}
	}
	return t, nil
}

// read waits for what the node writes next.
func (p *process) read() (*result, error) {
	var r result
	if err := p.out.Decode(&r); err != nil {
		return nil, err
	}
	if r.Failure != "" {
		return nil, errors.New(r.Failure)
	}
	return &r, nil
}

// startProcess starts this program as a node.
func startProcess(ctx context.Context, j *job) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = append(os.Environ(), nodeVariable+"=1"), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, in, json.NewDecoder(out)}
	return p, json.NewEncoder(in).Encode(j)
}

// begin makes all nodes begin, and returns the processor time that the server uses while they
// measure. With a load whose duration isn't known before, that time is unknown.
func (t *team) begin(ctx context.Context, s *server) (used time.Duration, err error) {
	for _, p := range t.nodes {
		if err := json.NewEncoder(p.in).Encode(true); err != nil {
			return 0, err
		}
	}
	if t.load.Fill || t.load.Exchange {
		return 0, nil
	}
	sleep(ctx, t.warmup)
	before, err := s.processorTime(ctx)
	if err != nil {
		return 0, err
	}
	sleep(ctx, t.seconds)
	after, err := s.processorTime(ctx)
	return after - before, err
}

// sleep waits, or returns early if ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// results waits for the nodes and adds up what they have done.
func (t *team) results() (*result, error) {
	all := &result{}
	for _, p := range t.nodes {
		one, err := p.read()
		if err != nil {
			return nil, fmt.Errorf("a node has failed: %w", err)
		}
		if err := all.add(one); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// kill ends nodes that still run.
func (t *team) kill() {
	for _, p := range t.nodes {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // the error says that it was killed
	}
}

// median returns the median of a figure over the rounds in which it isn't missing. It returns false
// if there is none, or if a run was wrong.
func (r *race) median(c contest, of quantity) (float64, bool) {
	var values []float64
	for _, f := range r.runs[c] {
		switch {
		case f.Wrong != "":
			return 0, false
		case f.Missing == "":
			values = append(values, of(&f))
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return report.Median(values), true
}

// unknown says why a contest has no median.
func (r *race) unknown(c contest) string {
	if slices.ContainsFunc(r.runs[c], func(f figures) bool { return f.Wrong != "" }) {
		return "wrong"
	}
	return "missing"
}

// loadAverage returns the machine's load averages of the last 1, 5 and 15 minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg") // Linux only
	if fields := strings.Fields(string(text)); err == nil && len(fields) >= 3 {
		return strings.Join(fields[:3], " ")
	}
	return "unknown"
}
