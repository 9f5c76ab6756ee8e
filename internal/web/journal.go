package web

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// entryPage is the answer to a request for the journal.
type entryPage struct {
	Entries []shownEntry `json:"entries"` // newest first
	More    bool         `json:"more"`    // whether older ones exist
}

// actions are the possible actions on a message.
var actions = []string{"none", "delete", "warn", "timeout", "ban", "drop"}

// archive answers requests for the journal and the audit.
type archive struct {
	users *users // finds the users that requests name
	store Records
	reads *longReads
	log   *slog.Logger
}

// getJournal is GET /journal. All parameters are optional. In the CSV format, the answer has all
// matching entries, regardless of n.
func (h *archive) getJournal(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	wanted, form, err := parseEntryFilter(r)
	if err != nil {
		return err
	}
	if wanted.User, err = h.users.completeUser(r.Context(), wanted.ChannelID, wanted.User); err != nil {
		return errUnreadable("The journal can't be read now", err)
	}
	if wanted.UserIDs, err = h.users.usersNamed(r.Context(), wanted.ChannelID, r.URL.Query().Get("name")); err != nil {
		return errFilter("The journal can't be read now", err)
	}
	if form == formatCSV {
		wanted.N = csvPage
		return h.exportCSV(w, r, who, "journal", entryColumns, func() ([][]string, error) { return h.entryRows(r, &wanted) })
	}
	return answerLong(w, r, h.reads, who, func() (entryPage, error) { return h.readEntryPage(r.Context(), wanted) })
}

// readEntryPage reads the matching entries and whether there are more.
func (h *archive) readEntryPage(ctx context.Context, wanted journal.EntryFilter) (page entryPage, err error) {
	n := wanted.N
	wanted.N++
	entries, err := h.store.Entries(ctx, wanted)
	if err != nil {
		return page, errUnreadable("The journal can't be read now", err)
	}
	shown, err := addPardons(ctx, h.store, entries[:min(n, len(entries))])
	if err != nil {
		return page, errUnreadable("The journal can't be read now", err)
	}
	return entryPage{Entries: shown, More: len(entries) > n}, nil
}

// parseEntryFilter parses a request's filter. It accepts any limit name, because the journal also
// contains limits of earlier policies.
func parseEntryFilter(r *http.Request) (wanted journal.EntryFilter, form format, err error) {
	q := problem.QueryOf(r)
	wanted = journal.EntryFilter{
		ChannelID: q.Text("channel"), User: hostile.TypedName(q.Text("user")), Limit: q.Text("limit"),
		Action: problem.OneOf(q, "action", actions), Result: problem.OneOf(q, "result", journal.Results),
		From: q.Time("from"), Until: q.Time("until"),
		Before: chatguard.EntryID(q.Number("before", 0, 1, math.MaxInt64)), N: int(q.Number("n", usualPage, 1, mostPage)),
	}
	if entry := q.Number("entry", 0, 1, math.MaxInt64); entry > 0 {
		wanted.IDs = []chatguard.EntryID{chatguard.EntryID(entry)}
	}
	q.Text("name") // checks its length
	form = problem.OneOf(q, "format", formats)
	if !wanted.Until.IsZero() && !wanted.From.Before(wanted.Until) {
		q.Fail("Nothing lies between these times: \"from\" must be earlier than \"until\".")
	}
	return wanted, form, q.Err
}

var entryColumns = []string{
	"entry", "at", "channel", "user_id", "login", "display_name", "limit", "penalty", "action", "result", "reason", "reported_at", "strikes", "cost",
	"may_speak_at", "reset_at", "message_id", "text", "repeat_times", "repeat_people", "repeat_window",
}

// entryRows returns the next entries as rows of entryColumns.
func (h *archive) entryRows(r *http.Request, wanted *journal.EntryFilter) ([][]string, error) {
	entries, err := h.store.Entries(r.Context(), *wanted)
	if err != nil {
		return nil, errUnreadable("The journal can't be read now", err)
	}
	rows := make([][]string, len(entries))
	for i, e := range entries {
		wanted.Before = e.ID
		o := e.Outcome
		var times, people string
		if e.Repeats != (journal.Repeats{}) {
			times, people = strconv.Itoa(e.Repeats.Times), strconv.Itoa(e.Repeats.People)
		}
		rows[i] = []string{
			strconv.FormatInt(int64(e.ID), 10), formatTime(e.At), escapeCell(e.ChannelID), escapeCell(e.UserID), escapeCell(e.Login), escapeCell(e.DisplayName), escapeCell(e.Limit),
			e.Penalty.String(), journal.Action(o.Action).String(), string(o.Result), escapeCell(o.Reason), formatTime(o.At), strconv.Itoa(e.Strikes), strconv.Itoa(e.Cost),
			formatTime(e.MaySpeakAt.Time), formatTime(e.ResetAt), escapeCell(e.MessageID), escapeCell(e.Text), times, people, e.Repeats.Window,
		}
	}
	return rows, nil
}
