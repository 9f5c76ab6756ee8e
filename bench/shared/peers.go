package main

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	throttledlib "github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	ululelib "github.com/ulule/limiter/v3"
	ululestore "github.com/ulule/limiter/v3/drivers/store/redis"
)

// newGoRedis returns a client with a connection for each goroutine, so that none waits for another.
func newGoRedis(at site) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: at.address, PoolSize: at.goroutines})
}

// rates is redis_rate with one or two limits. It asks for the second only if the first allows the
// message. What the first has counted is lost then if the second refuses.
type rates struct {
	limiter *redis_rate.Limiter
	limits  []redis_rate.Limit
}

func openRedisRate(_ context.Context, at site) (limiter, error) {
	return rates{redis_rate.NewLimiter(newGoRedis(at)), []redis_rate.Limit{at.rules.rate()}}, nil
}

// rate returns the first limit as redis_rate's.
func (r rules) rate() redis_rate.Limit {
	size, refilled := r.bucket()
	if refilled < time.Millisecond {
		return redis_rate.Limit{Rate: int(time.Second / refilled), Period: time.Second, Burst: size}
	}
	return redis_rate.Limit{Rate: 1, Period: refilled, Burst: size}
}

func openRedisRate2(ctx context.Context, at site) (limiter, error) {
	l, err := openRedisRate(ctx, at)
	if err != nil {
		return nil, err
	}
	r := l.(rates)
	n := at.rules.daily()
	r.limits = append(r.limits, redis_rate.Limit{Rate: n, Period: day, Burst: n})
	return r, nil
}

func (r rates) check(ctx context.Context, userID string) (bool, error) {
	for i, limit := range r.limits {
		key := userID
		if i > 0 {
			key = "day:" + userID
		}
		result, err := r.limiter.Allow(ctx, key, limit)
		if err != nil || result.Allowed == 0 {
			return false, err
		}
	}
	return true, nil
}

// gcra is throttled/throttled.
type gcra struct {
	limiter *throttledlib.GCRARateLimiterCtx
}

func openThrottled(_ context.Context, at site) (limiter, error) {
	store, err := goredisstore.NewCtx(newGoRedis(at), "throttled:")
	if err != nil {
		return nil, err
	}
	size, refilled := at.rules.bucket()
	quota := throttledlib.RateQuota{MaxRate: throttledlib.PerDuration(1, refilled), MaxBurst: size - 1}
	l, err := throttledlib.NewGCRARateLimiterCtx(store, quota)
	return gcra{l}, err
}

func (g gcra) check(ctx context.Context, userID string) (bool, error) {
	limited, _, err := g.limiter.RateLimitCtx(ctx, userID, 1)
	return !limited && err == nil, err
}

// counter is ulule/limiter. Its windows begin with a user's first message.
type counter struct{ limiter *ululelib.Limiter }

func openUlule(_ context.Context, at site) (limiter, error) {
	store, err := ululestore.NewStore(newGoRedis(at))
	if err != nil {
		return nil, err
	}
	size, refilled := at.rules.bucket()
	rate := ululelib.Rate{Period: time.Duration(size) * refilled, Limit: int64(size)}
	return counter{ululelib.New(store, rate)}, nil
}

func (c counter) check(ctx context.Context, userID string) (bool, error) {
	result, err := c.limiter.Get(ctx, userID)
	return err == nil && !result.Reached, err
}
