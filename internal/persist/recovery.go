package persist

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// recoverFile repairs the database's files if somebody has touched them. Only Run calls it.
func (s *Store) recoverFile(ctx context.Context, guard *chatguard.Guard) error {
	found, err := s.db.Recover(ctx)
	if found.Repaired != "" {
		s.figures.errors.Inc()
		s.opts.Logger.Error(found.Repaired, slog.String("database", s.db.Path))
	}
	if errors.As(err, new(*sqlite.OwnedError)) {
		s.lost = err
	}
	if found.IsOther {
		guard.State().DirtyAll()
	}
	return err
}

// lastLook is for how long a database is checked before a clean end. A large one is checked only in
// part.
const lastLook = 2 * time.Second
