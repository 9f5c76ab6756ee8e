package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/shared"
)

// Seed writes the state of all users that the database has to the shared store, except the rows
// that the store already has. If dryRun is true, it only counts. No other process may own the
// database.
func Seed(ctx context.Context, o Options, dryRun bool) (done shared.Seeded, err error) {
	a := newApp(o)
	defer a.Close()
	if a.node, err = node.OpenToSeed(ctx, o.Config); err != nil {
		return done, err
	}
	if _, err := os.Stat(o.Config.Database); err != nil {
		return done, fmt.Errorf("database %s can't be read: %w; there is nothing to copy before the first `chatguard run`", o.Config.Database, errors.Unwrap(err))
	}
	for _, part := range []func(context.Context) error{a.openHost, a.openGuard, a.restore} {
		if err := part(ctx); err != nil {
			return done, err
		}
	}
	return a.Guard.Shared().Seed(ctx, dryRun)
}
