package persist

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// changes are what people changed: the audit log and the revisions of policies.
type changes struct {
	*commits
	db     database
	people *people
	now    func() time.Time

	// mu is held while changes are added or taken, so that a revision and its audit are stored
	// together.
	mu           sync.Mutex
	revisions    pending[revisionKey, revisionRow]
	audits       pending[int64, auditRow] // by ID
	lastRevision map[string]int           // by channel ID
	lastAudit    int64
}

// load reads the numbers of the last revisions and the ID of the last audit from the database.
func (s *changes) load(ctx context.Context) (err error) {
	s.revisions.limit, s.audits.limit = maxChanges, maxChanges
	s.lastRevision, err = statement.Map[int](ctx, s.db.Query, "SELECT channel_id, max(number) FROM revision GROUP BY channel_id")
	if err != nil {
		return err
	}
	return s.db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&s.lastAudit) }, "SELECT coalesce(max(id), 0) FROM audit")
}

// addRevision numbers a revision and its audit, and adds them to the pending changes.
func (s *changes) addRevision(r revisionRow, a journal.Audit) (journal.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := revisionKey{r.ChannelID, s.lastRevision[r.ChannelID] + 1}
	r.Number = key.number
	if err := s.revisions.put(key, &r); err != nil {
		return r.Revision, err
	}
	a.Detail = journal.PolicyDetail{Revision: r.Number}
	if err := s.addAuditLocked(a); err != nil {
		s.revisions.drop(func(row *revisionRow) bool { return row == &r })
		return r.Revision, err
	}
	s.lastRevision[r.ChannelID] = r.Number
	return r.Revision, nil
}

func (s *changes) addAudit(a journal.Audit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addAuditLocked(a)
}

func (s *changes) addAuditLocked(a journal.Audit) error {
	a.ID = s.lastAudit + 1
	row, err := newAuditRow(a)
	if err != nil {
		return err
	}
	if err := s.audits.put(a.ID, &row); err != nil {
		return err
	}
	s.lastAudit = a.ID
	return nil
}

// parts returns the pending revisions and audits as parts of a flush.
func (s *changes) parts() (revisions, audits part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revisions.part(writeRevisions), s.audits.part(writeAudits)
}
