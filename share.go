package chatguard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
	"github.com/chatguard/chatguard/shared"
)

// defaultSharedRows is the default of Options.SharedRows.
const defaultSharedRows = 200_000

// sharedGuard implements shared.Guard.
type sharedGuard struct{ guard *Guard }

// Shared returns what a store of shared limits and the program around it need of the Guard: its
// counts, for example, and what the store calls. See Options.Shared.
func (g *Guard) Shared() shared.Guard {
	g.created()
	return sharedGuard{g}
}

// Mode implements shared.Guard.
func (s sharedGuard) Mode() shared.Mode {
	switch {
	case s.guard.channels.rows == nil:
		return ""
	case s.guard.channels.exact:
		return shared.Exact
	}
	return shared.Synchronised
}

// Counts implements shared.Guard.
func (s sharedGuard) Counts() (counts shared.Counts) {
	if rows := s.guard.channels.rows; rows != nil {
		counts = rows.Counts()
		counts.Lost += s.guard.channels.dropped.Unsent.Load() + s.guard.channels.droppedTexts.Unsent.Load()
	}
	return counts
}

// Invalidate implements shared.Guard.
func (s sharedGuard) Invalidate(channelID, userID string) {
	if rows := s.guard.channels.rows; rows != nil {
		rows.Invalidate(sharing.Key{ChannelID: channelID, UserID: userID})
	}
}

// InvalidateAll implements shared.Guard.
func (s sharedGuard) InvalidateAll() {
	if rows := s.guard.channels.rows; rows != nil {
		rows.InvalidateAll()
	}
}

// Heal implements shared.Guard.
func (s sharedGuard) Heal() {
	if rows := s.guard.channels.rows; rows != nil {
		rows.Heal()
	}
}

// Exchange implements shared.Guard.
func (s sharedGuard) Exchange(ctx context.Context) error {
	rows := s.guard.channels.rows
	if rows == nil {
		return nil
	}
	err := rows.Exchange(ctx)
	if s.guard.channels.exact {
		return err
	}
	if away := errors.Is(err, shared.ErrAway); away || err == nil {
		s.guard.unexchanged.Store(away)
	}
	return err
}

// Seed implements shared.Guard.
func (s sharedGuard) Seed(ctx context.Context, dryRun bool) (done shared.Seeded, err error) {
	rows := s.guard.channels.rows
	if rows == nil {
		return done, errors.New("chatguard: the Guard has no shared store: set Options.Shared")
	}
	return rows.Seed(ctx, dryRun)
}

// PolicyHash implements shared.Guard.
func (s sharedGuard) PolicyHash() string {
	policy := s.guard.Policy()
	policy.normalize()
	text, err := json.Marshal(policy)
	if err != nil {
		return "" // a policy that compiles can be written
	}
	if s.guard.channels.sharesKey {
		key := sha256.Sum256(s.guard.channels.textKey[:])
		text = append(text, key[:]...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// judgeShared fills in the decision on a message by the rows in the shared store, and returns how
// much of its cost is allowed.
func (v *Verdict) judgeShared(ctx context.Context, g *Guard, clock sharing.Reading, c *channel, q *limits.Request) (taken int64, err error) {
	var d limits.Decision
	user := sharing.User{ID: v.UserID, Order: c.policy.Load().places, Texts: c.textKeys(&g.channels.textKey, &v.Print, v.UserID)}
	offline, err := g.channels.rows.Judge(ctx, clock, c.shared, user, q, &d)
	if err != nil {
		return 0, err
	}
	v.Degraded = v.Degraded || offline
	v.decide(&d, q.At)
	if d.Exempt || v.policy(&d).Mode == ModeObserve {
		return q.Cost, nil
	}
	return d.Taken, nil
}

// editRow changes the row of a key in the shared store. It returns ErrNoLimit if there are no
// limits for the key. edit may be called several times.
func (a guardAt) editRow(ctx context.Context, k Key, edit func(d *limits.Draft) error) error {
	ok, err := a.guard.channels.rows.Edit(ctx, k.row(), edit)
	if !ok {
		return ErrNoLimit
	}
	return err
}

// editUser changes the rows in the shared store that a user's messages use. texts are the keys of
// those of repeated text.
func (a guardAt) editUser(ctx context.Context, k Key, texts []string, edit func([]*limits.Draft) error) error {
	return a.guard.channels.rows.EditUser(ctx, a.guard.channels.Shared(k.ChannelID, a.at), sharing.User{ID: k.UserID, Texts: texts}, edit)
}
