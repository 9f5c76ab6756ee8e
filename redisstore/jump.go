package redisstore

import (
	"fmt"
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
	var what string
	_, err := fmt.Sscan(record, &k.change, &k.by, &k.until, &what)
	k.denied = what == hasNotJumped
	tooLarge := min(k.by, k.until) <= -maxNumber || max(k.change, k.by, k.until) >= maxNumber
	if err != nil || k.change <= 0 || tooLarge || k.String() != record {
		return correction{}, false
	}
	return k, true
}

// follows returns how long the nodes' time takes to follow the jump.
func (k *correction) follows() int64 {
	size := distance(k.by, 0)
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
	r, _, _ := c.current()
	return r.correction.String()
}

// jump returns how far the server's clock has jumped. It is 0 when the nodes' time has followed.
func (c *clock) jump() time.Duration {
	r, _, server := c.current()
	return time.Duration(server - r.correction.apply(server))
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
	theirs, _ := parseCorrection(stored)
	last := c.reading.Load()
	if last == nil {
		c.began = next.at
		next.from, next.correction = next.target, theirs
		c.reading.Store(&next)
		return theirs.String()
	}
	now := last.correction.apply(c.wall + next.at + last.offset(next.at))
	room := max(int64(stepFrom), last.bound(&next)) // how far now may be wrong if no clock has jumped
	jumped := distance(next.target, last.offset(next.at)) > room
	k := last.correction
	newer := theirs.change > k.change || theirs.change == k.change && theirs != k
	change := max(theirs.change, k.change) + 1
	switch {
	case newer && distance(theirs.apply(server), now) <= room:
		k = theirs
	case jumped && distance(now, server) <= int64(stepFrom): // back
		k = correction{change: change, until: now + int64(holdJump)}
	case jumped:
		k = correction{change: change, by: now - server, until: now + int64(holdJump)}
	case newer && (theirs.denied || next.at-c.began < int64(denyAfter)):
		k = theirs
	case newer: // this node denies it
		k.change, k.denied = change, true
	}
	next.correction = k
	off := now - k.apply(server)
	step := distance(off, 0) > int64(stepFrom)
	if next.from = next.target; !step {
		next.from += off
	}
	if next.unsure = last.unsure; step || jumped {
		next.unsure = next.at + int64(decideWithin)
	}
	c.reading.Store(&next)
	return next.correction.String()
}

// jumpFix is what to do about a jump.
const jumpFix = "check NTP on the server's machine"

// jumpText says that the server's clock has jumped. It returns "" if it hasn't, or if the nodes'
// time has followed.
func (c *clock) jumpText() string {
	r, _, server := c.current()
	k := r.correction
	now := k.apply(server)
	if now == server {
		return ""
	}
	follows := "time follows slowly until " + clockTime(k.until+k.follows())
	if k.follows() == 0 {
		follows = "time goes on as before, and follows in one step at " + clockTime(k.until)
	} else if now < k.until {
		follows = "time goes on as before, and follows slowly from " + clockTime(k.until) + " on"
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

// foreignRecord says that the record of corrections, which has the key, is one of another program.
// It returns "" if it isn't.
func (c *clock) foreignRecord(key string) string {
	if !c.foreign.Load() {
		return ""
	}
	return "another program has written the key " + key
}

// clockTime formats the time of day for people.
func clockTime(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04 UTC") }
