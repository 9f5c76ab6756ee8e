package web

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/chatguard/chatguard/internal/journal"
)

// auditPage is what a question for the audit is answered with.
type auditPage struct {
	Changes []shownAudit `json:"changes" jsonschema:"The newest first."`
	More    bool         `json:"more"` // there are older ones
}

// shownAudit is a change as it is told, with how the user is called whom it is about.
type shownAudit struct {
	journal.Audit
	Login string `json:"login,omitempty" jsonschema:"Of the user, as they were last seen in that channel; left out where it isn't known."`
}

// getAudit is GET /audit, all of whose parameters may be left out. As CSV it has everything that is wanted, whatever n says.
func (s *Server) getAudit(w http.ResponseWriter, r *http.Request, who caller) error {
	wanted, form, err := auditsWanted(r)
	if err != nil {
		return err
	}
	if wanted.User, err = s.userMeant(r.Context(), wanted.ChannelID, wanted.User); err != nil {
		return errUnreadable("The audit can't be read now", err)
	}
	if form == formatCSV {
		wanted.N = csvPage
		return s.exportCSV(w, r, who, "audit", auditColumns, func() ([][]string, error) { return s.auditRows(r, &wanted) })
	}
	page, err := readLong(r.Context(), s.reads, who, readWait, func() (auditPage, error) { return s.auditPage(r.Context(), wanted) })
	if err != nil {
		return err
	}
	return writeJSON(w, page)
}

// auditPage reads the changes wanted, and whether there are more.
func (s *Server) auditPage(ctx context.Context, wanted journal.AuditFilter) (page auditPage, err error) {
	n := wanted.N
	wanted.N++
	audits, err := s.opts.Store.Audits(ctx, wanted)
	if err != nil {
		return page, errUnreadable("The audit can't be read now", err)
	}
	shown, err := s.withLogins(ctx, audits[:min(n, len(audits))])
	if err != nil {
		return page, errUnreadable("The audit can't be read now", err)
	}
	return auditPage{Changes: shown, More: len(audits) > n}, nil
}

// withLogins looks up, once for each channel, how those are called whom the changes are about.
func (s *Server) withLogins(ctx context.Context, audits []journal.Audit) ([]shownAudit, error) {
	users := map[string][]string{} // by channel
	for _, a := range audits {
		if a.UserID != "" {
			users[a.ChannelID] = append(users[a.ChannelID], a.UserID)
		}
	}
	people := map[string]map[string]journal.Person{}
	for channel, ids := range users {
		found, err := s.opts.Store.People(ctx, channel, ids)
		if err != nil {
			return nil, err
		}
		people[channel] = found
	}
	shown := make([]shownAudit, len(audits)) // in JSON an empty list, never null
	for i, a := range audits {
		shown[i] = shownAudit{a, people[a.ChannelID][a.UserID].Login}
	}
	return shown, nil
}

func auditsWanted(r *http.Request) (wanted journal.AuditFilter, form format, err error) {
	q := queryOf(r)
	wanted = journal.AuditFilter{
		ChannelID: q.text("channel"), User: q.text("user"), Author: q.text("author"), Action: oneOf(q, "action", journal.AuditActions),
		Before: q.number("before", 0, 1, math.MaxInt64), N: int(q.number("n", usualPage, 1, mostPage)),
	}
	form = oneOf(q, "format", formats)
	return wanted, form, q.err
}

var auditColumns = []string{"id", "at", "author", "action", "channel", "user_id", "detail"}

// auditRows returns the next changes as rows of auditColumns.
func (s *Server) auditRows(r *http.Request, wanted *journal.AuditFilter) ([][]string, error) {
	audits, err := s.opts.Store.Audits(r.Context(), *wanted)
	if err != nil {
		return nil, errUnreadable("The audit can't be read now", err)
	}
	rows := make([][]string, len(audits))
	for i, a := range audits {
		wanted.Before = a.ID
		detail, err := json.Marshal(a.Detail)
		if err != nil {
			return nil, err
		}
		rows[i] = []string{
			strconv.FormatInt(a.ID, 10), timeCell(a.At), cell(a.Author), cell(string(a.Action)), cell(a.ChannelID), cell(a.UserID), cell(string(detail)),
		}
	}
	return rows, nil
}
