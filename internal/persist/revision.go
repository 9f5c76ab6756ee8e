package persist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/internal/roles"
)

const revisionColumns = "channel_id, number, author, at, policy, changes"

var revisionInsertion = statement.Insertion{Into: "revision (" + revisionColumns + ")", Columns: 6, Conflict: "DO NOTHING"}

// revisionRow is a Revision with its policy and changes in JSON.
type revisionRow struct {
	journal.Revision
	policy  sql.NullString // NULL: returned to the configuration
	changes string
}

// revisionKey identifies a revision.
type revisionKey struct {
	channelID string
	number    int
}

func (k revisionKey) compare(other revisionKey) int {
	return cmp.Or(strings.Compare(k.channelID, other.channelID), cmp.Compare(k.number, other.number))
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
func (s *changes) SaveRevision(ctx context.Context, r journal.Revision) (numbered journal.Revision, saved bool, err error) {
	numbered, err = s.change(r, journal.PolicyChanged)
	return numbered, err == nil && s.Commit(ctx), err
}

// DiscardRevisions returns a channel to the configuration's policy. It stores this as a separate
// revision without Policy and Changes, so that the history stays complete and the numbers continue.
// Its results are those of SaveRevision.
func (s *changes) DiscardRevisions(ctx context.Context, channelID, author string) (numbered journal.Revision, saved bool, err error) {
	numbered, err = s.addDiscard(channelID, author)
	return numbered, err == nil && s.Commit(ctx), err
}

// addDiscard adds a revision to the pending changes. The revision returns a channel to the
// configuration's policy.
func (s *changes) addDiscard(channelID, author string) (journal.Revision, error) {
	r := journal.Revision{ChannelID: channelID, Author: author, At: s.now().UTC()}
	return s.change(r, journal.PolicyDiscarded)
}

func (s *changes) change(r journal.Revision, action journal.AuditAction) (journal.Revision, error) {
	row, err := newRevisionRow(r, action == journal.PolicyDiscarded)
	if err == nil {
		r, err = s.addRevision(row, journal.Audit{At: r.At, Author: r.Author, Action: action, ChannelID: r.ChannelID})
	}
	if err != nil {
		return r, fmt.Errorf("revision of channel %s: %w", r.ChannelID, err)
	}
	return r, nil
}

// Revisions returns up to n policy changes of a channel with numbers below before, newest first,
// including pending ones. If before is 0, they start with the newest. more reports whether there
// are older ones. It returns fewer than n, but at least two, if they are long. A revision without
// Policy and Changes returned the channel to the configuration.
func (s *changes) Revisions(ctx context.Context, channelID string, before, n int) (revisions []journal.Revision, more bool, err error) {
	if before == 0 {
		before = math.MaxInt
	}
	// Read pending revisions first, so that none is missed if it is stored in between.
	waiting := sortedRows(s.revisions.peek(), revisionKey.compare)
	page := revisionPage{limit: n + 1}
	for _, r := range slices.Backward(waiting) {
		if r.ChannelID == channelID && r.Number < before {
			before = r.Number
			page.add(r.Revision, len(r.policy.String)+len(r.changes))
		}
	}
	if !page.full {
		err = scanRevisions(ctx, s.db, page.add, "WHERE channel_id = ? AND number < ? ORDER BY number DESC LIMIT ?", channelID, before, page.limit)
	}
	if page.full {
		return page.revisions[:len(page.revisions)-1], true, err
	}
	return page.revisions, false, err
}

// Bounds of what is read at once, in bytes of JSON. Decoded JSON takes about ten times as much
// memory.
const (
	// maxRevisionJSON is for a policy with its changes. What people can save is shorter; a longer
	// one is from a version that had fewer bounds, or from another program.
	maxRevisionJSON = 512 << 10
	maxPageJSON     = 1 << 20  // for a page of revisions
	maxCurrentJSON  = 16 << 20 // for the revisions in force
)

// revisionPage collects revisions until there are limit of them, or they are long. The last one is
// then only the sign that there are more.
type revisionPage struct {
	limit     int
	revisions []journal.Revision
	bytes     int
	full      bool
}

func (p *revisionPage) add(r journal.Revision, bytes int) bool {
	if p.full {
		return false
	}
	p.revisions = append(p.revisions, r)
	p.bytes += bytes
	p.full = len(p.revisions) == p.limit || len(p.revisions) > 2 && p.bytes > maxPageJSON
	return !p.full
}

// CurrentRevisions returns the revisions to put in force at the start: the last revision of each
// channel, unless it returned the channel to the configuration. It also returns revisions whose
// contents can't be read, with Unreadable set. If all revisions together are too long, the oldest
// have Unreadable set, too.
func (s *changes) CurrentRevisions(ctx context.Context) ([]journal.Revision, error) {
	revisions, total := []journal.Revision{}, 0
	err := scanRevisions(ctx, s.db, func(r journal.Revision, bytes int) bool {
		if total += bytes; total > maxCurrentJSON && r.Unreadable == nil {
			r = unreadable(r, fmt.Errorf("all channels' limits have more than %d bytes together, and newer ones come first", maxCurrentJSON))
		}
		revisions = append(revisions, r)
		return true
	}, `WHERE policy IS NOT NULL AND (channel_id, number) IN (SELECT channel_id, max(number) FROM revision GROUP BY channel_id)
		ORDER BY at DESC`)
	slices.SortFunc(revisions, func(a, b journal.Revision) int { return strings.Compare(a.ChannelID, b.ChannelID) })
	return revisions, err
}

func writeRevisions(ctx context.Context, tx *sql.Tx, rows map[revisionKey]*revisionRow) error {
	list := sortedRows(rows, revisionKey.compare)
	return revisionInsertion.Write(ctx, tx, len(list), func(args []any, i int) []any { return list[i].values(args) })
}

// scanRevisions calls each for every selected revision, with the length of its JSON, until each
// returns false.
func scanRevisions(ctx context.Context, db database, each func(r journal.Revision, bytes int) bool, selection string, args ...any) error {
	// Contents that are too long don't leave SQLite.
	query := fmt.Sprintf(`SELECT channel_id, number, author, at, bytes,
		CASE WHEN bytes <= %d THEN policy WHEN policy IS NOT NULL THEN '' END, CASE WHEN bytes <= %[1]d THEN changes ELSE '' END
		FROM (SELECT *, coalesce(octet_length(policy), 0) + octet_length(changes) AS bytes FROM revision) `, maxRevisionJSON) + selection
	err := db.Query(ctx, func(rows *sql.Rows) error {
		r, bytes, err := scanRevision(rows)
		if err == nil && !each(r, bytes) {
			err = errEnough
		}
		return err
	}, query, args...)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// errEnough ends a query early.
var errEnough = errors.New("enough rows")

func scanRevision(rows *sql.Rows) (r journal.Revision, bytes int, err error) {
	var policy sql.NullString
	var changes []byte
	if err := rows.Scan(&r.ChannelID, &r.Number, &r.Author, statement.Time(&r.At), &bytes, &policy, &changes); err != nil {
		return r, 0, err
	}
	if bytes > maxRevisionJSON {
		return unreadable(r, fmt.Errorf("it has %d bytes, and at most %d are read", bytes, maxRevisionJSON)), 0, nil
	}
	if policy.Valid {
		err = json.Unmarshal([]byte(policy.String), &r.Policy)
		if r.Policy.Roles == nil { // from before policies listed their roles
			r.Policy.Roles = slices.Clone(roles.Twitch)
		}
	}
	if err = cmp.Or(err, json.Unmarshal(changes, &r.Changes)); err != nil {
		r = unreadable(r, fmt.Errorf("it can't be read: %w", err))
	}
	return r, bytes, nil
}

// unreadable returns a revision without its contents.
func unreadable(r journal.Revision, why error) journal.Revision {
	r.Policy, r.Changes, r.Unreadable = chatguard.Policy{}, nil, why
	return r
}
