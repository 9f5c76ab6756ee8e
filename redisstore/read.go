package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"
)

// scanCount is about how many keys the server visits for one reply.
const scanCount = 1000

// readAll returns the values of many keys, in the order of the names. The value of a missing key is
// empty. So is that of a key of another type.
func (s *server) readAll(ctx context.Context, names []string, key func(string) string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	inCluster := s.address.kind == cluster
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = key(name)
	}
	reads := []build{func(b builder) command { return b.Mget().Key(all...).Build() }}
	if inCluster { // MGET can't span slots
		reads = nil
		for _, key := range all {
			reads = append(reads, func(b builder) command { return b.Get().Key(key).Build() })
		}
	}
	results, err := s.request(ctx, reads...)
	if err != nil {
		return nil, s.unknown(ctx, err)
	}
	values := make([]string, len(names))
	if inCluster {
		for i, result := range results {
			switch text, err := result.ToString(); {
			case err == nil:
				values[i] = text
			case !rueidis.IsRedisNil(err) && replyCode(err) != "WRONGTYPE":
				return nil, s.refused(err)
			}
		}
		return values, nil
	}
	list, err := results[0].ToArray()
	if err != nil {
		return nil, s.refused(err)
	}
	for i := range min(len(values), len(list)) {
		values[i], _ = list[i].ToString() // a missing value, or one of another type
	}
	return values, nil
}

// members returns the members of a set.
func (s *server) members(ctx context.Context, key string) ([]string, error) {
	results, err := s.ask(ctx, func(b builder) command { return b.Smembers().Key(key).Build() })
	if err != nil {
		return nil, err
	}
	list, err := results[0].AsStrSlice()
	if err != nil {
		return nil, s.refused(err)
	}
	return list, nil
}

// readList is readAll within the time that reading a list may take.
func (s *server) readList(ctx context.Context, names []string, key func(string) string) ([]string, error) {
	ctx, cancel := withTimeout(ctx, s.options.listTimeout())
	defer cancel()
	return s.readAll(ctx, names, key)
}

// scan returns some of a node's keys, from a cursor on.
func (s *server) scan(ctx context.Context, node rueidis.Client, cursor uint64) (rueidis.ScanEntry, error) {
	ctx, cancel := withTimeout(ctx, s.options.listTimeout())
	defer cancel()
	entry, err := node.Do(ctx, node.B().Scan().Cursor(cursor).Match(s.keys.namespace+":{*").Count(scanCount).Build()).AsScanEntry()
	switch {
	case err == nil:
		return entry, nil
	case replyCode(err) == "NOPERM":
		return entry, fmt.Errorf("redisstore: the user %q lacks the right +scan, which only lists of rows need", s.options.user())
	case replyCode(err) != "":
		return entry, s.refused(err)
	}
	return entry, s.unknown(ctx, err)
}

// timeLeft returns how long the server keeps a key. It is negative for a key that
// doesn't expire or doesn't exist.
func (s *server) timeLeft(ctx context.Context, key string) (time.Duration, error) {
	ctx, cancel := withTimeout(ctx, s.options.Timeout)
	defer cancel()
	results, err := s.ask(ctx, func(b builder) command { return b.Pttl().Key(key).Build() })
	if err != nil {
		return 0, err
	}
	ms, err := results[0].AsInt64()
	if err != nil {
		return 0, s.refused(err)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
