package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/bench/internal/report"
)

// nodeVariable is set in the environment of a node.
const nodeVariable = "CHATGUARD_BENCH_NODE"

func isNode() bool { return os.Getenv(nodeVariable) != "" }

// job is what a node is to do. It arrives on standard input as JSON.
type job struct {
	Limiter         limiterName
	Load            load
	Node            int
	Address         string // of the server
	Program         string // path of the command chatguard, if the limiter needs it
	Warmup, Seconds time.Duration
	Profile         string // file for a processor profile; may be empty
}

// result is what a node, or all nodes together, have done. Refused, Offline and Counts include what
// was done before the measurement.
type result struct {
	Asked, Allowed, Failed int64
	Refused                int64
	Wall, Processor        time.Duration
	Mallocs                uint64
	RoundTrips, Offline    int64
	Problem                string // the first error
	Failure                string // why there is no result; empty if there is one
	// Counts has a varint for each user: twice the number of allowed messages, plus one if a
	// message was refused. It is nil if the numbers don't matter.
	Counts []byte

	users []tally // Counts of all nodes
}

// tally is what one user was allowed.
type tally struct {
	allowed uint64
	refused bool
}

// runNode does the job on standard input and writes the result to standard output. It writes an
// empty result when it is ready, and begins when it has read true. If it fails, it writes a result
// with the Failure.
func runNode() {
	out := json.NewEncoder(os.Stdout)
	r, err := serve(os.Stdin, out)
	if err != nil {
		r = &result{Failure: err.Error()}
	}
	if err := out.Encode(r); err != nil {
		log.Fatal("node: ", err)
	}
}

func serve(in io.Reader, out *json.Encoder) (*result, error) {
	var j job
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&j); err != nil {
		return nil, err
	}
	ctx := context.Background()
	n, err := openNode(ctx, &j)
	if err != nil {
		return nil, err
	}
	if err := out.Encode(&result{}); err != nil {
		return nil, err
	}
	var begin bool
	if err := decoder.Decode(&begin); err != nil {
		return nil, err
	}
	measure := n.run
	if j.Load.Exchange {
		measure = n.exchange
	}
	r, err := measure(ctx)
	return r, errors.Join(err, closeLimiter(n.limiter))
}

// node does a job.
type node struct {
	*job
	limiter limiter
	users   []string
	order   []int
	allowed []atomic.Uint32 // per user; nil if the number doesn't matter
	refused []atomic.Bool   // the same
	workers []worker
	stopped atomic.Bool
	problem atomic.Pointer[string]
}

// worker counts what one goroutine has done.
type worker struct {
	asked, allowed, failed atomic.Int64
	_                      [104]byte // workers don't share a cache line
}

func openNode(ctx context.Context, j *job) (*node, error) {
	each := max(1, j.Load.Goroutines/j.Load.Nodes)
	at := site{address: j.Address, goroutines: each, rules: j.Load.Rules, program: j.Program}
	if j.Load.Exchange {
		at.interval = time.Minute // longer than a run: the node calls Exchange itself
	}
	l, err := openLimiter(ctx, j.Limiter, at)
	if err != nil {
		return nil, err
	}
	n := &node{job: j, limiter: l, users: j.Load.users(), order: j.Load.order(j.Node), workers: make([]worker, each)}
	if j.Load.Rules == chat {
		n.allowed, n.refused = make([]atomic.Uint32, len(n.users)), make([]atomic.Bool, len(n.users))
	}
	return n, nil
}

// run runs the load and measures.
func (n *node) run(ctx context.Context) (*result, error) {
	var done sync.WaitGroup
	for i := range n.workers {
		done.Go(func() { n.work(ctx, i) })
	}
	var before, after result
	if n.Load.Fill {
		err := n.snapshot(&before)
		done.Wait()
		err = errors.Join(err, n.snapshot(&after))
		return n.between(&before, &after), err
	}
	time.Sleep(n.Warmup)
	stop, err := n.startProfile()
	if err != nil {
		return nil, err
	}
	err = n.snapshot(&before)
	time.Sleep(n.Seconds)
	err = errors.Join(err, n.snapshot(&after))
	stop()
	n.stopped.Store(true)
	done.Wait()
	return n.between(&before, &after), err
}

// work checks messages until the node stops.
func (n *node) work(ctx context.Context, i int) {
	w := &n.workers[i]
	if n.Load.Fill {
		for user := i; user < len(n.users); user += len(n.workers) {
			n.ask(ctx, w, user)
			n.ask(ctx, w, user)
		}
		return
	}
	for at := i * len(n.order) / len(n.workers); !n.stopped.Load(); at++ {
		n.ask(ctx, w, n.order[at%len(n.order)])
	}
}

// ask checks one message.
func (n *node) ask(ctx context.Context, w *worker, user int) {
	allowed, err := n.limiter.check(ctx, n.users[user])
	if err != nil {
		w.failed.Add(1)
		if n.problem.Load() == nil {
			text := err.Error()
			n.problem.Store(&text)
		}
		return
	}
	if allowed {
		w.allowed.Add(1)
		if n.allowed != nil {
			n.allowed[user].Add(1)
		}
	} else if n.refused != nil && !n.refused[user].Load() {
		n.refused[user].Store(true)
	}
	w.asked.Add(1)
}

// snapshot sets the counts and times so far.
func (n *node) snapshot(r *result) error {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.Wall, r.Processor, r.Mallocs = time.Duration(time.Now().UnixNano()), report.ProcessorTime(), memory.Mallocs
	if g, ok := n.limiter.(*guard); ok {
		s := g.Shared().Counts()
		r.RoundTrips, r.Offline = s.Swaps+s.Conflicts, s.Offline
	}
	if s, ok := n.limiter.(*served); ok {
		used, err := s.processorTime()
		if err != nil {
			return err
		}
		r.Processor += used
	}
	for i := range n.workers {
		w := &n.workers[i]
		r.Asked += w.asked.Load()
		r.Allowed += w.allowed.Load()
		r.Failed += w.failed.Load()
	}
	return nil
}

// between returns what was done between two snapshots.
func (n *node) between(a, b *result) *result {
	r := &result{
		Asked: b.Asked - a.Asked, Allowed: b.Allowed - a.Allowed, Failed: b.Failed - a.Failed,
		Wall: b.Wall - a.Wall, Processor: b.Processor - a.Processor, Mallocs: b.Mallocs - a.Mallocs,
		RoundTrips: b.RoundTrips - a.RoundTrips, Offline: b.Offline,
	}
	for i := range n.workers {
		r.Refused += n.workers[i].asked.Load() - n.workers[i].allowed.Load()
	}
	if problem := n.problem.Load(); problem != nil {
		r.Problem = *problem
	}
	for i := range n.allowed {
		count := 2 * uint64(n.allowed[i].Load())
		if n.refused[i].Load() {
			count++
		}
		r.Counts = binary.AppendUvarint(r.Counts, count)
	}
	return r
}

// add adds what another node has done at the same time.
func (r *result) add(other *result) error {
	r.Asked += other.Asked
	r.Allowed += other.Allowed
	r.Failed += other.Failed
	r.Refused += other.Refused
	r.Wall = max(r.Wall, other.Wall)
	r.Processor += other.Processor
	r.Mallocs += other.Mallocs
	r.RoundTrips += other.RoundTrips
	r.Offline += other.Offline
	if r.Problem == "" {
		r.Problem = other.Problem
	}
	for user, rest := 0, other.Counts; len(rest) > 0; user++ {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return errors.New("a node's counts can't be read")
		}
		if user == len(r.users) {
			r.users = append(r.users, tally{})
		}
		r.users[user].allowed += n / 2
		r.users[user].refused = r.users[user].refused || n%2 == 1
		rest = rest[size:]
	}
	return nil
}

// startProfile starts a processor profile, if one is wanted.
func (n *node) startProfile() (stop func(), err error) {
	if n.Profile == "" {
		return func() {}, nil
	}
	file, err := os.Create(n.Profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // a profile that can't be written is noticed when it is read
	}, nil
}
