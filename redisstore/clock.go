package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

const (
	measureEvery = 10 * time.Second
	samples      = 8 // round trips of one measurement; the fastest counts

	driftPPM = 200 // how wrong the rate of a machine's clock may be
	slewPPM  = 5000
	stepFrom = time.Second // a larger difference isn't slewed

	minSkew = 5 * time.Millisecond
	maxSkew = time.Second
)

// clock is the time that all nodes use: the server's, estimated by Cristian's algorithm and
// continued by the local monotonic clock, with the correction that the nodes agree on. All values
// are nanoseconds. Local times are counted from when the Store was opened.
type clock struct {
	origin  time.Time // with a monotonic reading
	wall    int64     // origin in Unix nanoseconds
	reading atomic.Pointer[reading]
	others  atomic.Int64 // the largest error that another node reports

	asleep func() int64 // how long the machine was suspended since start, at least; nil: never
	slept  atomic.Int64 // the most that asleep has returned

	mu      sync.Mutex  // guards began, and changes of reading
	began   int64       // local time of the first measurement
	foreign atomic.Bool // the record of corrections is one of another program
}

// reading is the result of a measurement: the server's clock minus the local one.
type reading struct {
	at     int64 // local time of the measurement
	target int64 // the offset that was measured
	from   int64 // the offset in use before, from which the clock is slewed
	err    int64 // the largest possible error of target at that time
	trip   int64 // the duration of the fastest round trip

	correction correction
	unsure     int64 // until this local time, other nodes may still decide otherwise
}

func (c *clock) start(origin time.Time) {
	c.origin, c.wall, c.asleep = origin, origin.UnixNano(), suspensions()
}

// since returns the monotonic time since origin. It is never 0.
func (c *clock) since() int64 { return int64(time.Since(c.origin)) + 1 }

// local returns the local time.
func (c *clock) local() int64 { return int64(time.Since(c.origin)) + c.slept.Load() }

// wake adds the time for which the machine was suspended, and its monotonic clock stood still. It
// returns all of that time since start. It takes less than a microsecond.
func (c *clock) wake() time.Duration {
	for c.asleep != nil {
		known, now := c.slept.Load(), c.asleep()
		if now <= known || c.slept.CompareAndSwap(known, now) {
			break
		}
	}
	return time.Duration(c.slept.Load())
}

// offset returns the offset in use at a local time.
func (r *reading) offset(at int64) int64 {
	room := (at - r.at) * slewPPM / 1_000_000
	return r.from + max(-room, min(room, r.target-r.from))
}

// errorAt returns how far the clock may be from the server's at a local time.
func (r *reading) errorAt(at int64) int64 {
	return r.err + (at-r.at)*driftPPM/1_000_000 + distance(r.target, r.offset(at))
}

// bound returns how far the target of a later measurement may be from this one's if no clock has
// jumped.
func (r *reading) bound(next *reading) int64 {
	return next.err + r.err + (next.at-r.at)*driftPPM/1_000_000
}

// inLastMinute reports whether a time, as since returns it, is in the last minute; 0 means never.
func (c *clock) inLastMinute(at *atomic.Int64) bool {
	last := at.Load()
	return last != 0 && time.Duration(c.since()-last) < time.Minute
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// current returns the last reading, the local time, and the time of the server's own clock. Before
// the server was reached, that is the local time.
func (c *clock) current() (r reading, at, server int64) {
	at = c.local()
	if last := c.reading.Load(); last != nil {
		r = *last
	} else {
		r = reading{at: at, err: int64(maxSkew)}
	}
	return r, at, c.wall + at + r.offset(at)
}

// now returns the time that all nodes use, and how far the clocks of two nodes may differ.
func (c *clock) now() (now time.Time, skew time.Duration) {
	r, at, server := c.current()
	return time.Unix(0, r.correction.apply(server)), r.skewAt(at, c.others.Load())
}

// skewAt returns how far the clocks of two nodes may differ at a local time, if others is the
// largest error of another node.
func (r *reading) skewAt(at, others int64) time.Duration {
	if at < r.unsure {
		return maxSkew
	}
	return max(minSkew, min(maxSkew, time.Duration(2*max(r.errorAt(at), others))))
}

// error returns how far the clock may be from the server's now.
func (c *clock) error() time.Duration {
	r, at, _ := c.current()
	return time.Duration(r.errorAt(at))
}

// server returns the time of the server's own clock.
func (c *clock) server() time.Time {
	_, _, server := c.current()
	return time.Unix(0, server)
}

// offset returns the server's clock minus this machine's, which may have been set since start.
func (c *clock) offset() time.Duration {
	if c.reading.Load() == nil {
		return 0
	}
	return c.server().Sub(time.Now().Round(0))
}

// sample is one round trip of TIME.
type sample struct{ sent, received, server int64 }

// best returns the reading of the fastest round trip. The server may have read its clock, in
// microseconds, at any moment during it.
func (c *clock) best(all []sample) reading {
	fastest := all[0]
	for _, one := range all[1:] {
		if one.received-one.sent < fastest.received-fastest.sent {
			fastest = one
		}
	}
	trip := fastest.received - fastest.sent
	return reading{
		at: fastest.received, trip: trip, err: trip/2 + int64(time.Microsecond),
		target: fastest.server - (c.wall + fastest.sent + trip/2),
	}
}

// contradicts reports whether a round trip can't be explained by the last measurement: the server's
// clock or the local one has jumped.
func (c *clock) contradicts(one sample) bool {
	r := c.reading.Load()
	if r == nil {
		return true
	}
	other := c.best([]sample{one})
	return distance(other.target, r.target) > r.bound(&other)
}

// dedicated is a connection that only this package uses: for the clock and for notices.
type dedicated struct {
	rueidis.DedicatedClient
	s        *server
	measured time.Time // when the clock was last measured
}

// dedicate opens a connection to the server that has the epoch: in a Cluster all nodes must use the
// clock of the same shard.
func (s *server) dedicate(ctx context.Context) (*dedicated, error) {
	client, _ := (*s.client.Load()).Dedicate()
	d := &dedicated{DedicatedClient: client, s: s}
	if err := d.Do(ctx, d.B().Get().Key(s.keys.epoch()).Build()).Error(); err != nil && !rueidis.IsRedisNil(err) {
		d.Close()
		return nil, err
	}
	return d, nil
}

// look makes one round trip of TIME, and reads the record of corrections on the way, before TIME: a
// jump that another node has recorded shows in the time. If the server refuses to read the record,
// look returns the one that this node knows.
func (d *dedicated) look(ctx context.Context) (one sample, record string, err error) {
	c := &d.s.clock
	c.wake()
	one.sent = c.local()
	results := d.DoMulti(ctx, d.B().Get().Key(d.s.keys.clock()).Build(), d.B().Time().Build())
	one.received = c.local()
	parts, err := results[1].AsIntSlice()
	if err != nil {
		return one, "", err
	}
	if len(parts) != 2 {
		return one, "", errors.New("the server's reply to TIME has another form")
	}
	one.server = parts[0]*int64(time.Second) + parts[1]*int64(time.Microsecond)
	record, err = results[0].ToString()
	switch code := replyCode(err); {
	case err == nil || rueidis.IsRedisNil(err):
		_, ok := parseCorrection(record)
		c.foreign.Store(!ok)
		return one, record, nil
	case code == "WRONGTYPE":
		c.foreign.Store(true)
	case code != "NOPERM": // no answer, or another server has the key
		return one, "", err
	}
	return one, c.record(), nil
}

// measure reads the record of corrections, and measures the clock. A replica, such as a former
// primary, may have another clock than the primary, whose record it has. So measure makes a command
// for primaries, which changes nothing.
func (d *dedicated) measure(ctx context.Context) (next reading, record string, err error) {
	d.measured = time.Now()
	all := make([]sample, samples)
	for i := range all {
		var now string
		if all[i], now, err = d.look(ctx); err != nil {
			return reading{}, "", err
		}
		if i == 0 {
			record = now
		}
	}
	key := d.s.keys.beside(d.s.keys.clock(), "primary")
	err = d.Do(ctx, d.B().Srem().Key(key).Member("").Build()).Error()
	if code := replyCode(err); err != nil && (code == "" || code == "READONLY") {
		return reading{}, "", err
	}
	return d.s.clock.best(all), record, nil
}

// swapRecord replaces the record of corrections if it is still was, and returns what is stored.
func (d *dedicated) swapRecord(ctx context.Context, was, is string) (now string, err error) {
	return stored(d.Do(ctx, swapCommand(d.B(), d.s.keys.clock(), was, is)), is)
}

// measureOnce sets the clock over a separate connection. It stores nothing.
func (s *server) measureOnce(ctx context.Context) error {
	d, err := s.dedicate(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	next, record, err := d.measure(ctx)
	if err == nil {
		s.clock.follow(next, record)
	}
	return err
}
