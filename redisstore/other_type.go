package redisstore

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// errOtherType means that a key has another type than the one that nodes give it: no node has
// written it.
var errOtherType = errors.New("a key has another type")

// otherType says so of a key, and what to do.
func otherType(key string) *refusal {
	return &refusal{"the key " + key + " has another type: delete it at the server"}
}

// named returns why the server refuses a command with these keys. If one of them has another type,
// the error names it, and so does Health until a heartbeat finds that this is over. Of several such
// keys, Health names one.
func (s *server) named(ctx context.Context, err error, keys ...string) error {
	if replyCode(err) != "WRONGTYPE" {
		return err
	}
	if len(keys) > 1 {
		keys = s.findOtherType(ctx, keys)
	}
	if len(keys) == 0 {
		return err
	}
	s.otherType.CompareAndSwap(nil, &keys[0])
	return otherType(keys[0])
}

// findOtherType returns those of several keys that have another type.
func (s *server) findOtherType(ctx context.Context, keys []string) (found []string) {
	touches := make([]build, len(keys))
	for i, key := range keys {
		touches[i] = s.keys.touch(key)
	}
	results, _ := s.request(ctx, touches...)
	for i, result := range results {
		if replyCode(result.Error()) == "WRONGTYPE" {
			found = append(found, keys[i])
		}
	}
	return found
}

// touch builds a command that changes nothing, but is refused if a key has another type. All rights
// that it needs are those of other commands.
func (k keys) touch(key string) build {
	return func(b builder) command {
		if key == k.nodes() || strings.HasPrefix(key, k.own("")) {
			return b.Srem().Key(key).Member("").Build() // which no set has
		}
		return b.Get().Key(key).Build()
	}
}

// checkOtherType finds out whether the key that Health names still has another type.
func (s *server) checkOtherType(ctx context.Context) {
	key := s.otherType.Load()
	if key == nil {
		return
	}
	ctx, cancel := withTimeout(ctx, s.options.Timeout)
	defer cancel()
	results, err := s.request(ctx, s.keys.touch(*key))
	if err == nil && (results[0].Error() == nil || rueidis.IsRedisNil(results[0].Error())) {
		s.otherType.CompareAndSwap(key, nil)
	}
}

// keysOf returns the keys of a command.
func keysOf(c command) []string {
	args := c.Commands()
	if args[0] == "EVAL" {
		n, _ := strconv.Atoi(args[2])
		return args[3 : 3+n]
	}
	return args[1:2]
}
