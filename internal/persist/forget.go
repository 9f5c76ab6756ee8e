package persist

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// userTables are the tables with rows about users, which have the user's ID in the column user_id.
var userTables = []string{"state", "journal", "timeline", "person", "quarter_hour", "note", "audit"}

// Traces are what a database has of a user.
type Traces struct {
	UserID   string
	Logins   []string       // with which the user was seen, in sorted order
	LastSeen time.Time      // zero if the user has never written
	Rows     map[string]int // by table; only tables with rows
}

// FindTraces returns what the database at path has of a user: of the one with this ID, or of those
// with this login, in any case. With an @ before it, it is always a login. It works whether or not
// a process owns the database.
func FindTraces(ctx context.Context, path, user string) (found []Traces, err error) {
	db, err := Schema.OpenBeside(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	login, isLogin := strings.CutPrefix(user, "@")
	if !isLogin {
		traces, err := findTraces(ctx, db, user)
		if err != nil || len(traces.Rows) > 0 {
			return []Traces{traces}, err
		}
	}
	ids, err := columnOf(ctx, db, `SELECT user_id FROM person WHERE login = ?1 COLLATE NOCASE
		UNION SELECT user_id FROM journal WHERE login = ?1 COLLATE NOCASE UNION SELECT user_id FROM timeline WHERE login = ?1 COLLATE NOCASE`, login)
	for _, id := range ids {
		traces, err := findTraces(ctx, db, id)
		if err != nil {
			return nil, err
		}
		found = append(found, traces)
	}
	return found, err
}

func findTraces(ctx context.Context, db *sqlite.DB, userID string) (t Traces, err error) {
	t = Traces{UserID: userID, Rows: map[string]int{}}
	for _, table := range userTables {
		err := db.Query(ctx, func(rows *sql.Rows) error {
			var n int
			if err := rows.Scan(&n); err != nil || n == 0 {
				return err
			}
			t.Rows[table] = n
			return nil
		}, "SELECT count(*) FROM "+table+" WHERE user_id = ?", userID)
		if err != nil {
			return t, err
		}
	}
	t.Logins, err = columnOf(ctx, db, `SELECT login FROM (SELECT login FROM person WHERE user_id = ?1 UNION SELECT login FROM journal WHERE user_id = ?1
		UNION SELECT login FROM timeline WHERE user_id = ?1) WHERE login <> '' ORDER BY 1`, userID)
	if err != nil {
		return t, err
	}
	return t, db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(statement.Time(&t.LastSeen)) },
		`SELECT max(at) FROM (SELECT max(last_seen) AS at FROM person WHERE user_id = ?1
			UNION ALL SELECT max(at) FROM journal WHERE user_id = ?1 UNION ALL SELECT max(at) FROM timeline WHERE user_id = ?1)`, userID)
}

// columnOf returns the texts of a statement's only column.
func columnOf(ctx context.Context, db *sqlite.DB, statement string, args ...any) (list []string, err error) {
	err = db.Query(ctx, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		list = append(list, text)
		return err
	}, statement, args...)
	return list, err
}

// UserChannels returns the IDs of the channels in which a user has left something.
func (s *Store) UserChannels(ctx context.Context, userID string) ([]string, error) {
	var parts []string
	for _, table := range userTables {
		parts = append(parts, "SELECT channel_id FROM "+table+" WHERE user_id = ?1")
	}
	return columnOf(ctx, s.db, strings.Join(parts, " UNION "), userID)
}

// forgetting is a user to delete. done receives the result.
type forgetting struct {
	userID string
	done   chan error
}

// Forget deletes all rows of a user, also pending ones, and writes the file again, so that nothing
// of them stays in it. Run does that; others' changes wait meanwhile, which may take seconds for a
// large database. An error says if the rows are deleted all the same.
func (s *Store) Forget(ctx context.Context, userID string) error {
	s.notes.forget(userID)
	f := forgetting{userID, make(chan error, 1)}
	s.changes.addForgetting(f)
	if !s.Commit(ctx) {
		return errors.New("the database can't be written now, so the user isn't deleted yet: that follows as soon as it can")
	}
	select {
	case err := <-f.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ForgetUser does what Forget does in the database at path. No process may own the database.
func ForgetUser(ctx context.Context, path, userID string, opts *Options) (err error) {
	s, err := Open(ctx, path, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.db.Write(ctx, func(tx *sql.Tx) error { return deleteUser(ctx, tx, userID) }); err != nil {
		return err
	}
	return s.db.Compact(ctx)
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

// finishForgetting writes the file again after users were deleted, and notifies the callers.
func (s *Store) finishForgetting(ctx context.Context, deleted []forgetting) {
	if len(deleted) == 0 {
		return
	}
	err := s.inDatabase(func() error { return s.db.Compact(ctx) })
	for _, f := range deleted {
		f.done <- err
	}
}

// forget deletes all notes on a user, also pending ones.
func (b *notebook) forget(userID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, notes := range b.users {
		if key.userID == userID {
			b.channels[key.channelID] -= len(notes)
			b.all -= len(notes)
			delete(b.users, key)
		}
	}
	maps.DeleteFunc(b.pending, func(_ int64, row noteRow) bool { return row.UserID == userID })
}

// addForgetting adds a user to delete with the next flush, after everything else.
func (c *changeQueue) addForgetting(f forgetting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgettings = append(c.forgettings, f)
}

// writeForgettings deletes users.
func writeForgettings(ctx context.Context, tx *sql.Tx, list []forgetting) error {
	for _, f := range list {
		if err := deleteUser(ctx, tx, f.userID); err != nil {
			return err
		}
	}
	return nil
}
