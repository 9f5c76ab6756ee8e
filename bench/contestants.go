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
	batch  = 16  // messages per call, and of one CheckAll
	burst  = 3   // messages at once
	shards = 256 // of everything that is sharded here
)

// asker asks one limiter about messages, at most a batch, one after the other unless its name says otherwise. It returns how many passed.
type asker interface {
	take(messages []draw) (passed int)
}

// forker is an asker with scratch space, of which each goroutine needs its own. Other askers are safe for concurrent use.
type forker interface{ fork() asker }

// contestant is one way of deciding, as it stands in the tables.
type contestant struct {
	name     string
	enforces string
	peer     bool // a limiter that chatguard is compared with
	bucket   bool // and one that enforces a real token bucket
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

// fill lets every user of the crowd write a number of times in a row. Each message brings its ID in memory of its own, so that a limiter
// that keeps the string keeps nothing else alive.
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

// shut ends what the asker's limiter has running.
func shut(a asker) error {
	if c, ok := a.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// throttledPeer is GCRA over the store without an upper bound: one map under an RWMutex. Its bounded store is an LRU under a mutex, which costs more.
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

// shardedMap is the plain way to keep something per user. The zero value isn't ready; init makes it.
type shardedMap[V any] struct {
	seed   maphash.Seed
	shards [shards]mapShard[V]
}

type mapShard[V any] struct {
	mu sync.Mutex
	m  map[string]V
	_  [48]byte // no two locks share a cache line
}

func (s *shardedMap[V]) init(users int) {
	s.seed = maphash.MakeSeed()
	for i := range s.shards {
		s.shards[i].m = make(map[string]V, users/shards)
	}
}

func (s *shardedMap[V]) of(id string) *mapShard[V] {
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
		if p.of(messages[i].id).Allow() {
			passed++
		}
	}
	return passed
}

func (p *timeRate) of(id string) *rate.Limiter {
	s := p.users.of(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.m[id]
	if l == nil {
		l = rate.NewLimiter(p.every, burst)
		s.m[id] = l
	}
	return l
}

// goLimiter calls itself a token bucket, but gives all tokens back at the end of each interval, counted from the user's first message.
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

// Close ends the goroutine with which the store forgets users.
func (p goLimiter) Close() error { return p.store.Close(context.Background()) }

// httpRate does what RateLimiter.OnLimit does around its local counter, without HTTP: two counts are weighed and one is written under a
// lock of the limiter. It reads the clock once, where OnLimit reads it twice; OnLimit itself can't be called without a request and headers.
// It keeps no user for longer than two windows.
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

// ululePeer counts in windows that start with a user's first message. Its cleaner is off: it would drop users while they are measured.
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

// bareMap counts and limits nothing: what keeping 8 bytes per user costs the plain way. Go's map takes over the string of each update as
// its key, so this one alone comes to share memory with the messages.
type bareMap struct{ users shardedMap[uint64] }

func newBareMap(users int, _ time.Duration) (asker, error) {
	p := &bareMap{}
	p.users.init(users)
	return p, nil
}

func (p *bareMap) take(messages []draw) (passed int) {
	for i := range messages {
		s := p.users.of(messages[i].id)
		s.mu.Lock()
		s.m[messages[i].id]++
		s.mu.Unlock()
	}
	return len(messages)
}
