package persist

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chatguard/chatguard/internal/journal"
)

// ErrConflict is what every ConflictError is to errors.Is.
var ErrConflict = errors.New("the policy has been changed meanwhile")

// ConflictError says that somebody else changed the policy first.
type ConflictError struct {
	ChannelID string
	Last      int // number of the last revision; 0 when there is none
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the policy of channel %s has been changed meanwhile: look at revision %d, then change it again", e.ChannelID, e.Last)
}

func (e *ConflictError) Unwrap() error { return ErrConflict }

const revisionColumns = "channel_id, number, author, at, policy, changes"

// SaveRevision stores a change of a policy and returns after its commit. Its Number must follow the channel's last one, else the error is a
// *ConflictError.
func (s *Store) SaveRevision(ctx context.Context, r journal.Revision) error {
	policy, err := json.Marshal(r.Policy)
	if err != nil {
		return fmt.Errorf("revision %d of channel %s: %w", r.Number, r.ChannelID, err)
	}
	return s.db.write(ctx, func(tx *sql.Tx) error {
		last, err := lastRevision(ctx, tx, r.ChannelID)
		if err != nil {
			return err
		}
		if r.Number != last+1 {
			return &ConflictError{ChannelID: r.ChannelID, Last: last}
		}
		return insertRevision(ctx, tx, r, sql.NullString{String: string(policy), Valid: true})
	})
}

// DiscardRevisions goes back to the configuration's policy. That is a revision of its own, without Policy and Changes, so that the history
// stays whole and the numbers go on. It is returned after its commit.
func (s *Store) DiscardRevisions(ctx context.Context, channelID, author string) (journal.Revision, error) {
	r := journal.Revision{ChannelID: channelID, Author: author, At: s.opts.Now().UTC()}
	err := s.db.write(ctx, func(tx *sql.Tx) error {
		last, err := lastRevision(ctx, tx, channelID)
		if err != nil {
			return err
		}
		r.Number = last + 1
		return insertRevision(ctx, tx, r, sql.NullString{})
	})
	return r, err
}

// Revisions returns the changes of a channel's policy, newest first. One without Policy and Changes went back to the configuration.
func (s *Store) Revisions(ctx context.Context, channelID string) ([]journal.Revision, error) {
	return s.queryRevisions(ctx, "SELECT "+revisionColumns+" FROM revision WHERE channel_id = ? ORDER BY number DESC", channelID)
}

// CurrentRevisions returns what is to be put in force at start: the last revision of each channel, unless that went back to the configuration.
func (s *Store) CurrentRevisions(ctx context.Context) ([]journal.Revision, error) {
	return s.queryRevisions(ctx, "SELECT "+revisionColumns+` FROM revision
		WHERE policy IS NOT NULL AND (channel_id, number) IN (SELECT channel_id, max(number) FROM revision GROUP BY channel_id)
		ORDER BY channel_id`)
}

// lastRevision returns the number of the channel's last revision; 0 when there is none.
func lastRevision(ctx context.Context, tx *sql.Tx, channelID string) (number int, err error) {
	err = tx.QueryRowContext(ctx, "SELECT ifnull(max(number), 0) FROM revision WHERE channel_id = ?", channelID).Scan(&number)
	return number, err
}

func insertRevision(ctx context.Context, tx *sql.Tx, r journal.Revision, policy sql.NullString) error {
	changes, err := json.Marshal(r.Changes)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO revision ("+revisionColumns+") VALUES (?, ?, ?, ?, ?, ?)",
		r.ChannelID, r.Number, r.Author, r.At.UnixNano(), policy, string(changes))
	return err
}

func (s *Store) queryRevisions(ctx context.Context, query string, args ...any) ([]journal.Revision, error) {
	rows, err := s.db.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(s.db.path, err)
	}
	defer rows.Close()
	revisions := []journal.Revision{}
	for rows.Next() {
		r, err := scanRevision(rows)
		if err != nil {
			return nil, fmt.Errorf("database %s: revision %d of channel %s: %w", s.db.path, r.Number, r.ChannelID, err)
		}
		revisions = append(revisions, r)
	}
	return revisions, explain(s.db.path, rows.Err())
}

func scanRevision(rows *sql.Rows) (r journal.Revision, err error) {
	var at int64
	var policy sql.NullString
	var changes []byte
	if err := rows.Scan(&r.ChannelID, &r.Number, &r.Author, &at, &policy, &changes); err != nil {
		return r, err
	}
	r.At = timeAt(at)
	if policy.Valid {
		err = json.Unmarshal([]byte(policy.String), &r.Policy)
	}
	return r, errors.Join(err, json.Unmarshal(changes, &r.Changes))
}
