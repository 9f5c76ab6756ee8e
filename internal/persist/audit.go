package persist

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

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
	return s.commit(ctx), nil
}
