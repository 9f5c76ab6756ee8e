package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// newRueidis returns a client with the settings of redisstore's: one connection for all goroutines,
// which lets other goroutines add commands after each write.
func newRueidis(address string) (rueidis.Client, error) {
	return rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{address}, ConnWriteTimeout: time.Second, RingScaleEachConn: 11,
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10, DialCtxFn: dialYielding,
		DisableRetry: true, DisableCache: true, AlwaysPipelining: true, PipelineMultiplex: -1, ForceSingleClient: true,
	})
}

// yielding is a connection as redisstore's.
type yielding struct{ net.Conn }

func dialYielding(ctx context.Context, address string, dialer *net.Dialer, _ *tls.Config) (net.Conn, error) {
	c, err := dialer.DialContext(ctx, "tcp", address)
	return yielding{c}, err
}

// Write writes, and lets other goroutines run.
func (y yielding) Write(b []byte) (int, error) {
	n, err := y.Conn.Write(b)
	runtime.Gosched()
	return n, err
}

// scripter lets redis_rate call its own script over rueidis. Its limiter calls no other methods.
type scripter struct {
	redis.Cmdable // nil
	client        rueidis.Client
}

// openRedisRate3 is redis_rate over the client that redisstore uses.
func openRedisRate3(_ context.Context, at site) (limiter, error) {
	client, err := newRueidis(at.address)
	return rates{redis_rate.NewLimiter(scripter{client: client}), []redis_rate.Limit{at.rules.rate()}}, err
}

// EvalSha implements redis.Scripter.
func (s scripter) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	return s.do(ctx, s.client.B().Evalsha().Sha1(sha1).Numkeys(int64(len(keys))).Key(keys...).Arg(texts(args)...).Build())
}

// Eval implements redis.Scripter.
func (s scripter) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return s.do(ctx, s.client.B().Eval().Script(script).Numkeys(int64(len(keys))).Key(keys...).Arg(texts(args)...).Build())
}

func (s scripter) do(ctx context.Context, command rueidis.Completed) *redis.Cmd {
	reply := redis.NewCmd(ctx)
	value, err := s.client.Do(ctx, command).ToAny()
	if refused, ok := rueidis.IsRedisErr(err); ok && refused.IsNoScript() {
		err = redis.ErrNoScript // so that the caller sends the script
	}
	reply.SetVal(value)
	reply.SetErr(err)
	return reply
}

func texts(args []any) []string {
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = fmt.Sprint(arg)
	}
	return list
}
