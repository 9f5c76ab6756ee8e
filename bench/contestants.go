package main

import (
	"context"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/httprate"
	golimiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	ululestore "github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"
)

const (
	batch  = 16 // messages per call, and per CheckAll
	burst  = 3
	shards = 256 // shards of each sharded structure
)

// asker checks messages with one limiter. A call takes at most a batch and checks one message at a
// time, unless the asker's name says otherwise. It returns how many messages passed.
type asker interface {
	take(messages []draw) (passed int)
}

// forker is an asker that has scratch space, so each goroutine needs its own. Other askers are safe
// for concurrent use.
type forker interface{ fork() asker }

// contestant is one limiter as listed in the tables.
type contestant struct {
	name     string
	enforces string
	peer     bool // a limiter to compare chatguard with
	bucket   bool // it enforces a true token bucket
	open     func(users int, refill time.Duration) (asker, error)
}

var contestants = slices.Concat(guards, peers, floors)

var peers = []contestant{
	{"throttled/throttled", "token bucket", true, true, newThrottled},
	{"x/time/rate, sharded map", "token bucket", true, true, newTimeRate},
	{"sethvargo/go-limiter", "user window", true, false, newGoLimiter},
	{"go-chi/httprate", "sliding window", true, false, newHTTPRate},
	{"ulule/limiter", "user window", true, false, newUlule},
	{"bare sharded map", "nothing", false, false, newBareMap},
}

// fork returns an asker for another goroutine.
func fork(a asker) asker {
	if f, ok := a.(forker); ok {
		return f.fork()
	}
	return a
}

// fill makes every user of the crowd write several messages in a row. Each message's ID has its own
// memory. A limiter that keeps the ID therefore keeps no other memory alive.
func fill(a asker, crowd []uint64, times int) {
	var messages [batch]draw
	n := 0
	for _, id := range crowd {
		for range times {
			messages[n] = draw{id: strconv.FormatUint(id, 10)}
			if n++; n == batch {
				a.take(messages[:])
				n = 0
			}
		}
	}
	a.take(messages[:n])
}

// closeAsker closes the asker's limiter if it runs anything in the background.
func closeAsker(a asker) error {
	if c, ok := a.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// throttledPeer is GCRA with the unbounded store: one map under an RWMutex. The bounded store is an
// LRU under a mutex, which costs more.
type throttledPeer struct{ limiter *throttled.GCRARateLimiterCtx }

func newThrottled(_ int, refill time.Duration) (asker, error) {
	store, err := memstore.NewCtx(0)
	if err != nil {
		return nil, err
	}
	quota := throttled.RateQuota{MaxRate: throttled.PerDuration(1, refill), MaxBurst: burst - 1}
	l, err := throttled.NewGCRARateLimiterCtx(store, quota)
	return throttledPeer{l}, err
}

func (p throttledPeer) take(messages []draw) (passed int) {
	ctx := context.Background()
	for i := range messages {
		if limited, _, err := p.limiter.RateLimitCtx(ctx, messages[i].id, 1); err == nil && !limited {
			passed++
		}
	}
	return passed
}

// shardedMap is the straightforward way to keep a value per user. Call init before use.
type shardedMap[V any] struct {
	seed   maphash.Seed
	shards [shards]mapShard[V]
}

type mapShard[V any] struct {
	mu sync.Mutex
	m  map[string]V
	_  [48]byte // locks don't share a cache line
}

func (s *shardedMap[V]) init(users int) {
	s.seed = maphash.MakeSeed()
	for i := range s.shards {
		s.shards[i].m = make(map[string]V, users/shards)
	}
}

func (s *shardedMap[V]) shardOf(id string) *mapShard[V] {
	return &s.shards[maphash.String(s.seed, id)%shards]
}

// timeRate has a rate.Limiter per user.
type timeRate struct {
	users shardedMap[*rate.Limiter]
	every rate.Limit
}

func newTimeRate(users int, refill time.Duration) (asker, error) {
	p := &timeRate{every: rate.Every(refill)}
	p.users.init(users)
	return p, nil
}

func (p *timeRate) take(messages []draw) (passed int) {
	for i := range messages {
		if p.limiterOf(messages[i].id).Allow() {
			passed++
		}
	}
	return passed
}

func (p *timeRate) limiterOf(id string) *rate.Limiter {
	s := p.users.shardOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.m[id]
	if l == nil {
		l = rate.NewLimiter(p.every, burst)
		s.m[id] = l
	}
	return l
}

// goLimiter calls itself a token bucket, but it refills all tokens at the end of each interval.
// Intervals begin with the user's first message.
type goLimiter struct{ store golimiter.Store }

func newGoLimiter(users int, refill time.Duration) (asker, error) {
	store, err := memorystore.New(&memorystore.Config{Tokens: burst, Interval: burst * refill, InitialAlloc: users})
	return goLimiter{store}, err
}

func (p goLimiter) take(messages []draw) (passed int) {
	ctx := context.Background()
	for i := range messages {
		if _, _, _, ok, err := p.store.Take(ctx, messages[i].id); err == nil && ok {
			passed++
		}
	}
	return passed
}

// Close stops the goroutine that evicts users from the store.
func (p goLimiter) Close() error { return p.store.Close(context.Background()) }

// httpRate imitates RateLimiter.OnLimit with its local counter, without HTTP. It reads two counts
// and writes one of them under the limiter's lock. It reads the clock once; OnLimit reads it twice.
// OnLimit itself can't be called without a request and headers. The counter keeps a user for at
// most two windows.
type httpRate struct {
	mu      sync.Mutex
	counter httprate.LimitCounter
	window  time.Duration
}

func newHTTPRate(_ int, refill time.Duration) (asker, error) {
	p := &httpRate{window: burst * refill, counter: httprate.NewLocalLimitCounter(burst * refill)}
	p.counter.Config(burst, p.window)
	return p, nil
}

func (p *httpRate) take(messages []draw) (passed int) {
	for i := range messages {
		if p.allow(messages[i].id) {
			passed++
		}
	}
	return passed
}

func (p *httpRate) allow(id string) bool {
	now := time.Now().UTC()
	current := now.Truncate(p.window)
	p.mu.Lock()
	defer p.mu.Unlock()
	count, previous, err := p.counter.Get(id, current, current.Add(-p.window))
	if err != nil {
		return false
	}
	used := float64(previous)*float64(p.window-now.Sub(current))/float64(p.window) + float64(count)
	return int(math.Round(used))+1 <= burst && p.counter.IncrementBy(id, current, 1) == nil
}

// ululePeer counts in windows that start with a user's first message. Its cleaner is off, because
// it would drop users during the measurement.
type ululePeer struct{ limiter *ulule.Limiter }

func newUlule(_ int, refill time.Duration) (asker, error) {
	store := ululestore.NewStoreWithOptions(ulule.StoreOptions{Prefix: ulule.DefaultPrefix})
	return ululePeer{ulule.New(store, ulule.Rate{Period: burst * refill, Limit: burst})}, nil
}

func (p ululePeer) take(messages []draw) (passed int) {
	ctx := context.Background()
	for i := range messages {
		if c, err := p.limiter.Get(ctx, messages[i].id); err == nil && !c.Reached {
			passed++
		}
	}
	return passed
}

// bareMap counts and limits nothing. It shows what 8 bytes per user cost in a plain map. On each
// update, Go's map replaces its key with the new string. Therefore bareMap is the only contestant
// whose keys share memory with the messages after some time.
type bareMap struct{ users shardedMap[uint64] }

func newBareMap(users int, _ time.Duration) (asker, error) {
	p := &bareMap{}
	p.users.init(users)
	return p, nil
}

func (p *bareMap) take(messages []draw) (passed int) {
	for i := range messages {
		s := p.users.shardOf(messages[i].id)
		s.mu.Lock()
		s.m[messages[i].id]++
		s.mu.Unlock()
	}
	return len(messages)
}
