package persist

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/chatguard/chatguard/internal/persist/statement"
)

// userTables are the tables with rows about users, which have the user's ID in the column user_id.
var userTables = []string{"state", "journal", "timeline", "person", "quarter_hour", "note", "audit"}

// forgettings are users to delete.
type forgettings struct {
	*commits
	db    database
	notes *notebook
	// compact rewrites the file, so that nothing that was deleted stays in it.
	compact func(context.Context) error
	pending pending[chan error, string] // user IDs by the Go channel that receives the result
}

// UserChannels returns the IDs of the channels for which the database has rows of a user.
func (f *forgettings) UserChannels(ctx context.Context, userID string) ([]string, error) {
	var parts []string
	for _, table := range userTables {
		parts = append(parts, "SELECT channel_id FROM "+table+" WHERE user_id = $1")
	}
	return statement.Texts(ctx, f.db.Query, strings.Join(parts, " UNION "), userID)
}

// Forget deletes all rows of a user, including pending ones, and rewrites the file, so that nothing
// of them stays in it. Run does that; others' changes wait meanwhile, which may take seconds for a
// large database. The error says whether the rows are deleted nevertheless.
func (f *forgettings) Forget(ctx context.Context, userID string) error {
	f.notes.forget(userID)
	forgotten := make(chan error, 1)
	_ = f.pending.put(forgotten, &userID) // there is no limit
	if !f.Commit(ctx) {
		return errors.New("the database can't be written now, so the user isn't deleted yet: that follows as soon as it can")
	}
	select {
	case err := <-forgotten:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// part returns the users to delete as a part of a flush. When they are deleted, it rewrites the
// file and notifies the callers.
func (f *forgettings) part() part {
	users := f.pending.peek()
	return part{
		rows:  len(users),
		write: func(ctx context.Context, tx *sql.Tx) error { return writeForgettings(ctx, tx, users) },
		done: func(ctx context.Context, isStored bool) {
			if !isStored || len(users) == 0 {
				return
			}
			f.pending.stored(users)
			err := f.compact(ctx)
			for forgotten := range users {
				forgotten <- err
			}
		},
	}
}

// writeForgettings deletes users.
func writeForgettings(ctx context.Context, tx *sql.Tx, users map[chan error]*string) error {
	for _, userID := range users {
		if err := deleteUser(ctx, tx, *userID); err != nil {
			return err
		}
	}
	return nil
}

// deleteUser deletes all rows of a user.
func deleteUser(ctx context.Context, tx *sql.Tx, userID string) error {
	for _, table := range userTables {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE user_id = ?", userID); err != nil {
			return err
		}
	}
	return nil
}
