package persist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

const revisionColumns = "channel_id, number, author, at, policy, changes"

var revisionInsertion = insertion{into: "revision (" + revisionColumns + ")", columns: 6, conflict: "DO NOTHING"}

// revisionRow is a Revision whose policy and changes have their JSON forms.
type revisionRow struct {
	journal.Revision
	policy  sql.NullString // NULL where it went back to the configuration
	changes string
}

// newRevisionRow returns the row of a change, or of a way back to the configuration.
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

// SaveRevision numbers a change of a policy, notes it in the audit, and returns once both are stored. saved is false where they wait because
// the database is in trouble, or where the context ends first. The error says that nothing is kept, and nothing will be; it may be
// ErrTooMany.
func (s *Store) SaveRevision(ctx context.Context, r journal.Revision) (numbered journal.Revision, saved bool, err error) {
	numbered, err = s.addRevision(r, journal.PolicyChanged)
	return numbered, err == nil && s.Commit(ctx), err
}

// DiscardRevisions goes back to the configuration's policy. That is a revision of its own, without Policy and Changes, so that the history
// stays whole and the numbers go on. It returns as SaveRevision does.
func (s *Store) DiscardRevisions(ctx context.Context, channelID, author string) (numbered journal.Revision, saved bool, err error) {
	numbered, err = s.addDiscard(channelID, author)
	return numbered, err == nil && s.Commit(ctx), err
}

// addDiscard lets the way back to the configuration wait to be written.
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

// Revisions returns the changes of a channel's policy, newest first; those that wait to be stored are among them. One without Policy and
// Changes went back to the configuration.
func (s *Store) Revisions(ctx context.Context, channelID string) ([]journal.Revision, error) {
	waiting := s.changes.revisionsOf(channelID) // first, because what is stored next is missing then in neither
	stored, err := s.queryRevisions(ctx, "SELECT "+revisionColumns+" FROM revision WHERE channel_id = ? ORDER BY number DESC", channelID)
	for _, r := range waiting {
		if len(stored) == 0 || r.Number > stored[0].Number {
			stored = slices.Insert(stored, 0, r)
		}
	}
	return stored, err
}

// CurrentRevisions returns what is to be put in force at start: the last revision of each channel, unless that went back to the configuration.
// A revision whose contents can't be read is among them, and says so.
func (s *Store) CurrentRevisions(ctx context.Context) ([]journal.Revision, error) {
	return s.scanRevisions(ctx, "SELECT "+revisionColumns+` FROM revision
		WHERE policy IS NOT NULL AND (channel_id, number) IN (SELECT channel_id, max(number) FROM revision GROUP BY channel_id)
		ORDER BY channel_id`)
}

// LastRevision returns the number of a channel's last revision, and 0 if it has none. It asks no database.
func (s *Store) LastRevision(channelID string) int { return s.changes.last(channelID) }

// lastRevisions returns the number of each channel's last revision.
func lastRevisions(ctx context.Context, db *database) (last map[string]int, err error) {
	rows, err := db.reader.QueryContext(ctx, "SELECT channel_id, max(number) FROM revision GROUP BY channel_id")
	if err != nil {
		return nil, explain(db.path, err)
	}
	defer rows.Close()
	last = map[string]int{}
	for rows.Next() {
		var id string
		var number int
		if err := rows.Scan(&id, &number); err != nil {
			return nil, explain(db.path, err)
		}
		last[id] = number
	}
	return last, explain(db.path, rows.Err())
}

func writeRevisions(ctx context.Context, tx *sql.Tx, rows []revisionRow) error {
	return revisionInsertion.write(ctx, tx, len(rows), func(args []any, i int) []any { return rows[i].values(args) })
}

// queryRevisions is scanRevisions for those who need all contents.
func (s *Store) queryRevisions(ctx context.Context, query string, args ...any) ([]journal.Revision, error) {
	revisions, err := s.scanRevisions(ctx, query, args...)
	for _, r := range revisions {
		if r.Unreadable != nil {
			return nil, fmt.Errorf("database %s: revision %d of channel %s can't be read (%w): put a backup in its place, or delete that row",
				s.db.path, r.Number, r.ChannelID, r.Unreadable)
		}
	}
	return revisions, err
}

func (s *Store) scanRevisions(ctx context.Context, query string, args ...any) ([]journal.Revision, error) {
	rows, err := s.db.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(s.db.path, err)
	}
	defer rows.Close()
	revisions := []journal.Revision{}
	for rows.Next() {
		r, err := scanRevision(rows)
		if err != nil {
			return nil, explain(s.db.path, err)
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
	if err = cmp.Or(err, json.Unmarshal(changes, &r.Changes)); err != nil {
		r.Policy, r.Changes, r.Unreadable = chatguard.Policy{}, nil, fmt.Errorf("it can't be read: %w", err)
	}
	return r, nil
}
