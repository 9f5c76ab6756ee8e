package main

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// twoLimitsScript judges a message by a token bucket and a count per day, all or nothing, and gives
// strikes. It returns how long to wait, in microseconds. Numbers are written with %.0f, because
// Lua's own format has only 14 digits.
//
// The arguments: time, refill, bucket size, day, messages per day, time between strikes, expiry in
// milliseconds; times are in microseconds.
const twoLimitsScript = `
local now, refill, size = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local row = redis.call('HMGET', KEYS[1], 'full', 'day', 'count', 'strikes', 'struck')
local full = math.max(tonumber(row[1] or '0'), now) + refill
local count = 0
if row[2] == ARGV[4] then count = tonumber(row[3]) end
local wait = full - now - size * refill
if count >= tonumber(ARGV[5]) then wait = math.max(wait, 86400000000 - now % 86400000000) end
if wait <= 0 then
  redis.call('HSET', KEYS[1], 'full', string.format('%.0f', full), 'day', ARGV[4], 'count', count + 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[7])
  return 0
end
if now - tonumber(row[5] or '0') >= tonumber(ARGV[6]) then
  redis.call('HSET', KEYS[1], 'strikes', tonumber(row[4] or '0') + 1, 'struck', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[7])
end
return math.ceil(wait)
`

// bucketAndDay is a script with all the logic, over the client that redisstore uses.
type bucketAndDay struct {
	client              rueidis.Client
	script              *rueidis.Lua
	refill, size, daily string
}

func openTwoLimits(_ context.Context, at site) (limiter, error) {
	client, err := newRueidis(at.address)
	size, refilled := at.rules.bucket()
	return bucketAndDay{
		client: client, script: rueidis.NewLuaScript(twoLimitsScript),
		refill: strconv.FormatInt(refilled.Microseconds(), 10), size: strconv.Itoa(size), daily: strconv.Itoa(at.rules.daily()),
	}, err
}

// strikeEvery is the time between two strikes in microseconds, as in the default policy.
const strikeEvery = "10000000"

// expiry is a day in milliseconds.
const expiry = "86400000"

func (b bucketAndDay) check(ctx context.Context, userID string) (bool, error) {
	now := time.Now()
	wait, err := b.script.Exec(ctx, b.client, []string{"two:" + userID}, []string{
		strconv.FormatInt(now.UnixMicro(), 10), b.refill, b.size,
		strconv.FormatInt(now.Unix()/86400, 10), b.daily, strikeEvery, expiry,
	}).AsInt64()
	return err == nil && wait == 0, err
}

// rapidityScript takes up to ARGV[3] messages of a window that begins with the first one. It
// returns how many it got, how long the window lasts, and the server's time. It does what the
// script of the library Rapidity does.
const rapidityScript = `
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2], 'NX')
local got = tonumber(ARGV[3])
local left = redis.call('DECRBY', KEYS[1], got)
if left < 0 then
  got = math.max(0, got + left)
  redis.call('INCRBY', KEYS[1], -left)
end
return {got, redis.call('TTL', KEYS[1]), redis.call('TIME')}
`

// windowByWindow asks window after window, and stops at the first that has nothing left. What the
// windows before it have counted is lost then.
type windowByWindow struct {
	take func(ctx context.Context, key string, w window) (got int64, err error)
}

func (w windowByWindow) check(ctx context.Context, userID string) (bool, error) {
	for _, one := range windows {
		if got, err := w.take(ctx, "rapidity:"+one.name+":"+userID, one); err != nil || got == 0 {
			return false, err
		}
	}
	return true, nil
}

func (w window) arguments() (messages, seconds string) {
	return strconv.Itoa(w.messages), strconv.Itoa(int(w.length.Seconds()))
}

// openRapidity uses a pool of connections, each for one call at a time, like the clients for which
// Rapidity was written.
func openRapidity(_ context.Context, at site) (limiter, error) {
	client, script := newGoRedis(at), redis.NewScript(rapidityScript)
	return windowByWindow{func(ctx context.Context, key string, w window) (int64, error) {
		messages, seconds := w.arguments()
		reply, err := script.Run(ctx, client, []string{key}, messages, seconds, 1).Slice()
		if err != nil {
			return 0, err
		}
		got, _ := reply[0].(int64)
		return got, nil
	}}, nil
}

// openRapidity2 uses the client that redisstore uses.
func openRapidity2(_ context.Context, at site) (limiter, error) {
	client, err := newRueidis(at.address)
	script := rueidis.NewLuaScript(rapidityScript)
	return windowByWindow{func(ctx context.Context, key string, w window) (int64, error) {
		messages, seconds := w.arguments()
		reply, err := script.Exec(ctx, client, []string{key}, []string{messages, seconds, "1"}).ToArray()
		if err != nil {
			return 0, err
		}
		return reply[0].AsInt64()
	}}, err
}
