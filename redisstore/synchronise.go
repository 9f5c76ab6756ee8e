package redisstore

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// maxRecords is how often synchronise tries to store a record that others change at the same time.
const maxRecords = 3

// synchronise measures the clock, and stores the record of corrections if this node has a newer
// one. If the server refuses that, the node goes on with its own, and tries again each second. An
// error means that another connection is needed.
func (n *notices) synchronise(ctx context.Context, d *dedicated) error {
	for range maxRecords {
		next, stored, err := d.measure(ctx)
		if err != nil {
			return err
		}
		record := n.server.clock.follow(next, stored)
		if record == stored {
			return nil
		}
		now, err := d.swapRecord(ctx, stored, record)
		switch code := replyCode(err); {
		case err != nil && again(err) && code != "NOREPLICAS" && code != "BUSY": // which another connection gets too
			return err
		case err != nil:
			n.server.options.Logger.Debug("redisstore: the correction of the server's clock can't be stored", "problem", n.server.refused(err))
			return nil
		case now == record: // the other nodes look at the clock at once, or in a second without the notice
			if err := n.publish(ctx, []string{"clock " + n.server.instance}); err != nil {
				n.server.options.Logger.Debug("redisstore: other nodes see a change of the clock a second later", "problem", err)
			}
			return nil
		}
	}
	return nil
}

// checkJump logs a jump of the server's clock and its end, or one of this machine's clock. It heals
// the rows that a clock that is ahead deletes too early, and does so again each minute, because
// rows that were written before the jump go on to expire.
func (n *notices) checkJump(guard shared.Guard) {
	problem, log := n.server.clock.jumpText(), n.server.options.Logger
	last, _, _ := n.server.clock.current()
	was, now := n.correction, last.correction
	switch {
	case now.denied && distance(now.by, was.by) > int64(stepFrom):
		log.Warn("redisstore: this machine's clock has jumped: other nodes say that the server's hasn't", "address", n.server.where)
	case problem != "" && problem != n.jump:
		log.Warn("redisstore: the server's clock isn't followed", "address", n.server.where, "problem", problem, "fix", jumpFix)
	case problem == "" && n.jump != "":
		log.Info("redisstore: time is that of the server's clock again", "address", n.server.where)
	}
	if ahead := n.server.clock.jump() > rowMargin; now != was || ahead && time.Since(n.healed) >= time.Minute {
		n.healed = time.Now()
		guard.Heal()
	}
	n.jump, n.correction = problem, now
}
