package doctor

import (
	"context"
	"errors"
	"log/slog"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/redisstore"
)

// states are the states of findings about the shared store.
var states = map[redisstore.Level]string{redisstore.OK: OK, redisstore.Warning: Note, redisstore.Problem: Problem}

// checkShared checks the shared store, the rights to use it, and the other nodes.
func (d *Doctor) checkShared(ctx context.Context) (list []Finding) {
	if !d.cfg.Shared.HasStore() {
		return []Finding{okFinding("there is none: this node allows %v of every limit", d.cfg.Shared.Share)}
	}
	if err := node.CheckPolicies(d.cfg); err != nil {
		return d.sharedProblem(err) // before the namespace gets this placement
	}
	store, err := node.OpenStore(ctx, d.cfg, slog.New(slog.DiscardHandler), func(o *redisstore.Options) {
		o.Version = d.Version
		o.Node = "" // a name of its own
	})
	if err != nil {
		return d.sharedProblem(err)
	}
	defer store.Close() // fails only if it is already closed
	for _, f := range store.Diagnose(ctx) {
		if f.Level == redisstore.Problem {
			d.sharedProblems = append(d.sharedProblems, f.Text+": "+f.Fix)
		}
		list = append(list, Finding{State: states[f.Level], Found: f.Name + ": " + f.Text, Fix: f.Fix})
	}
	return list
}

// sharedProblem returns the finding for a store that can't be opened. The error names the fix.
func (d *Doctor) sharedProblem(err error) []Finding {
	if bad := (*config.Error)(nil); errors.As(err, &bad) {
		d.sharedProblems = append(d.sharedProblems, bad.Problem)
		err = errors.New(bad.Key + ": " + bad.Problem)
	}
	return []Finding{problemFrom(err)}
}
