package persist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

const auditColumns = "id, at, author, action, channel_id, user_id, detail"

// maxAuditDetail is the maximum length of a shown detail in bytes. No change has a longer one now,
// and a page of longer ones would fill the memory.
const maxAuditDetail = 64 << 10

// shownAudit are the auditColumns without a detail that is too long.
var shownAudit = fmt.Sprintf("id, at, author, action, channel_id, user_id, CASE WHEN octet_length(detail) <= %d THEN detail ELSE '{}' END", maxAuditDetail)

var auditInsertion = statement.Insertion{Into: "audit (" + auditColumns + ")", Columns: 7, Conflict: "DO NOTHING"}

// auditRow is an Audit with its detail in JSON.
type auditRow struct {
	journal.Audit
	detail string
}

// newAuditRow returns the row of a change, or an error if its detail can't be encoded as JSON.
func newAuditRow(a journal.Audit) (auditRow, error) {
	detail, err := json.Marshal(a.Detail)
	return auditRow{a, string(detail)}, err
}

func (r *auditRow) values(args []any) []any {
	return append(args, r.ID, r.At.UnixNano(), r.Author, string(r.Action), r.ChannelID, r.UserID, r.detail)
}

func writeAudits(ctx context.Context, tx *sql.Tx, rows map[int64]*auditRow) error {
	list := sortedRows(rows, cmp.Compare)
	return auditInsertion.Write(ctx, tx, len(list), func(args []any, i int) []any { return list[i].values(args) })
}

// Record adds a person's change to the audit log. It returns once the record is stored, together
// with all earlier changes in the Guard. So the caller makes the change first, then calls Record,
// and then answers the request. The store assigns the ID. saved is false if the database is failing
// or the context ends first; the record is then pending. An error means that the record isn't kept;
// it may be ErrTooMany.
func (s *changes) Record(ctx context.Context, a journal.Audit) (saved bool, err error) {
	if err := s.addAudit(a); err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	return s.Commit(ctx), nil
}

// Audits returns the matching changes, newest first, including pending ones.
func (s *changes) Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error) {
	about, err := s.matchingUsers(ctx, wanted.ChannelID, wanted.User)
	if err != nil {
		return nil, err
	}
	f := newAuditFilter(wanted, about)
	// Read pending audits first, so that none is missed if it is stored in between.
	waiting := sortedRows(s.audits.peek(), cmp.Compare)
	audits := []journal.Audit{}
	for _, row := range slices.Backward(waiting) {
		if f.matches(row) && len(audits) < wanted.N {
			audits = append(audits, row.read())
		}
	}
	if len(waiting) > 0 {
		// Stored audits have lower IDs than pending ones. A change that was pending may be stored
		// by now; don't return it twice.
		f.add("id < ?", waiting[0].ID)
	}
	err = s.db.Query(ctx, func(rows *sql.Rows) error {
		var r auditRow
		err := rows.Scan(&r.ID, statement.Time(&r.At), &r.Author, &r.Action, &r.ChannelID, &r.UserID, &r.detail)
		audits = append(audits, r.read())
		return err
	}, "SELECT "+shownAudit+" FROM audit"+f.whereClause()+" ORDER BY id DESC LIMIT ?", append(f.args, wanted.N-len(audits))...)
	return audits, err
}

// read returns the Audit with its detail.
func (r *auditRow) read() journal.Audit {
	a := r.Audit
	a.Detail = journal.StoredDetail(r.detail)
	return a
}

// matchingUsers returns the IDs of the users that text may mean: text itself as an ID, and the ID
// of the user who last spoke in the channel under that login. That user may have another login now,
// but had this one at the time of the audits.
func (s *changes) matchingUsers(ctx context.Context, channelID, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	id, ok, err := s.people.lastUserAs(ctx, channelID, strings.ToLower(text))
	if !ok {
		return []string{text}, err
	}
	return []string{text, id}, nil
}

// newAuditFilter returns the filter for the wanted changes. If users isn't empty, only changes to
// one of these users match.
func newAuditFilter(wanted journal.AuditFilter, users []string) (f filter[auditRow]) {
	if wanted.IsWhole && wanted.ChannelID != "" {
		f.require(func(a *auditRow) bool { return a.ChannelID == wanted.ChannelID || a.ChannelID == "" }, "channel_id IN (?, '')", wanted.ChannelID)
	} else {
		f.requireEqual("channel_id", wanted.ChannelID, func(a *auditRow) string { return a.ChannelID })
	}
	f.requireEqual("user_id", wanted.UserID, func(a *auditRow) string { return a.UserID })
	if wanted.Author != "" {
		authors := append(auth.AuthorsNamed(wanted.Author), wanted.Author)
		f.require(func(a *auditRow) bool { return slices.Contains(authors, a.Author) }, "author IN "+sqlite.List("?"), jsonOf(authors))
	}
	f.requireEqual("action", string(wanted.Action), func(a *auditRow) string { return string(a.Action) })
	if len(users) > 0 {
		f.require(func(a *auditRow) bool { return slices.Contains(users, a.UserID) }, "user_id IN "+sqlite.List("?"), jsonOf(users))
	}
	if wanted.UserIDs != nil {
		f.require(func(a *auditRow) bool { return slices.Contains(wanted.UserIDs, a.UserID) }, "user_id IN "+sqlite.List("?"), jsonOf(wanted.UserIDs))
	}
	if len(wanted.Pardoned) > 0 {
		pardoned := jsonOf(wanted.Pardoned)
		f.add("action IN (?, ?)", string(journal.UserPardoned), string(journal.UserUnpardoned))
		// SQLite evaluates this list once. It excludes most rows before the slower condition below.
		f.add("user_id IN (SELECT value ->> 'user' FROM json_each(?))", pardoned)
		f.require(func(a *auditRow) bool { return a.isPardonOf(wanted.Pardoned) }, `json_valid(detail) AND EXISTS (SELECT 1 FROM json_each(?) AS entry
			WHERE entry.value ->> 'channel' = channel_id AND entry.value ->> 'user' = user_id AND entry.value ->> 'id' BETWEEN
				coalesce(detail ->> 'first', detail ->> 'entry') AND coalesce(detail ->> 'last', detail ->> 'entry'))`, pardoned)
	}
	if before := wanted.Before; before != 0 {
		f.require(func(a *auditRow) bool { return a.ID < before }, "id < ?", before)
	}
	return f
}

// isPardonOf reports whether the record is a pardon of one of the entries, or undoes such a pardon.
func (r *auditRow) isPardonOf(entries []journal.EntryKey) bool {
	if r.Action != journal.UserPardoned && r.Action != journal.UserUnpardoned {
		return false
	}
	first, last, ok := journal.PardonedEntries(r.read())
	return ok && slices.ContainsFunc(entries, func(e journal.EntryKey) bool {
		return e.ChannelID == r.ChannelID && e.UserID == r.UserID && first <= e.ID && e.ID <= last
	})
}
