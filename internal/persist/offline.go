package persist

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// Commands such as forget use what is in this file. Their process doesn't call Run.

// Traces are what a database has of a user.
type Traces struct {
	UserID   string
	Logins   []string       // with which the user was seen, in sorted order
	LastSeen time.Time      // zero if the user has never written
	Rows     map[string]int // by table; only tables with rows
}

// FindTraces returns what the database at path has of a user. user is an ID, or else a login in
// upper or lower case; with a leading @, it is always a login. FindTraces works whether or not a
// process owns the database.
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
	ids, err := statement.Texts(ctx, db.Query, `SELECT user_id FROM person WHERE login = $1 COLLATE NOCASE
		UNION SELECT user_id FROM journal WHERE login = $1 COLLATE NOCASE UNION SELECT user_id FROM timeline WHERE login = $1 COLLATE NOCASE`, login)
	for _, id := range ids {
		traces, err := findTraces(ctx, db, id)
		if err != nil {
			return nil, err
		}
		found = append(found, traces)
	}
	return found, err
}

func findTraces(ctx context.Context, db database, userID string) (t Traces, err error) {
	var counts []string
	for _, table := range userTables {
		counts = append(counts, "SELECT '"+table+"', count(*) FROM "+table+" WHERE user_id = $1 HAVING count(*) > 0")
	}
	t = Traces{UserID: userID}
	if t.Rows, err = statement.Map[int](ctx, db.Query, strings.Join(counts, " UNION ALL "), userID); err != nil {
		return t, err
	}
	t.Logins, err = statement.Texts(ctx, db.Query, `SELECT login FROM (SELECT login FROM person WHERE user_id = $1 UNION SELECT login FROM journal WHERE user_id = $1
		UNION SELECT login FROM timeline WHERE user_id = $1) WHERE login <> '' ORDER BY 1`, userID)
	if err != nil {
		return t, err
	}
	return t, db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(statement.Time(&t.LastSeen)) },
		`SELECT max(at) FROM (SELECT max(last_seen) AS at FROM person WHERE user_id = $1
			UNION ALL SELECT max(at) FROM journal WHERE user_id = $1 UNION ALL SELECT max(at) FROM timeline WHERE user_id = $1)`, userID)
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

// ReadPolicies returns the results of CurrentRevisions and Channels for the database at path. It
// works whether or not a process owns the database. The error names the file and the fix.
func ReadPolicies(ctx context.Context, path string) (current []journal.Revision, logins map[string]string, err error) {
	db, err := Schema.OpenBeside(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if current, err = (&changes{db: db}).CurrentRevisions(ctx); err == nil {
		logins, err = (&channels{db: db}).Channels(ctx)
	}
	return current, logins, errors.Join(err, db.Close())
}

// DiscardPolicy returns a channel to the configuration's policy as DiscardRevisions does, in the
// database at path. No process may own the database.
func DiscardPolicy(ctx context.Context, path, channelID, author string, opts *Options) (numbered journal.Revision, err error) {
	s, err := Open(ctx, path, opts)
	if err != nil {
		return numbered, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if numbered, err = s.addDiscard(channelID, author); err != nil {
		return numbered, err
	}
	revisions, audits := s.changes.parts()
	return numbered, s.db.Write(ctx, func(tx *sql.Tx) error { return writeParts(ctx, tx, []part{revisions, audits}) })
}

// HasOtherTexts reports whether the database at path has hashes of texts that are useless with the
// key of print. If print is nil, there is no key yet, so all of them are. Otherwise, only the
// prints of the timeline say which key made them. HasOtherTexts works whether or not a process owns
// the database.
func HasOtherTexts(ctx context.Context, path string, print func(text string) chatguard.TextPrint) (has bool, err error) {
	db, err := Schema.OpenSnapshot(ctx, path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// An older version has neither prints nor rows of texts.
	err = db.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pragma_table_info('timeline') WHERE name = 'print')").Scan(&has)
	switch {
	case err != nil || !has:
	case print == nil:
		err = db.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM timeline WHERE print IS NOT NULL) OR EXISTS (SELECT 1 FROM state WHERE user_id GLOB char(31) || '*')").Scan(&has)
	default:
		mark := newTexts(print).mark
		err = db.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM timeline WHERE print IS NOT NULL AND substr(print, 1, length(?1)) <> ?1)", mark[:]).Scan(&has)
	}
	return has, err
}
