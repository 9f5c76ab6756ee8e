package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// errLostReply means that an earlier attempt has succeeded without a reply. The next attempt knows
// what is stored.
var errLostReply = errors.New("the reply to an earlier attempt was lost")

// term is the time in which a node leads.
type term struct {
	fence int64
	until time.Time // with a monotonic reading
}

// step renews the lease, or takes it if it is free.
func (l *Leadership) step(ctx context.Context, now time.Time) (err error) {
	if l.lead != "" {
		err = l.renew(ctx, now)
	} else {
		err = l.take(ctx, now)
	}
	l.updateHeld()
	if err != nil && ctx.Err() == nil {
		l.writer.server.options.Logger.Debug("redisstore: the lease can't be renewed", "name", l.name, "problem", err)
	}
	return err
}

// record is what is stored at the lease; the last part makes it unique.
func (l *Leadership) record() string {
	return l.holder + strconv.FormatInt(l.writer.server.since(), 10)
}

// take becomes the leader if nobody is. The lease is taken first; then only its holder increments
// the fencing number.
func (l *Leadership) take(ctx context.Context, began time.Time) error {
	if ok, err := l.mayTake(ctx, began); !ok {
		return err
	}
	w, lead := l.writer, l.record()
	stored, done, err := w.compareAndSet(ctx, w.server.keys.lead(l.name), "", lead, l.times.expires)
	if err != nil {
		return err // if the lease was taken, it expires
	}
	if !done && !strings.HasPrefix(stored, l.holder) {
		l.isHeld(stored)
		return nil
	}
	if !done { // an earlier attempt has succeeded, which may expire sooner
		l.lead = stored
		return errLostReply
	}
	l.lead, l.renewed = lead, began
	return l.begin(ctx)
}

// begin increments the fencing number after this node has taken the lease.
func (l *Leadership) begin(ctx context.Context) error {
	w := l.writer
	led, err := w.server.readOne(ctx, l.name, w.server.keys.led)
	if err != nil {
		return l.giveUp(err)
	}
	fence, judged, err := parseLed(led)
	if err != nil {
		return l.giveUp(err)
	}
	next := formatLed(fence+1, max(judged, l.judgedWithin(l.times.held)))
	if _, done, err := w.compareAndSet(ctx, w.server.keys.led(l.name), led, next, 0); err != nil || !done {
		return l.giveUp(err)
	}
	l.led = next
	l.predecessor.Store(judged)
	l.current.Store(&term{fence: fence + 1, until: l.renewed.Add(l.times.held)})
	return nil
}

// renew extends the lease and stores how far this node has judged.
func (l *Leadership) renew(ctx context.Context, began time.Time) error {
	w := l.writer
	next := l.record()
	stored, done, err := w.compareAndSet(ctx, w.server.keys.lead(l.name), l.lead, next, l.times.expires)
	if err != nil {
		if began.Sub(l.renewed) > l.times.expires {
			return l.giveUp(err)
		}
		return err
	}
	if !done {
		if strings.HasPrefix(stored, l.holder) {
			l.lead = stored
			return errLostReply
		}
		return l.giveUp(nil)
	}
	l.lead, l.renewed = next, began
	t := l.current.Load()
	if t == nil {
		return l.begin(ctx)
	}
	if err := l.storeJudged(ctx, t.fence, l.times.held); err != nil {
		return err
	}
	l.current.Store(&term{fence: t.fence, until: began.Add(l.times.held)})
	return nil
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
func (l *Leadership) storeJudged(ctx context.Context, fence int64, left time.Duration) error {
	judged := l.judgedWithin(left)
	if judged == 0 {
		return nil
	}
	next := formatLed(fence, judged)
	if next == l.led {
		return nil
	}
	stored, done, err := l.writer.compareAndSet(ctx, l.writer.server.keys.led(l.name), l.led, next, 0)
	if err != nil {
		return err
	}
	if !done {
		if other, _, err := parseLed(stored); err == nil && stored != "" && other == fence {
			l.led = stored
			return errLostReply
		}
		return l.giveUp(errors.New("another node has the fencing number"))
	}
	l.led = next
	return nil
}

// giveUp stops leading. The lease, if this node still has it, expires.
func (l *Leadership) giveUp(err error) error {
	l.current.Store(nil)
	l.lead, l.led = "", ""
	return err
}

// release frees the lease, so that another node can take it. The end of Run's context may have cut
// off a renewal whose reply is then lost. The first attempt finds out what it has stored.
func (l *Leadership) release(ctx context.Context) error {
	w, lead := l.writer, l.lead
	var err error
	if fence, _, parsed := parseLed(l.led); parsed == nil && l.led != "" {
		if err = l.storeJudged(ctx, fence, 0); errors.Is(err, errLostReply) {
			err = l.storeJudged(ctx, fence, 0)
		}
	}
	l.giveUp(nil)
	l.updateHeld()
	stored, done, released := w.compareAndSet(ctx, w.server.keys.lead(l.name), lead, "", 0)
	if released == nil && !done && strings.HasPrefix(stored, l.holder) {
		_, _, released = w.compareAndSet(ctx, w.server.keys.lead(l.name), stored, "", 0)
	}
	return errors.Join(err, released)
}

// formatLed is what stays when a lease expires: the fencing number, and how far its holder has
// judged, in Unix milliseconds.
func formatLed(fence, judged int64) string { return fmt.Sprintf("%d %d", fence, judged) }

func parseLed(text string) (fence, judged int64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, second, _ := strings.Cut(text, " ")
	fence, err1 := strconv.ParseInt(first, 10, 64)
	judged, err2 := strconv.ParseInt(second, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, errors.New("redisstore: the fencing number wasn't written by this package: delete it at the server")
	}
	return fence, judged, nil
}
