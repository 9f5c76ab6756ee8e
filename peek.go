package chatguard

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// Peek returns the verdict that Check would return, and changes nothing: it spends nothing, gives
// no strike, notifies no observer and adds no journal entry. It returns the same errors as Check.
// With shared.Exact, it reads the rows in the store; while the store is away, the verdict is
// Degraded. If the context ends first, it returns the context's error.
func (g *Guard) Peek(ctx context.Context, m Message) (v Verdict, err error) {
	if g.channels.exact { // beside a round trip, an explanation costs little
		v, _, _, _, err = inner{g}.Explain(ctx, m)
		return v, err
	}
	run, err := g.dryRun(&m)
	if err != nil {
		return v, err
	}
	d := run.channel.table.Peek(m.User.ID, &run.request, run.places...)
	return run.verdict(&m, &d), nil
}

// Explain implements inner.Guard.
func (g inner) Explain(ctx context.Context, m Message) (v Verdict, levels []limits.Level, s limits.Standing, next Penalty, err error) {
	run, err := g.dryRun(&m)
	if err != nil {
		return v, nil, s, next, err
	}
	var d limits.Decision
	if g.channels.exact {
		var offline bool
		d, levels, s, offline, err = g.channels.rows.Explain(ctx, run.channel.shared, run.user, &run.request)
		if err != nil {
			return v, nil, s, next, err
		}
		run.degraded = run.degraded || offline
	} else {
		d, levels, s = run.channel.table.Explain(m.User.ID, &run.request, run.places...)
	}
	return run.verdict(&m, &d), levels, s, run.policy.policy.Penalties.rung(s.Strikes), nil
}

// Left implements inner.Guard.
func (g inner) Left(ctx context.Context, m Message) (v Verdict, err error) {
	run, err := g.dryRun(&m)
	if err != nil {
		return v, err
	}
	run.request.Cost = 0
	var d limits.Decision
	if g.channels.exact {
		var offline bool
		if d, _, _, offline, err = g.channels.rows.Explain(ctx, run.channel.shared, run.user, &run.request); err != nil {
			return v, err
		}
		run.degraded = run.degraded || offline
	} else {
		d = run.channel.table.Peek(m.User.ID, &run.request, run.places...)
	}
	return run.verdict(&m, &d), nil
}

// dryRun is a message to judge without an effect.
type dryRun struct {
	at       time.Time
	channel  *channel
	policy   *compiled
	request  limits.Request
	print    TextPrint
	places   []limits.Place // in addition to the author's row; nil with shared.Exact
	user     sharing.User   // with shared.Exact
	degraded bool
}

// dryRun returns a dry run of a message. It returns an error if the message can't be judged.
func (g *Guard) dryRun(m *Message) (run dryRun, err error) {
	if run.at = m.SentAt; run.at.IsZero() {
		run.at = g.Now()
	}
	if run.channel = g.channels.known.find(m.ChannelID); run.channel == nil {
		run.channel = g.channels.new(m.ChannelID, g.channels.basePolicy())
	}
	run.policy, run.degraded = run.channel.policy.Load(), g.isDegraded()
	if err := m.fillRequest(&run.request, instant(run.at), run.policy); err != nil {
		return run, err
	}
	run.request.Latest = g.present.Peek(run.request.At, m.User.ID, m.SentAt.IsZero())
	g.fillPrint(&run.print, m, run.channel, &run.request)
	if cs := &g.channels; cs.exact {
		run.user = sharing.User{ID: m.User.ID, Order: run.policy.places, Texts: run.channel.textKeys(&cs.textKey, &run.print, m.User.ID)}
	} else {
		run.places = cs.allPlaces(nil, run.channel, m.User.ID, &run.print)
	}
	return run, nil
}

// verdict returns the verdict for a decision.
func (run *dryRun) verdict(m *Message, d *limits.Decision) (v Verdict) {
	v.fillCommon(m, run.at, run.request.Roles, run.degraded)
	v.Print = run.print
	v.decide(d, run.request.At)
	return v
}
