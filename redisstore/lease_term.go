package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// errRepeat means that what is stored isn't what this node expected, because a reply or the
// server's data were lost. The next attempt, soon, knows what is stored.
var errRepeat = errors.New("a reply or data were lost: the next attempt follows")

// term is the time in which a node leads. All times of a lease are of Leadership.now, if no comment
// says otherwise.
type term struct {
	fence int64
	until time.Time
}

// failure is why the lease can't be taken or renewed.
type failure struct {
	since   time.Time // when the first of the failed attempts began
	noticed time.Time // when the first of them had failed, by time.Now
	until   time.Time // how long this node acts after the last one
	leads   bool      // this node acts without a lease
	problem string
}

// judged is how far a leader has judged: certainly until sure, and maybe until maybe.
type judged struct{ sure, maybe time.Time }

// step renews the lease, or takes it if it is free.
func (l *Leadership) step(ctx context.Context, now time.Time) (err error) {
	attempt, cancel := withTimeout(ctx, l.times.attempt) // several must fit in the time that the leader acts
	defer cancel()
	if l.holds {
		err = l.renew(attempt, now)
	} else {
		err = l.take(attempt, now)
	}
	switch {
	case err == nil:
		l.failure.Store(nil)
	case !errors.Is(err, errRepeat) && ctx.Err() == nil:
		l.fail(now, err)
		l.writer.server.options.Logger.Debug("redisstore: the lease can't be renewed", "name", l.name, "problem", err)
	}
	l.updateHeld()
	return err
}

// acts reports whether this node has led without a break until now.
func (l *Leadership) acts(now time.Time) bool {
	_, until := l.leads()
	return now.Before(until)
}

// fail notes that an attempt has failed. As long as attempts fail, a leader goes on, and a node
// that knows of no other leader acts after a while: no other node can take the lease either.
// Otherwise the other leader goes on.
func (l *Leadership) fail(began time.Time, err error) {
	f, last := &failure{since: began, noticed: time.Now(), until: began.Add(l.times.held), problem: withoutPrefix(err)}, l.failure.Load()
	if last != nil && began.Before(last.until) {
		f.since, f.noticed = last.since, last.noticed
	}
	if l.current.Load() != nil && !l.acts(began) { // it was suspended
		l.giveUp()
	}
	if l.other.Load() != nil {
		l.seen.changed = began
		l.seen.judged = max(l.seen.judged, l.judgedWithin(l.times.held))
	}
	f.leads = l.current.Load() != nil || l.other.Load() == nil && began.Sub(f.since) >= l.times.alone
	if f.leads && l.current.Load() == nil && (last == nil || !last.leads) {
		l.predecessor.Store(l.judgedBefore(l.seen.judged))
	}
	l.failure.Store(f)
}

// record is what is stored at the lease; the last part makes it unique.
func (l *Leadership) record() string {
	return l.holder + strconv.FormatInt(l.writer.server.since(), 10)
}

// take becomes the leader if nobody is. If this node has its part, it leaves the lease to others
// until it has been free for a while. The lease is taken first; then only its holder increments the
// fencing number.
func (l *Leadership) take(ctx context.Context, began time.Time) error {
	lead, free, err := l.look(ctx, began)
	if !free {
		return err
	}
	if l.freeSince.IsZero() {
		l.freeSince = began
	}
	_, _, leads := l.Leading() // alone until now
	if l.reserved = l.leases.reserve(leads || began.Sub(l.freeSince) >= l.times.yield); !l.reserved {
		return nil
	}
	next := l.record()
	stored, done, err := l.set(ctx, l.writer.server.keys.lead, lead, next, l.times.expires)
	if err != nil {
		return err // if the lease was taken, the next look finds it
	}
	if !done {
		return nil // another node was faster
	}
	l.holds, l.begun, l.lead = true, false, stored
	return l.begin(ctx, began)
}

// set is compareAndSet for a key of this task. It replaces a key of another type with text, which
// all nodes then treat like any text that no node has written.
func (l *Leadership) set(ctx context.Context, key func(string) string, was, is string, expires time.Duration) (string, bool, error) {
	stored, done, err := l.writer.compareAndSet(ctx, key(l.name), was, is, expires)
	if !errors.Is(err, errOtherType) {
		return stored, done, err
	}
	_, err = l.writer.server.ask(ctx, func(b builder) command {
		return b.Eval().Script(replaceOtherType).Numkeys(1).Key(key(l.name)).Build()
	})
	if err != nil {
		return "", false, err
	}
	l.foreign(key(l.name), "a key of another type", "no node has written this")
	l.seen.foreign = key(l.name) + " had another type" // as the script has stored
	l.writer.server.checkOtherType(ctx)
	return "", false, errRepeat
}

// begin stores a higher fencing number after this node has taken the lease, or stored it again.
func (l *Leadership) begin(ctx context.Context, now time.Time) error {
	_, led, err := l.read(ctx)
	if err != nil {
		return err
	}
	fence, until := l.parseLed(led)
	acts := l.acts(now)
	if acts && fence > l.fence {
		l.giveUp() // another node has led since
		return nil
	}
	again := acts || fence == l.fence && fence != 0 // no other node has led since this one
	if until < l.seen.judged {
		until = l.seen.judged + l.times.poll.Milliseconds() // the leader may have stored more
	}
	next := max(fence, l.fence, l.seen.fence) + 1
	is := formatLed(next, max(until, l.judgedWithin(l.times.held)))
	_, done, err := l.set(ctx, l.writer.server.keys.led, led, is, 0)
	if err != nil {
		return err
	}
	if !done {
		return errRepeat
	}
	if !again {
		l.predecessor.Store(l.judgedBefore(until))
	}
	l.begun, l.led, l.fence = true, is, next
	l.current.Store(&term{fence: next, until: now.Add(l.times.held)})
	return nil
}

// judgedBefore returns how far the predecessor has judged, if until is what it has stored.
func (l *Leadership) judgedBefore(until int64) *judged {
	if until == 0 {
		return nil
	}
	j := &judged{sure: time.UnixMilli(until), maybe: time.UnixMilli(until)}
	if !l.seen.released {
		j.sure = j.sure.Add(-l.times.held)
	}
	return j
}

// renew extends the lease and stores how far this node has judged.
func (l *Leadership) renew(ctx context.Context, began time.Time) error {
	next := l.record()
	stored, done, err := l.set(ctx, l.writer.server.keys.lead, l.lead, next, l.times.expires)
	if err != nil {
		return err
	}
	if !done {
		return l.mismatch(ctx, began, stored)
	}
	l.lead = next
	if !l.begun {
		return l.begin(ctx, began)
	}
	if err := l.storeJudged(ctx, l.times.held); err != nil || !l.holds {
		return err
	}
	l.current.Store(&term{fence: l.fence, until: began.Add(l.times.held)})
	return nil
}

// mismatch is called if another record is stored than this node's last one. A reply may be lost. If
// this node has led without a break and the fencing number isn't higher than its own, the server
// has lost the lease or was restored to an older state. Then this node stores its lease again.
func (l *Leadership) mismatch(ctx context.Context, now time.Time, stored string) error {
	if !strings.HasPrefix(stored, l.holder) {
		_, led, err := l.read(ctx)
		if err != nil {
			return err
		}
		if fence, _ := l.parseLed(led); !l.acts(now) || fence > l.fence {
			l.giveUp()
			l.updateHeld()
			return l.take(ctx, now)
		}
		l.begun = false
	}
	l.lead = stored
	return errRepeat
}

// judgedWithin returns the time until which this node may have judged messages once d has passed,
// in Unix milliseconds. It returns 0 if this node has noted nothing.
func (l *Leadership) judgedWithin(d time.Duration) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.judged.IsZero() {
		return 0
	}
	return l.judged.Add(d).UnixMilli()
}

// storeJudged stores the time until which this node may judge messages, if it stops leading after
// the duration left.
func (l *Leadership) storeJudged(ctx context.Context, left time.Duration) error {
	until := l.judgedWithin(left)
	if until == 0 {
		return nil
	}
	is := formatLed(l.fence, until)
	stored, done, err := l.set(ctx, l.writer.server.keys.led, l.led, is, 0)
	if err != nil {
		return err
	}
	if done {
		l.led = is
		return nil
	}
	if fence, _ := l.parseLed(stored); fence > l.fence {
		l.giveUp() // another node has led since
		return nil
	}
	l.led = stored // a reply or data were lost, or an older state was restored
	return errRepeat
}

// giveUp stops leading. The lease, if this node still has it, expires.
func (l *Leadership) giveUp() {
	l.current.Store(nil)
	l.failure.Store(nil)
	l.holds, l.begun, l.lead, l.led = false, false, "", ""
}

// release frees the lease, so that another node can take it at once. The end of Run's context may
// have cut off a renewal whose reply is then lost. The first attempt finds out what it has stored.
// A higher fencing number without a lease tells the others that the lease was released, not lost.
// If the lease was of another type, they wait as after a crash.
func (l *Leadership) release(ctx context.Context) error {
	keys, lead, led, begun := &l.writer.server.keys, l.lead, l.led, l.begun
	l.giveUp()
	l.updateHeld()
	stored, done, err := l.set(ctx, keys.lead, lead, "", 0)
	if err == nil && !done && strings.HasPrefix(stored, l.holder) {
		_, done, err = l.set(ctx, keys.lead, stored, "", 0)
	}
	if begun && done && err == nil {
		for range 2 {
			fence, until := l.parseLed(led)
			stored, done, err = l.set(ctx, keys.led, led, formatLed(l.fence+1, cmp.Or(l.judgedWithin(0), until)), 0)
			if err != nil || done || fence != l.fence {
				break
			}
			led = stored
		}
	}
	if errors.Is(err, errRepeat) {
		return nil // there is no other attempt
	}
	return err
}

// formatLed is what stays when a lease expires: the fencing number, and how far its holder has
// judged, in Unix milliseconds.
func formatLed(fence, judged int64) string { return fmt.Sprintf("%d %d", fence, judged) }

// maxLed bounds what formatLed has written: no fencing number and no time is as high.
const maxLed = 1 << 53

// farAhead is how far the predecessor's time may be ahead of this node's. Both are times of the
// chat.
const farAhead = time.Minute

// parseLed is the inverse of formatLed. It returns zeros for "", and for what nobody has written,
// which is then replaced. A time that is too far ahead isn't used, but the fencing number next to
// it is: this node's own time may be behind.
func (l *Leadership) parseLed(text string) (fence, judged int64) {
	if text == "" {
		return 0, 0
	}
	_, err := fmt.Sscan(text, &fence, &judged)
	switch latest := cmp.Or(l.judgedWithin(l.times.held+farAhead), maxLed); {
	case err != nil || text != formatLed(fence, judged) || min(fence, judged) < 0 || fence > maxLed:
		l.foreign(l.writer.server.keys.led(l.name), text, "no node has written this")
		return 0, 0
	case judged > latest:
		l.foreign(l.writer.server.keys.led(l.name), text, "its time is too far ahead of this node's")
		return fence, 0
	}
	return fence, judged
}

// foreign logs once what can't be used as part of a lease.
func (l *Leadership) foreign(key, text, problem string) {
	if text == l.seen.foreign {
		return
	}
	l.seen.foreign = text
	l.writer.server.options.Logger.Warn("redisstore: "+problem+": the next leader replaces it", "key", key, "value", printable(text))
}
