package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/shared"
)

// Swap implements [shared.Store]. It sends all swaps in one flush. It retries those whose reply was
// lost, and waits no longer than Options.Timeout. An Err that doesn't wrap [shared.ErrAway] means
// that the server has refused the swap, for example because its memory is full.
//
// A swap with Notify needs one more round trip, and so does one with rows that have HasOverride on
// a Cluster. While the store is away, Swap returns at once.
func (s *Store) Swap(ctx context.Context, swaps []*shared.Swap) {
	for _, swap := range swaps {
		swap.Done, swap.Unknown, swap.Err = false, false, nil
		for i := range swap.Rows {
			swap.Rows[i].Now = nil
		}
	}
	defer s.countFailed(swaps)
	if err := s.server.ready(); err != nil {
		for _, swap := range swaps {
			swap.Err = err
		}
		return
	}
	exchanged, _ := ctx.Value(exchangeKey{}).(*atomic.Int64)
	ctx, cancel := s.server.forCall(ctx)
	defer cancel()
	room := changeRooms.Get().(*changeRoom)
	defer room.free()
	changes := s.addOwn(ctx, s.changesOf(room, swaps))
	if len(changes) == 0 {
		return
	}
	s.stats.swaps.Add(s.writer.apply(ctx, changes), 1)
	for _, c := range changes {
		swap := c.swap
		swap.Done, swap.Err, swap.Unknown = c.done, c.err, c.unknown()
		for k := range c.now {
			if c.now[k] != "" {
				swap.Rows[k].Now = []byte(c.now[k])
			}
		}
		if swap.Done && exchanged != nil {
			exchanged.Add(int64(len(swap.Rows)))
		}
	}
	s.notices.publishRows(ctx, swaps)
}

// countFailed counts the swaps with an Err.
func (s *Store) countFailed(swaps []*shared.Swap) {
	for _, swap := range swaps {
		if swap.Err != nil {
			s.stats.failed.Add(1)
		}
	}
}

// changeRoom is memory for the changes of one Swap. It is used again, because an exchange would
// otherwise need as much new memory for changes as for rows.
type changeRoom struct {
	all     []change
	changes []*change
}

var changeRooms = sync.Pool{New: func() any { return new(changeRoom) }}

// free makes the memory available for another Swap.
func (r *changeRoom) free() {
	clear(r.all)
	changeRooms.Put(r)
}

// changesOf returns the changes that make the possible swaps. It sets Err in the others.
func (s *Store) changesOf(room *changeRoom, swaps []*shared.Swap) []*change {
	room.all = slices.Grow(room.all[:0], len(swaps))[:len(swaps)]
	room.changes = room.changes[:0]
	for i, swap := range swaps {
		if swap.Err = s.fill(&room.all[i], swap); swap.Err == nil {
			room.changes = append(room.changes, &room.all[i])
		}
	}
	return room.changes
}

// fill fills in c with the change that makes a swap.
func (s *Store) fill(c *change, swap *shared.Swap) error {
	n := len(swap.Rows)
	if n == 0 {
		return errors.New("redisstore: a swap has no rows")
	}
	c.swap = swap
	texts := c.texts[:]
	if n > 1 {
		texts = make([]string, 4*n)
	}
	c.keys, c.was, c.is, c.until = texts[:n:n], texts[n:2*n:2*n], texts[2*n:3*n:3*n], texts[3*n:]
	var slot string
	for i := range swap.Rows {
		row := &swap.Rows[i]
		var room [128]byte
		b, from, to := s.server.keys.appendRow(room[:0], row)
		end := len(b)
		if !row.Until.IsZero() {
			b = strconv.AppendInt(b, expiry(row.Until.Add(max(0, s.server.clock.jump()))), 10)
		}
		text := string(b)
		if i > 0 && text[from:to] != slot && s.server.address.kind == cluster {
			return s.misplace(c.keys[0], text[:end])
		}
		slot = text[from:to]
		// The bytes of a row never change, so they needn't be copied.
		c.keys[i], c.until[i], c.was[i], c.is[i] = text[:end], text[end:], rueidis.BinaryString(row.Was), rueidis.BinaryString(row.Is)
		if row.HasOverride && c.was[i] != c.is[i] {
			c.sets, c.members = append(c.sets, s.server.keys.own(row.ChannelID)), append(c.members, row.UserID)
		}
	}
	return nil
}

// misplace is the error of a swap that isn't possible on a Cluster. Health has the problem for a
// minute. Exchanges, which swap each row alone, don't end it.
func (s *Store) misplace(key, other string) error {
	s.misplaced.Store(s.server.since())
	return fmt.Errorf("redisstore: %s and %s: %s", key, other, s.server.options.misplaced())
}

// expiry returns when a row may be deleted, in Unix milliseconds of the server's clock.
func expiry(until time.Time) int64 {
	return max(1, until.Add(rowMargin+time.Millisecond-1).UnixMilli())
}

// addOwn adds the users of rows with HasOverride to the sets that Overrides reads, before the rows
// are stored: a set may have too many users, but not too few. It returns the changes that can still
// be made. Only on a Cluster, a set may be in another slot than a row: elsewhere, the swap itself
// adds the users.
func (s *Store) addOwn(ctx context.Context, changes []*change) []*change {
	if s.server.address.kind != cluster {
		return changes
	}
	var adds []build
	var of []*shared.Swap
	var sets []string
	for _, c := range changes {
		for i, set := range c.sets {
			user := c.members[i]
			adds = append(adds, func(b builder) command { return b.Sadd().Key(set).Member(user).Build() })
			of, sets = append(of, c.swap), append(sets, set)
		}
		c.sets, c.members = nil, nil
	}
	if len(adds) == 0 {
		return changes
	}
	results, err := s.server.request(ctx, adds...)
	for i, swap := range of {
		if err != nil {
			swap.Err = s.server.unknown(ctx, err)
		} else if refused := results[i].Error(); refused != nil {
			swap.Err = s.writer.refused(ctx, refused, sets[i])
		}
	}
	return slices.DeleteFunc(changes, func(c *change) bool { return c.swap.Err != nil })
}
