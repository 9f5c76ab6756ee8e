package redisstore

import (
	"context"
	"errors"
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

// clock is the server's time, estimated by Cristian's algorithm and continued by the local
// monotonic clock. All values are nanoseconds. Local times are counted from when the Store was
// opened.
type clock struct {
	origin  time.Time // with a monotonic reading
	wall    int64     // origin in Unix nanoseconds
	reading atomic.Pointer[reading]
	others  atomic.Int64 // the largest error that another node reports
}

// reading is the result of a measurement: the server's clock minus the local one.
type reading struct {
	at     int64 // local time of the measurement
	target int64 // the offset that was measured
	from   int64 // the offset in use before, from which the clock is slewed
	err    int64 // the largest possible error of target at that time
	trip   int64 // the duration of the fastest round trip
}

func (c *clock) start(origin time.Time) { c.origin, c.wall = origin, origin.UnixNano() }

// offset returns the offset in use at a local time.
func (r *reading) offset(at int64) int64 {
	room := (at - r.at) * slewPPM / 1_000_000
	return r.from + max(-room, min(room, r.target-r.from))
}

// errorAt returns how far the clock may be from the server's at a local time.
func (r *reading) errorAt(at int64) int64 {
	rest := r.target - r.offset(at)
	return r.err + (at-r.at)*driftPPM/1_000_000 + max(rest, -rest)
}

// set notes a measurement. The first one and a large difference take effect at once.
func (c *clock) set(next reading) {
	next.from = next.target
	if last := c.reading.Load(); last != nil {
		from := last.offset(next.at)
		if diff := next.target - from; max(diff, -diff) <= int64(stepFrom) {
			next.from = from
		}
	}
	c.reading.Store(&next)
}

// now returns the server's time, and how far the clocks of two nodes may differ. Before the server
// was reached, it is the local time.
func (c *clock) now() (now time.Time, skew time.Duration) {
	at := int64(time.Since(c.origin))
	r := c.reading.Load()
	if r == nil {
		return time.Unix(0, c.wall+at), maxSkew
	}
	worst := max(r.errorAt(at), c.others.Load())
	return time.Unix(0, c.wall+at+r.offset(at)), max(minSkew, min(maxSkew, time.Duration(2*worst)))
}

// error returns how far the clock may be from the server's now.
func (c *clock) error() time.Duration {
	r := c.reading.Load()
	if r == nil {
		return maxSkew
	}
	return time.Duration(r.errorAt(int64(time.Since(c.origin))))
}

// offset returns the server's clock minus the local one.
func (c *clock) offset() time.Duration {
	r := c.reading.Load()
	if r == nil {
		return 0
	}
	return time.Duration(r.offset(int64(time.Since(c.origin))))
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
	bound := other.err + r.err + (other.at-r.at)*driftPPM/1_000_000
	diff := other.target - r.target
	return max(diff, -diff) > bound
}

// dedicated is a connection that only this package uses: for the clock and for notices.
type dedicated struct {
	rueidis.DedicatedClient
	s *server
}

// dedicate opens a connection to the server that has the epoch: in a Cluster all nodes must use the
// clock of the same shard.
func (s *server) dedicate(ctx context.Context) (*dedicated, error) {
	client, _ := (*s.client.Load()).Dedicate()
	d := &dedicated{client, s}
	if err := d.Do(ctx, d.B().Get().Key(s.keys.epoch()).Build()).Error(); err != nil && !rueidis.IsRedisNil(err) {
		d.Close()
		return nil, err
	}
	return d, nil
}

// time makes one round trip of TIME.
func (d *dedicated) time(ctx context.Context) (sample, error) {
	var one sample
	one.sent = int64(time.Since(d.s.clock.origin))
	parts, err := d.Do(ctx, d.B().Time().Build()).AsIntSlice()
	one.received = int64(time.Since(d.s.clock.origin))
	if err != nil {
		return one, err
	}
	if len(parts) != 2 {
		return one, errors.New("the server's reply to TIME has another form")
	}
	one.server = parts[0]*int64(time.Second) + parts[1]*int64(time.Microsecond)
	return one, nil
}

// measure sets the clock.
func (d *dedicated) measure(ctx context.Context) error {
	all := make([]sample, samples)
	for i := range all {
		var err error
		if all[i], err = d.time(ctx); err != nil {
			return err
		}
	}
	d.s.clock.set(d.s.clock.best(all))
	return nil
}

// measureOnce sets the clock over a separate connection.
func (s *server) measureOnce(ctx context.Context) error {
	d, err := s.dedicate(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.measure(ctx)
}
