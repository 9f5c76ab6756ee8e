package web

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// auditPage is the answer to a request for the audit.
type auditPage struct {
	Changes []shownAudit `json:"changes" jsonschema:"Newest first."`
	More    bool         `json:"more"` // whether older ones exist
}

// shownAudit is a change as sent to callers, with the names of the affected user and, for a pardon,
// the last pardoned message.
type shownAudit struct {
	journal.Audit
	Message     *auditMessage `json:"message,omitempty" jsonschema:"The last message that was pardoned, or whose pardon was undone; left out if it isn't in the journal any more."`
	DisplayName string        `json:"display_name,omitempty"`
	Login       string        `json:"login,omitempty" jsonschema:"The user's login when last seen in that channel; left out if unknown."`
}

// getAudit is GET /audit. All parameters are optional. In the CSV format, the answer has all
// matching changes, regardless of n.
func (h *archive) getAudit(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	wanted, form, err := parseAuditFilter(r)
	if err != nil {
		return err
	}
	wanted.IsWhole = who.InAll().Allows(auth.View)
	if wanted.User, err = h.users.completeUser(r.Context(), wanted.ChannelID, wanted.User); err != nil {
		return errUnreadable("The audit can't be read now", err)
	}
	if wanted.UserIDs, err = h.users.usersNamed(r.Context(), wanted.ChannelID, r.URL.Query().Get("name")); err != nil {
		return errFilter("The audit can't be read now", err)
	}
	if form == formatCSV {
		wanted.N = csvPage
		return h.exportCSV(w, r, who, "audit", auditColumns, func() ([][]string, error) { return h.auditRows(r, &wanted) })
	}
	return answerLong(w, r, h.reads, who, func() (auditPage, error) { return h.readAuditPage(r.Context(), wanted) })
}

// readAuditPage reads the matching changes and whether there are more.
func (h *archive) readAuditPage(ctx context.Context, wanted journal.AuditFilter) (page auditPage, err error) {
	n := wanted.N
	wanted.N++
	audits, err := h.store.Audits(ctx, wanted)
	if err != nil {
		return page, errUnreadable("The audit can't be read now", err)
	}
	shown, err := h.addNames(ctx, audits[:min(n, len(audits))])
	if err == nil {
		err = h.addMessages(ctx, shown)
	}
	if err != nil {
		return page, errUnreadable("The audit can't be read now", err)
	}
	return auditPage{Changes: shown, More: len(audits) > n}, nil
}

// auditMessage is a message in the journal.
type auditMessage struct {
	Entry chatguard.EntryID `json:"entry"`
	Text  string            `json:"text"`
}

// addMessages adds the messages that were pardoned, with one query.
func (h *archive) addMessages(ctx context.Context, audits []shownAudit) error {
	ids := []chatguard.EntryID{}
	for _, a := range audits {
		if _, last, ok := journal.PardonedEntries(a.Audit); ok {
			ids = append(ids, last)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	entries, err := h.store.Entries(ctx, journal.EntryFilter{IDs: ids, N: len(ids)})
	texts := map[chatguard.EntryID]string{}
	for _, e := range entries {
		texts[e.ID] = e.Text
	}
	for i := range audits {
		_, last, ok := journal.PardonedEntries(audits[i].Audit)
		if text, known := texts[last]; ok && known {
			audits[i].Message = &auditMessage{last, text}
		}
	}
	return err
}

// addNames adds the names of the affected users to the changes, with one look-up per channel.
func (h *archive) addNames(ctx context.Context, audits []journal.Audit) ([]shownAudit, error) {
	users := map[string][]string{} // by channel
	for _, a := range audits {
		if a.UserID != "" {
			users[a.ChannelID] = append(users[a.ChannelID], a.UserID)
		}
	}
	people := map[string]map[string]journal.Person{}
	for channel, ids := range users {
		found, err := h.store.People(ctx, channel, ids)
		if err != nil {
			return nil, err
		}
		people[channel] = found
	}
	shown := make([]shownAudit, len(audits)) // an empty list in JSON, never null
	for i, a := range audits {
		person := people[a.ChannelID][a.UserID]
		shown[i] = shownAudit{Audit: a, Login: person.Login, DisplayName: person.DisplayName}
	}
	return shown, nil
}

func parseAuditFilter(r *http.Request) (wanted journal.AuditFilter, form format, err error) {
	q := problem.QueryOf(r)
	wanted = journal.AuditFilter{
		ChannelID: q.Text("channel"), User: hostile.TypedName(q.Text("user")), Author: q.Text("author"), Action: problem.OneOf(q, "action", journal.AuditActions),
		Before: q.Number("before", 0, 1, math.MaxInt64), N: int(q.Number("n", usualPage, 1, mostPage)),
	}
	q.Text("name") // checks its length
	form = problem.OneOf(q, "format", formats)
	return wanted, form, q.Err
}

var auditColumns = []string{"id", "at", "author", "action", "channel", "user_id", "detail"}

// auditRows returns the next changes as rows of auditColumns.
func (h *archive) auditRows(r *http.Request, wanted *journal.AuditFilter) ([][]string, error) {
	audits, err := h.store.Audits(r.Context(), *wanted)
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
			strconv.FormatInt(a.ID, 10), formatTime(a.At), escapeCell(a.Author), escapeCell(string(a.Action)), escapeCell(a.ChannelID), escapeCell(a.UserID), escapeCell(string(detail)),
		}
	}
	return rows, nil
}
