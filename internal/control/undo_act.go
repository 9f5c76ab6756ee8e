package control

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// sameAct is how far the times of one act may differ. The chat may report an act with the time of
// its own clock, and the audit has the time when the act was recorded.
const sameAct = 5 * time.Second

// Undo undoes a timeout or ban that the author gave at that time. It ends the timeout or ban, and
// gives the timeout that it replaced again, for the rest of its time and in the name of its giver.
// If another timeout or ban is in force, the error is a SilencedError. If none is known, Undo
// succeeds and changes nothing.
func (c *Silences) Undo(ctx context.Context, t journal.Target, ban bool, given time.Time) (done Acted, err error) {
	end, err := c.begin(ctx, t, "")
	if err != nil {
		return done, err
	}
	defer end()
	done.Former, _ = c.Of(ctx, t)
	switch s := done.Former; {
	case s == nil:
		return Acted{Already: true, Saved: c.records.commit(ctx)}, nil
	case s.Banned != ban || s.By != t.Author || !s.At.IsZero() && !isSameTime(s.At, given):
		return done, c.silenced(*s, "it was given since, so nothing was undone")
	}
	rest, by, err := c.restOfReplaced(ctx, t, given)
	if err != nil {
		return done, c.records.trouble(err)
	}
	if ban || rest == 0 {
		if done, err = c.end(ctx, t, ban, done.Former); err != nil || rest == 0 {
			return done, err
		}
	}
	restored, err := c.timeOut(ctx, t, rest, journal.TimeoutDetail{Former: done.Former, Restored: true, By: by})
	if err != nil && restored.Silence == nil && ban {
		// The ban has ended, so the request has succeeded. The answer has no timeout.
		c.records.log.Warn("a timeout that a ban replaced can't be restored", "channel", t.ChannelID, "error", err)
		return done, nil
	}
	return restored, err
}

// restOfReplaced returns how long the timeout would still last that the author's act at that time
// has replaced, and who gave it; 0 if it replaced none, or if that isn't known.
func (c *Silences) restOfReplaced(ctx context.Context, t journal.Target, given time.Time) (rest time.Duration, by string, err error) {
	acts, err := c.actsOf(ctx, t)
	act := acts.last
	if err != nil || act.Author != t.Author || !isSameTime(act.At, given) {
		return 0, "", err
	}
	former := formerOf(act)
	if former == nil || former.Banned {
		return 0, "", nil
	}
	rest = former.Until.Sub(c.records.now()).Round(time.Second)
	if rest < penalties.MinTimeout {
		return 0, "", nil
	}
	return min(rest, penalties.MaxTimeout), former.By, nil
}

// formerOf returns the timeout or ban that a timeout or ban has replaced; nil if there was none.
func formerOf(a journal.Audit) *journal.Silence {
	if a.Action == journal.UserBanned {
		detail, _ := journal.DetailOf[journal.BanDetail](a)
		return detail.Former
	}
	detail, _ := journal.DetailOf[journal.TimeoutDetail](a)
	return detail.Former
}

func isSameTime(a, b time.Time) bool { return a.Sub(b).Abs() <= sameAct }
