package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/shared"
)

// errNotSent means that a call wasn't sent: its context ended while it waited for its turn, there
// is no connection yet, or the Store is closed.
var errNotSent = errors.New("the call wasn't sent in time")

type (
	command = rueidis.Completed
	builder = rueidis.Builder
	// build builds a command. It does so for each attempt, because the client uses a command once.
	build = func(builder) command
)

func ping(b builder) command { return b.Ping().Build() }

// builder returns a builder of commands, or false if there is no client yet.
func (s *server) builder() (builder, bool) {
	client := s.client.Load()
	if client == nil {
		return builder{}, false
	}
	return (*client).B(), true
}

// send sends commands in one flush, and returns their results when all are there. It can use room
// for a single result. If it returns errNotSent, no command was sent: ctx ended first, or the Store
// is closed. After any other error, ctx has ended, and the commands may or may not have been
// executed.
//
// Usually it calls the client in the caller's goroutine. The client may then wait for a new
// connection, even after ctx has ended. So after a connection broke or didn't answer, send calls
// the client in another goroutine, until a call is answered. At most maxCalls calls are sent at the
// same time.
func (s *server) send(ctx context.Context, room []rueidis.RedisResult, commands ...command) ([]rueidis.RedisResult, error) {
	if ctx.Err() != nil {
		return nil, errNotSent
	}
	select {
	case s.calls <- struct{}{}:
	default:
		select {
		case s.calls <- struct{}{}:
		case <-ctx.Done():
			return nil, errNotSent
		}
	}
	client := *s.client.Load()
	if !s.conns.doubtful.Load() {
		results := do(ctx, client, room, commands)
		<-s.calls
		if ctx.Err() != nil {
			s.conns.doubtful.Store(true)
		}
		return results, nil
	}
	answers, sent := make(chan []rueidis.RedisResult, 1), slices.Clone(commands)
	started := s.spawn(func() {
		answers <- do(context.Background(), client, nil, sent) // ends when the connection breaks
		<-s.calls
	})
	if !started {
		<-s.calls
		return nil, errNotSent
	}
	select {
	case results := <-answers:
		return results, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// do sends commands in one flush. One command alone needs less memory.
func do(ctx context.Context, client rueidis.Client, room []rueidis.RedisResult, commands []command) []rueidis.RedisResult {
	if len(commands) == 1 {
		return append(room[:0], client.Do(ctx, commands[0]))
	}
	return client.DoMulti(ctx, commands...)
}

// request sends commands that may be executed twice, and retries until the server answers or the
// time is over. It notes for the breaker whether there was an answer. While the store is away, it
// returns at once.
func (s *server) request(ctx context.Context, builds ...build) ([]rueidis.RedisResult, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	return s.requestAnyway(ctx, builds...)
}

// requestAnyway is request, but also sends while the store is away.
func (s *server) requestAnyway(ctx context.Context, builds ...build) ([]rueidis.RedisResult, error) {
	began := s.since()
	var cause error
	for attempt := 0; ; attempt++ {
		b, ok := s.builder()
		if !ok {
			return nil, errNotSent
		}
		commands := make([]command, len(builds))
		for i, build := range builds {
			commands[i] = build(b)
		}
		results, err := s.send(ctx, nil, commands...)
		if err == nil {
			if err = firstPassing(results); err == nil {
				s.conns.doubtful.Store(false)
				s.breaker.succeed(s.since())
				return results, nil
			}
		}
		if cause == nil || ctx.Err() == nil {
			cause = err
		}
		if !pause(ctx, attempt) {
			cause = withWait(ctx, cause)
			s.failed(ctx, began, cause)
			return nil, cause
		}
	}
}

// ask is like request, but its errors are those that callers get. It also returns an error if the
// server refuses a command.
func (s *server) ask(ctx context.Context, builds ...build) ([]rueidis.RedisResult, error) {
	results, err := s.request(ctx, builds...)
	if err != nil {
		return nil, s.unknown(ctx, err)
	}
	for i, result := range results {
		if err := result.Error(); err != nil && !rueidis.IsRedisNil(err) {
			b, _ := s.builder()
			return nil, s.refused(s.named(ctx, err, keysOf(builds[i](b))...))
		}
	}
	return results, nil
}

// failed notes a call without an answer. If only its caller's context has ended, that says nothing
// about the server.
func (s *server) failed(ctx context.Context, began int64, cause error) {
	if interrupted(ctx, cause) {
		if !errors.Is(cause, errNotSent) {
			s.inquire(began)
		}
		return
	}
	if s.breaker.fail(began, s.since()) {
		s.goAway(cause)
	}
}

// interrupted reports whether a call has no answer only because its caller's context ended before
// this package's own timeout.
func interrupted(ctx context.Context, cause error) bool {
	ended := cause == nil || cause == context.Canceled || cause == context.DeadlineExceeded || errors.Is(cause, errNotSent)
	return ended && ctx.Err() != nil && timedOut(ctx) == nil
}

// firstPassing returns the first error that another attempt may fix.
func firstPassing(results []rueidis.RedisResult) error {
	for _, result := range results {
		if err := result.Error(); err != nil && !rueidis.IsRedisNil(err) && again(err) {
			return err
		}
	}
	return nil
}

// again reports whether a command should be sent again: its reply was lost, or the server can't
// answer yet.
func again(err error) bool {
	if _, replied := rueidis.IsRedisErr(err); replied {
		return passing(replyCode(err))
	}
	return true
}

// pause waits before another attempt: not at all before the second, then 1, 2, 4 and 8 ms, and from
// then on 10 ms. It returns false if ctx has ended.
func pause(ctx context.Context, attempt int) bool {
	if attempt > 0 {
		sleep(ctx, min(time.Millisecond<<min(attempt-1, 4), 10*time.Millisecond))
	}
	return ctx.Err() == nil
}

// refusedChange is why the server has refused a change.
type refusedChange struct {
	problem string
	key     string // one that was to be changed
}

// changeRefused is the error of a change that the server refuses. Health has the problem until the
// server makes a change, on a Cluster one in the same slot.
func (s *server) changeRefused(err error, key string) error {
	problem, _ := s.explain.problem(err)
	s.refusing.Store(&refusedChange{problem, key})
	return &storeError{problem, []error{shared.ErrRefused}}
}

// refused returns the error for a command that the server refuses.
func (s *server) refused(err error) error {
	problem, _ := s.explain.problem(err)
	return &storeError{problem, []error{shared.ErrRefused}}
}

// unknown returns the error for a call without an outcome.
func (s *server) unknown(ctx context.Context, cause error) error {
	cause = withWait(ctx, cmp.Or(cause, ctx.Err()))
	if interrupted(ctx, cause) {
		ended := context.Cause(ctx)
		return away(fmt.Sprintf("%s: the call ended before its answer: %v", s.where, ended), ended)
	}
	problem, _ := s.explain.problem(cause)
	if parent := context.Cause(ctx); parent != nil && !errors.Is(parent, context.DeadlineExceeded) {
		return away(fmt.Sprintf("%s: %v", problem, parent), parent)
	}
	return away(problem)
}
