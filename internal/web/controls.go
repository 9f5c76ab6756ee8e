package web

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Controls change what holds in a channel over its policy, and what single users are given or forgiven. saved is false where a restart would
// undo that, because the database is in trouble.
type Controls interface {
	Switches
	Amends
}

// Amends change one user. They return once that is in force, and kept or known not to be. An error is a sentence for people; those that
// chatguard and journal name are its kinds.
type Amends interface {
	// Grant gives n extra messages in a limit; an empty limit means the first that counts by days.
	Grant(ctx context.Context, t journal.Target, limit string, n int) (until time.Time, saved bool, err error)
	// Reset makes a user like one never seen.
	Reset(ctx context.Context, t journal.Target) (saved bool, err error)
	// Exempt lets a user write without limits for a while; 0 means for good.
	Exempt(ctx context.Context, t journal.Target, length time.Duration) (saved bool, err error)
	// SetOverride gives a user numbers, a zone or an exemption of their own, in place of those that they had.
	SetOverride(ctx context.Context, t journal.Target, own chatguard.UserOverride) (saved bool, err error)
	// PardonUser forgives the run of messages that the user's newest throttled one belongs to.
	PardonUser(ctx context.Context, t journal.Target) (done journal.Pardon, saved bool, err error)
	// Unpardon undoes the user's pardon of that ID, as long as nothing has changed since that it would change.
	Unpardon(ctx context.Context, t journal.Target, id int64) (undone journal.Undone, saved bool, err error)
	// Pardon forgives a single throttled message.
	Pardon(ctx context.Context, entry chatguard.EntryID, author string) (saved bool, err error)
}
