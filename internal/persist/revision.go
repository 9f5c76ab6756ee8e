package persist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

const revisionColumns = "channel_id, number, author, at, policy, changes"

var revisionInsertion = Insertion{Into: "revision (" + revisionColumns + ")", Columns: 6, Conflict: "DO NOTHING"}

// revisionRow is a Revision with its policy and changes in JSON.
type revisionRow struct {
	journal.Revision
	policy  sql.NullString // NULL: returned to the configuration
	changes string
}

// newRevisionRow returns the row of a change, or of a return to the configuration.
func newRevisionRow(r journal.Revision, discarded bool) (revisionRow, error) {
	changes, err := json.Marshal(r.Changes)
	if err != nil || discarded {
		return revisionRow{Revision: r, changes: string(changes)}, err
	}
	policy, err := json.Marshal(r.Policy)
	return revisionRow{r, sql.NullString{String: string(policy), Valid: true}, string(changes)}, err
}

func (r *revisionRow) values(args []any) []any {
	return append(args, r.ChannelID, r.Number, r.Author, r.At.UnixNano(), r.policy, r.changes)
}

// SaveRevision numbers a policy change, adds it to the audit log, and returns once both are stored.
// saved is false if the database is failing or the context ends first; both are then pending. An
// error means that neither is kept; it may be ErrTooMany.
func (s *Store) SaveRevision(ctx context.Context, r journal.Revision) (numbered journal.Revision, saved bool, err error) {
	numbered, err = s.addRevision(r, journal.PolicyChanged)
	return numbered, err == nil && s.Commit(ctx), err
}

// DiscardRevisions returns a channel to the configuration's policy. It stores this as a separate
// revision without Policy and Changes, so that the history stays complete and the numbers continue.
// Its results are those of SaveRevision.
func (s *Store) DiscardRevisions(ctx context.Context, channelID, author string) (numbered journal.Revision, saved bool, err error) {
	numbered, err = s.addDiscard(channelID, author)
	return numbered, err == nil && s.Commit(ctx), err
}

// addDiscard adds a revision to the pending changes. The revision returns a channel to the
// configuration's policy.
func (s *Store) addDiscard(channelID, author string) (journal.Revision, error) {
	r := journal.Revision{ChannelID: channelID, Author: author, At: s.opts.Now().UTC()}
	return s.addRevision(r, journal.PolicyDiscarded)
}

func (s *Store) addRevision(r journal.Revision, action journal.AuditAction) (journal.Revision, error) {
	row, err := newRevisionRow(r, action == journal.PolicyDiscarded)
	if err == nil {
		r, err = s.changes.addRevision(row, journal.Audit{At: r.At, Author: r.Author, Action: action, ChannelID: r.ChannelID})
	}
	if err != nil {
		return r, fmt.Errorf("revision of channel %s: %w", r.ChannelID, err)
	}
	return r, nil
}

// Revisions returns the policy changes of a channel, newest first, including pending ones. A
// revision without Policy and Changes returned the channel to the configuration.
func (s *Store) Revisions(ctx context.Context, channelID string) ([]journal.Revision, error) {
	// Read pending revisions first, so that none is missed if it is stored in between.
	waiting := s.changes.peek().revisions
	stored, err := s.db.queryRevisions(ctx, "SELECT "+revisionColumns+" FROM revision WHERE channel_id = ? ORDER BY number DESC", channelID)
	for _, r := range waiting {
		if r.ChannelID == channelID && (len(stored) == 0 || r.Number > stored[0].Number) {
			stored = slices.Insert(stored, 0, r.Revision)
		}
	}
	return stored, err
}

// CurrentRevisions returns the revisions to put in force at the start: the last revision of each
// channel, unless it returned the channel to the configuration. It also returns revisions whose
// contents can't be read, with Unreadable set.
func (s *Store) CurrentRevisions(ctx context.Context) ([]journal.Revision, error) {
	return s.db.scanRevisions(ctx, "SELECT "+revisionColumns+` FROM revision
		WHERE policy IS NOT NULL AND (channel_id, number) IN (SELECT channel_id, max(number) FROM revision GROUP BY channel_id)
		ORDER BY channel_id`)
}

// lastRevisions returns the number of each channel's last revision.
func lastRevisions(ctx context.Context, db *database) (last map[string]int, err error) {
	last = map[string]int{}
	err = db.query(ctx, func(rows *sql.Rows) error {
		var id string
		var number int
		err := rows.Scan(&id, &number)
		last[id] = number
		return err
	}, "SELECT channel_id, max(number) FROM revision GROUP BY channel_id")
	return last, err
}

func writeRevisions(ctx context.Context, tx *sql.Tx, rows []revisionRow) error {
	return revisionInsertion.Write(ctx, tx, len(rows), func(args []any, i int) []any { return rows[i].values(args) })
}

// queryRevisions is like scanRevisions, but returns an error if the contents of any revision can't
// be read.
func (db *database) queryRevisions(ctx context.Context, query string, args ...any) ([]journal.Revision, error) {
	revisions, err := db.scanRevisions(ctx, query, args...)
	for _, r := range revisions {
		if r.Unreadable != nil {
			return nil, fmt.Errorf("database %s: revision %d of channel %s can't be read (%w): put a backup in its place, or delete that row",
				db.path, r.Number, r.ChannelID, r.Unreadable)
		}
	}
	return revisions, err
}

func (db *database) scanRevisions(ctx context.Context, query string, args ...any) ([]journal.Revision, error) {
	revisions := []journal.Revision{}
	err := db.query(ctx, func(rows *sql.Rows) error {
		r, err := scanRevision(rows)
		revisions = append(revisions, r)
		return err
	}, query, args...)
	return revisions, err
}

func scanRevision(rows *sql.Rows) (r journal.Revision, err error) {
	var policy sql.NullString
	var changes []byte
	if err := rows.Scan(&r.ChannelID, &r.Number, &r.Author, TimeColumn{&r.At}, &policy, &changes); err != nil {
		return r, err
	}
	if policy.Valid {
		err = json.Unmarshal([]byte(policy.String), &r.Policy)
	}
	if err = cmp.Or(err, json.Unmarshal(changes, &r.Changes)); err != nil {
		r.Policy, r.Changes, r.Unreadable = chatguard.Policy{}, nil, fmt.Errorf("it can't be read: %w", err)
	}
	return r, nil
}

// ReadPolicies returns the results of CurrentRevisions and Channels for the database at path. It
// works whether or not a process owns the database. The error names the file and the fix.
func ReadPolicies(ctx context.Context, path string) (current []journal.Revision, logins map[string]string, err error) {
	tokens, err := OpenTokens(ctx, path, nil)
	if err != nil {
		return nil, nil, err
	}
	beside := &Store{Tokens: tokens, db: tokens.db}
	if current, err = beside.CurrentRevisions(ctx); err == nil {
		logins, err = beside.Channels(ctx)
	}
	return current, logins, errors.Join(err, tokens.Close())
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
	return numbered, s.db.write(ctx, func(tx *sql.Tx) error { return writeChanges(ctx, tx, s.changes.peek()) })
}
