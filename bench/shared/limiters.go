package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

// limiter checks messages. It is safe for concurrent use.
type limiter interface {
	check(ctx context.Context, userID string) (allowed bool, err error)
}

// site is where a limiter runs.
type site struct {
	address    string // of the server
	goroutines int    // that use the limiter
	rules      rules
	interval   time.Duration // between two exchanges; 0 means the default
	program    string        // path of the command chatguard
}

// limiterName names a limiter in the tables.
type limiterName string

const (
	ours       limiterName = "chatguard"
	alone      limiterName = "chatguard, not shared"
	inMemory   limiterName = "chatguard, synchronised"
	overHTTP   limiterName = "chatguard run"
	aloneHTTP  limiterName = "chatguard run, not shared"
	ping       limiterName = "PING"
	redisRate  limiterName = "redis_rate"
	redisRate2 limiterName = "redis_rate × 2"
	redisRate3 limiterName = "redis_rate, rueidis"
	throttled  limiterName = "throttled"
	ulule      limiterName = "ulule"
	twoLimits  limiterName = "Lua, two limits"
	rapidity   limiterName = "Rapidity's way"
	rapidity2  limiterName = "Rapidity's way, rueidis"
)

// limiters open the contestants.
var limiters = map[limiterName]func(context.Context, site) (limiter, error){
	ours: openOurs, alone: openAlone, inMemory: openInMemory, overHTTP: openServed, aloneHTTP: openServedAlone, ping: openPing,
	redisRate: openRedisRate, redisRate2: openRedisRate2, redisRate3: openRedisRate3, throttled: openThrottled, ulule: openUlule,
	twoLimits: openTwoLimits, rapidity: openRapidity, rapidity2: openRapidity2,
}

// usesProgram reports whether the limiter is the command chatguard.
func (l limiterName) usesProgram() bool { return l == overHTTP || l == aloneHTTP }

// shares reports whether nodes with this limiter share limits.
func (l limiterName) shares() bool { return l != alone && l != aloneHTTP }

// rules are what a limiter enforces.
type rules string

const (
	chat        rules = "chat"         // 3 messages at once and one per 4 s, 300 per day
	large       rules = "large"        // so much that every message is allowed
	fiveWindows rules = "five windows" // a minute, an hour, a day, a week, 30 days
)

// The numbers of the rules chat.
const (
	burst  = 3
	refill = 4 * time.Second
	daily  = 300
)

// The numbers of the rules large.
const (
	largeBurst  = 1_000_000
	largeRefill = time.Microsecond
	largeDaily  = math.MaxInt32
)

// bucket returns the numbers of the first limit.
func (r rules) bucket() (size int, refilled time.Duration) {
	if r == large {
		return largeBurst, largeRefill
	}
	return burst, refill
}

// daily returns the number of the second limit.
func (r rules) daily() int {
	if r == large {
		return largeDaily
	}
	return daily
}

// window is one of the fiveWindows.
type window struct {
	name     string
	messages int
	length   time.Duration
}

const day = 24 * time.Hour

var windows = []window{
	{"minute", 300, time.Minute}, {"hour", 15_750, time.Hour}, {"day", 300_000, day},
	{"week", 1_500_000, 7 * day}, {"month", 6_000_000, 30 * day},
}

func (r rules) policy() chatguard.Policy {
	p := chatguard.DefaultPolicy() // with strikes
	p.Timezone = "Europe/Berlin"
	if r == fiveWindows {
		p.Limits = nil
		for _, w := range windows {
			p.Limits = append(p.Limits, chatguard.UserWindowLimit(w.name, w.messages, w.length))
		}
		return p
	}
	size, refilled := r.bucket()
	p.Limits = []chatguard.Limit{
		chatguard.TokenBucketLimit("burst", size, refilled), chatguard.DailyWindowLimit("daily", r.daily()),
	}
	return p
}

// guard is chatguard, with or without a Shared store.
type guard struct {
	*chatguard.Guard
	store *redisstore.Store
	end   context.CancelFunc
	ended chan error
}

// storeTimeout is longer than the default. Otherwise a node that gets no processor for a while
// would decide without the server.
const storeTimeout = 2 * time.Second

func openOurs(ctx context.Context, at site) (limiter, error) {
	return openShared(ctx, at, shared.Exact)
}

func openInMemory(ctx context.Context, at site) (limiter, error) {
	return openShared(ctx, at, shared.Synchronised)
}

func openShared(ctx context.Context, at site, mode shared.Mode) (limiter, error) {
	store, err := redisstore.Open(ctx, "redis://"+at.address, &redisstore.Options{
		Timeout: storeTimeout, Interval: at.interval, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	g, err := chatguard.New(at.rules.policy(), &chatguard.Options{Shared: store, SharedMode: mode})
	if err != nil {
		return nil, err
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	l := &guard{Guard: g, store: store, end: end, ended: make(chan error, 1)}
	go func() { l.ended <- store.Run(running, g) }()
	return l, nil
}

func openAlone(_ context.Context, at site) (limiter, error) {
	g, err := chatguard.New(at.rules.policy(), nil)
	return &guard{Guard: g}, err
}

func (g *guard) check(ctx context.Context, userID string) (bool, error) {
	v, err := g.Check(ctx, chatguard.Message{ChannelID: "1", User: chatguard.User{ID: userID}})
	return v.Allowed, err
}

// Close ends the store's background work.
func (g *guard) Close() error {
	if g.store == nil {
		return nil
	}
	g.end()
	if err := <-g.ended; err != nil {
		return err
	}
	return g.store.Close()
}

// pinger shows what a round trip costs.
type pinger struct{ client rueidis.Client }

func openPing(_ context.Context, at site) (limiter, error) {
	client, err := newRueidis(at.address)
	return pinger{client}, err
}

func (p pinger) check(ctx context.Context, _ string) (bool, error) {
	return true, p.client.Do(ctx, p.client.B().Ping().Build()).Error()
}

// openLimiter opens the limiter with that name.
func openLimiter(ctx context.Context, name limiterName, at site) (limiter, error) {
	open := limiters[name]
	if open == nil {
		return nil, fmt.Errorf("there is no limiter %q", name)
	}
	l, err := open(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// closeLimiter closes a limiter that runs something in the background.
func closeLimiter(l limiter) error {
	if c, ok := l.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
