package persist

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

const auditColumns = "id, at, author, action, channel_id, user_id, detail"

var auditInsertion = insertion{into: "audit (" + auditColumns + ")", columns: 7, conflict: "DO NOTHING"}

// auditRow is an Audit whose detail has its JSON form.
type auditRow struct {
	journal.Audit
	detail string
}

// newAuditRow returns an error for a detail that has no JSON form.
func newAuditRow(a journal.Audit) (auditRow, error) {
	detail, err := json.Marshal(a.Detail)
	return auditRow{a, string(detail)}, err
}

func (r *auditRow) values(args []any) []any {
	return append(args, r.ID, r.At.UnixNano(), r.Author, string(r.Action), r.ChannelID, r.UserID, r.detail)
}

func writeAudits(ctx context.Context, tx *sql.Tx, rows []auditRow) error {
	return auditInsertion.write(ctx, tx, len(rows), func(args []any, i int) []any { return rows[i].values(args) })
}

// Record notes in the audit that somebody has changed something, and returns once that, and everything that was changed in the Guard before,
// is stored: so change first, then Record, then answer. The store gives the ID. saved is false where it waits because the database is in
// trouble, or where the context ends first. The error says that the audit isn't kept; it may be ErrTooMany.
func (s *Store) Record(ctx context.Context, a journal.Audit) (saved bool, err error) {
	if err := s.changes.addAudit(a); err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	return s.Commit(ctx), nil
}

// Audits returns the changes wanted, the newest first, those that wait to be written among them.
func (s *Store) Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error) {
	about, err := s.usersMeant(ctx, wanted.ChannelID, wanted.User)
	if err != nil {
		return nil, err
	}
	waiting := s.changes.waitingAudits() // first, because what is stored next is missing then in neither
	audits := []journal.Audit{}
	for _, row := range slices.Backward(waiting) {
		if wantsAudit(&wanted, about, &row) && len(audits) < wanted.N {
			audits = append(audits, row.read())
		}
	}
	c := auditConditions(wanted, about)
	if len(waiting) > 0 {
		c.add("id < ?", waiting[0].ID) // those that are stored are older, and those that wait may be stored by now
	}
	err = s.db.query(ctx, func(rows *sql.Rows) error {
		var r auditRow
		var at int64
		err := rows.Scan(&r.ID, &at, &r.Author, &r.Action, &r.ChannelID, &r.UserID, &r.detail)
		r.At = timeAt(at)
		audits = append(audits, r.read())
		return err
	}, "SELECT "+auditColumns+" FROM audit"+c.where()+" ORDER BY id DESC LIMIT ?", append(c.args, wanted.N-len(audits))...)
	return audits, err
}

// read is the Audit with its detail as JSON has it; numbers stay exact.
func (r *auditRow) read() journal.Audit {
	a := r.Audit
	decoder := json.NewDecoder(strings.NewReader(r.detail))
	decoder.UseNumber()
	if err := decoder.Decode(&a.Detail); err != nil {
		a.Detail = r.detail // somebody has edited the file
	}
	return a
}

// usersMeant returns the IDs of who is meant by an ID or a login of a channel: the text itself, and who is called so.
func (s *Store) usersMeant(ctx context.Context, channelID, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	id, ok, err := s.UserByLogin(ctx, channelID, strings.ToLower(text))
	if !ok {
		return []string{text}, err
	}
	return []string{text, id}, nil
}

// wantsAudit reports whether a change is one of those wanted, about one of the users, if any are named; auditConditions says the same of those stored.
func wantsAudit(wanted *journal.AuditFilter, users []string, a *auditRow) bool {
	return (wanted.ChannelID == "" || wanted.ChannelID == a.ChannelID) &&
		(wanted.UserID == "" || wanted.UserID == a.UserID) &&
		(len(users) == 0 || slices.Contains(users, a.UserID)) &&
		(wanted.Author == "" || wanted.Author == a.Author) &&
		(wanted.Action == "" || wanted.Action == a.Action) &&
		(len(wanted.Pardoned) == 0 || a.isPardonOf(wanted.Pardoned)) &&
		(wanted.Before == 0 || a.ID < wanted.Before)
}

func auditConditions(wanted journal.AuditFilter, users []string) (c conditions) {
	for column, value := range map[string]string{
		"channel_id": wanted.ChannelID, "user_id": wanted.UserID, "author": wanted.Author, "action": string(wanted.Action),
	} {
		if value != "" {
			c.add(column+" = ?", value)
		}
	}
	if len(users) > 0 {
		c.add("user_id IN (SELECT value FROM json_each(?))", jsonOf(users))
	}
	if len(wanted.Pardoned) > 0 {
		pardoned := jsonOf(wanted.Pardoned)
		c.add("action IN (?, ?)", string(journal.UserPardoned), string(journal.UserUnpardoned))
		c.add("user_id IN (SELECT value ->> 'user' FROM json_each(?))", pardoned) // looked up once; the rest row by row
		c.add(`json_valid(detail) AND EXISTS (SELECT 1 FROM json_each(?) AS entry
			WHERE entry.value ->> 'channel' = channel_id AND entry.value ->> 'user' = user_id AND entry.value ->> 'id' BETWEEN
				coalesce(detail ->> 'first', detail ->> 'entry') AND coalesce(detail ->> 'last', detail ->> 'entry'))`, pardoned)
	}
	if wanted.Before != 0 {
		c.add("id < ?", wanted.Before)
	}
	return c
}

// isPardonOf reports whether it is a pardon of one of the entries, or undid one; auditConditions says the same of those stored.
func (r *auditRow) isPardonOf(entries []journal.EntryKey) bool {
	if r.Action != journal.UserPardoned && r.Action != journal.UserUnpardoned {
		return false
	}
	first, last, ok := journal.PardonedEntries(r.read())
	return ok && slices.ContainsFunc(entries, func(e journal.EntryKey) bool {
		return e.ChannelID == r.ChannelID && e.UserID == r.UserID && first <= e.ID && e.ID <= last
	})
}
