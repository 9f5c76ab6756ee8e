package redisstore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/shared"
)

// writer makes changes at the server.
type writer struct {
	server   *server
	replicas replicas
	repeated atomic.Int64 // swaps that were sent again
}

// apply makes the changes, and returns how long it took, in nanoseconds. All attempts have the time
// that ctx leaves.
func (w *writer) apply(ctx context.Context, changes []*change) (took int64) {
	began := w.server.since()
	pending := changes
	for attempt := 0; ; attempt++ {
		if attempt > 0 {
			w.repeated.Add(int64(len(pending)))
		}
		answered, ended := w.attempt(ctx, pending), w.server.since()
		if answered {
			w.server.conns.doubtful.Store(false)
			w.server.breaker.succeed(ended)
		}
		pending = unfinished(pending)
		if len(pending) == 0 {
			return ended - began
		}
		if !pause(ctx, attempt) {
			break
		}
	}
	w.server.failed(ctx, began, withWait(ctx, pending[0].cause))
	for _, c := range pending {
		c.err = w.server.unknown(ctx, c.cause)
	}
	return w.server.since() - began
}

// unfinished returns the changes without an outcome.
func unfinished(changes []*change) []*change {
	var rest []*change
	for _, c := range changes {
		if !c.done && c.err == nil && c.now == nil {
			rest = append(rest, c)
		}
	}
	return rest
}

// attempt sends all changes in one flush, and notes the outcome of each that has one. It reports
// whether the server answered.
func (w *writer) attempt(ctx context.Context, pending []*change) (answered bool) {
	b, ok := w.server.builder()
	if !ok {
		for _, c := range pending {
			c.cause = errNotSent
		}
		return false
	}
	native := w.server.known.Load() != nil && w.server.known.Load().ifEqual
	commands, room := pending[0].command[:0], pending[0].result[:0]
	waits := pending[0].swap != nil && w.replicas.awaited()
	if len(pending) > 1 || waits {
		commands = make([]command, 0, len(pending)+1)
	}
	for _, c := range pending {
		commands = append(commands, c.build(b, native))
	}
	if waits {
		end, _ := ctx.Deadline() // replicas that don't confirm must leave time for the reply
		commands = append(commands, b.Wait().Numreplicas(int64(w.server.options.Replicas)).Timeout(max(1, time.Until(end).Milliseconds()/2)).Build())
	}
	results, err := w.server.send(ctx, room, commands...)
	if err != nil {
		for _, c := range pending {
			c.unanswered(ctx, err)
			c.sent = c.sent || !errors.Is(err, errNotSent)
		}
		return false
	}
	for i, c := range pending {
		answered = w.read(ctx, c, results[i], native) || answered
	}
	if waits {
		w.replicas.note(results[len(pending)].AsInt64())
	}
	return answered
}

// read notes the outcome of a change, if the result has one, and reports whether it does.
func (w *writer) read(ctx context.Context, c *change, result rueidis.RedisResult, native bool) bool {
	err := result.Error()
	if err != nil && !rueidis.IsRedisNil(err) {
		return w.readError(ctx, c, err, native)
	}
	if c.comparesOnly() || native && c.usesSet() {
		now, err := result.ToString()
		if err != nil && !rueidis.IsRedisNil(err) {
			c.err = w.refused(ctx, err, c.keys...)
			return true
		}
		if c.done = now == c.was[0]; !c.done {
			c.conflict([]string{now})
		}
	} else if c.done = err != nil; !c.done { // the script returns nil if it has made the change
		now, err := result.AsStrSlice()
		if err != nil || len(now) != len(c.keys) {
			c.err = w.refused(ctx, errors.New("the server's reply has another form than the script's"), c.keys...)
			return true
		}
		c.conflict(now)
	}
	w.accepted(c)
	return true
}

// readError notes a result that is an error. It reports whether the change has an outcome now.
func (w *writer) readError(ctx context.Context, c *change, err error, native bool) bool {
	var notMade *dialError
	code := replyCode(err)
	switch {
	case code == "NOSCRIPT":
		c.eval, c.cause = true, err
		return false
	case native && code == "ERR" && c.usesSet() && !c.comparesOnly(): // a failover to an older server
		old := *w.server.known.Load()
		old.ifEqual = false
		w.server.known.Store(&old)
		c.cause = err
		return false
	case again(err):
		c.unanswered(ctx, err)
		c.sent = c.sent || code == "" && !errors.As(err, &notMade)
		return false
	}
	c.err = w.refused(ctx, err, slices.Concat(c.keys, c.sets)...)
	return true
}

// refused returns the error of a change of these keys that the server refuses.
func (w *writer) refused(ctx context.Context, err error, keys ...string) error {
	if replyCode(err) != "WRONGTYPE" {
		return w.server.changeRefused(err, keys[0])
	}
	problem, _ := w.server.explain.problem(w.server.named(ctx, err, keys...))
	return &storeError{problem, []error{errOtherType, shared.ErrRefused}}
}

// accepted notes that the server makes changes, if it has made this one. A change that only
// compares doesn't count, because a server whose memory is full makes it, too. On a Cluster,
// another shard may have refused a change.
func (w *writer) accepted(c *change) {
	if c.done && w.server.refusing.Load() != nil && !slices.Equal(c.was, c.is) && w.server.address.kind != cluster {
		w.server.refusing.Store(nil)
	}
}

// tryChange makes a change in the same slot as a key, which shows whether the server refuses it.
func (w *writer) tryChange(ctx context.Context, key string) {
	other := w.server.keys.beside(key, w.server.instance+"."+strconv.FormatInt(w.server.since(), 10))
	if _, done, _ := w.compareAndSet(ctx, other, "", "1", time.Second); done {
		w.server.refusing.Store(nil)
	}
}

// compareAndSet replaces the value of a key if it is still was. The new value expires after the
// given time; 0 means never. If somebody else has changed the value, compareAndSet returns what is
// stored.
func (w *writer) compareAndSet(ctx context.Context, key, was, is string, expires time.Duration) (stored string, done bool, err error) {
	if err := w.server.ready(); err != nil {
		return "", false, err
	}
	ctx, cancel := withTimeout(ctx, w.server.options.Timeout)
	defer cancel()
	c := &change{keys: []string{key}, was: []string{was}, is: []string{is}, until: []string{""}}
	if expires > 0 {
		c.until[0] = strconv.FormatInt(w.server.clock.server().Add(expires).UnixMilli(), 10)
	}
	w.apply(ctx, []*change{c})
	switch {
	case c.now != nil && c.unknown():
		return c.now[0], false, unconfirmed(w.server.where+": "+key, "")
	case c.now != nil:
		return c.now[0], false, nil
	case c.unknown():
		return is, false, unconfirmed(key, " ("+withoutPrefix(c.err)+")")
	}
	return is, c.done, c.err
}
