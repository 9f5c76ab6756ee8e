package redisstore

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// holdJump is how long a jump of the server's clock must last before the nodes' time follows.
	holdJump = 10 * time.Minute
	// followWithin is how long the nodes' time takes to follow a jump at most. It follows a small
	// one by slewPPM. One of more than maxFollow is followed in one step.
	followWithin = 24 * time.Hour
	maxFollow    = time.Hour

	// denyAfter is how long a node must have measured the clock before it may deny another node's
	// correction: a node that has just started can't know whether the clock had jumped before.
	denyAfter = 10 * time.Second
	// decideWithin is how long other nodes may take to contradict.
	decideWithin = 3 * time.Second
)

// correction is what the nodes add to the server's time, so that their time goes on as before when
// the server's clock jumps. It is stored at the server, and the same for all nodes. The zero value
// is that of a server whose clock has never jumped; it isn't stored. Times are nanoseconds.
type correction struct {
	change int64 // the number of changes; a record with a higher one is newer
	by     int64
	until  int64 // the nodes' time until which the whole correction is in force
	denied bool  // the change before this one was wrong: the clock of the node that made it has jumped
}

const (
	hasJumped    = "jumped"
	hasNotJumped = "not-jumped"

	maxNumber = 1 << 61 // so that sums don't overflow
)

// String returns the record that is stored.
func (k correction) String() string {
	if k == (correction{}) {
		return ""
	}
	what := hasJumped
	if k.denied {
		what = hasNotJumped
	}
	return fmt.Sprintf("%d %d %d %s", k.change, k.by, k.until, what)
}

// parseCorrection is the inverse of String. It returns false for what no node has written.
func parseCorrection(record string) (k correction, ok bool) {
	if record == "" {
		return k, true
	}
	fields := strings.Split(record, " ")
	if len(fields) != 4 {
		return k, false
	}
	for i, to := range []*int64{&k.change, &k.by, &k.until} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil || n <= -maxNumber || n >= maxNumber {
			return correction{}, false
		}
		*to = n
	}
	if k.denied = fields[3] == hasNotJumped; k.change <= 0 || k.String() != record {
		return correction{}, false
	}
	return k, true
}

// follows returns how long the nodes' time takes to follow the jump.
func (k *correction) follows() int64 {
	size := max(k.by, -k.by)
	if size > int64(maxFollow) {
		return 0
	}
	return min(size/slewPPM*1_000_000, int64(followWithin))
}

// apply returns the nodes' time at a time of the server's clock.
func (k *correction) apply(server int64) int64 {
	if k.by == 0 {
		return server
	}
	whole := server + k.by
	rest, all := whole-k.until, k.follows()
	switch {
	case rest <= 0:
		return whole
	case rest >= all:
		return server
	}
	return whole - int64(float64(k.by)*(float64(rest)/float64(all)))
}

// record returns the record of corrections that this node knows.
func (c *clock) record() string {
	if r := c.reading.Load(); r != nil {
		return r.correction.String()
	}
	return ""
}

// jump returns how far the server's clock has jumped. It is 0 when the nodes' time has followed.
func (c *clock) jump() time.Duration {
	_, _, by := c.corrected()
	return by
}

// corrected returns the correction in use, the nodes' time, and how far the server's clock is ahead
// of that.
func (c *clock) corrected() (k correction, now int64, ahead time.Duration) {
	r := c.reading.Load()
	if r == nil || r.correction.by == 0 {
		return k, 0, 0
	}
	at := c.local()
	server := c.wall + at + r.offset(at)
	now = r.correction.apply(server)
	return r.correction, now, time.Duration(server - now)
}

// follow notes a measurement, and the record that was stored when it began. It returns the record
// that should be stored.
//
// If the server's clock seems to have jumped, time goes on as before, by a correction that another
// node has stored or by a new one. A node whose own clock has jumped sees the same. The others then
// deny its correction, and it follows the server's clock at once. A difference of up to a second
// isn't a jump: the clock is slewed.
func (c *clock) follow(next reading, stored string) (record string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	server := c.wall + next.at + next.target
	theirs, ok := parseCorrection(stored)
	if !ok {
		c.foreign.Store(c.since())
	}
	last := c.reading.Load()
	if last == nil {
		c.began = next.at
		next.from, next.correction = next.target, theirs
		c.reading.Store(&next)
		return theirs.String()
	}
	now := last.correction.apply(c.wall + next.at + last.offset(next.at))
	room := max(int64(stepFrom), last.bound(&next))
	seen := choice{now: now, server: server, room: room, mayDeny: next.at-c.began >= int64(denyAfter)}
	seen.jumped = distance(next.target, last.offset(next.at)) > room
	next.correction = last.correction.choose(theirs, seen)
	off := now - next.correction.apply(server)
	step := max(off, -off) > int64(stepFrom)
	if next.from = next.target; !step {
		next.from += off
	}
	if next.unsure = last.unsure; step || seen.jumped {
		next.unsure = next.at + int64(decideWithin)
	}
	c.reading.Store(&next)
	return next.correction.String()
}

// choice is what a node knows when it chooses a correction.
type choice struct {
	now, server int64 // the nodes' time, and the server's
	room        int64 // how far the nodes' time may be wrong without a jump
	jumped      bool  // the server's clock or this node's has jumped since the last measurement
	mayDeny     bool  // this node may deny the stored correction
}

// choose returns the correction that the node should use from now on: its own, the stored one, or a
// new one.
func (k correction) choose(stored correction, seen choice) correction {
	newer := stored.change > k.change || stored.change == k.change && stored != k
	next := max(stored.change, k.change) + 1
	switch {
	case newer && distance(stored.apply(seen.server), seen.now) <= seen.room:
		return stored
	case seen.jumped:
		by := seen.now - seen.server
		if max(by, -by) <= int64(stepFrom) { // the clock has jumped back
			by = 0
		}
		return correction{change: next, by: by, until: seen.now + int64(holdJump)}
	case newer && (stored.denied || !seen.mayDeny):
		return stored
	case newer:
		return correction{change: next, by: k.by, until: k.until, denied: true}
	}
	return k
}

// jumpFix is what to do about a jump.
const jumpFix = "check NTP on the server's machine"

// jumpText says that the server's clock has jumped. It returns "" if it hasn't, or if the nodes'
// time has followed.
func (c *clock) jumpText() string {
	k, now, ahead := c.corrected()
	if ahead == 0 {
		return ""
	}
	begin := time.Unix(0, k.until)
	end := begin.Add(time.Duration(k.follows()))
	var follows string
	switch {
	case k.follows() == 0:
		follows = "time goes on as before, and follows in one step at " + clockTime(begin)
	case now < k.until:
		follows = "time goes on as before, and follows slowly from " + clockTime(begin) + " on"
	default:
		follows = "time follows slowly until " + clockTime(end)
	}
	by := time.Duration(-k.by).Round(100 * time.Millisecond)
	sign := ""
	if by > 0 {
		sign = "+"
	}
	return fmt.Sprintf("the server's clock has jumped by %s%s: %s", sign, by, follows)
}

// foreignRecordFix is what to do about a foreignRecord.
const foreignRecordFix = "delete it at the server: the nodes store theirs again"

// foreignRecord says that the record of corrections, which has the key, was one of another program
// in the last minute. It returns "" if it wasn't.
func (c *clock) foreignRecord(key string) string {
	if !inLastMinute(&c.foreign, c.since()) {
		return ""
	}
	return "another program has written the key " + key
}

// clockTime formats a time of day for people.
func clockTime(t time.Time) string { return t.UTC().Format("15:04 UTC") }
