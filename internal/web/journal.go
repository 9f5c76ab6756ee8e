package web

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// entryPage is what a question for the journal is answered with.
type entryPage struct {
	Entries []shownEntry `json:"entries"` // the newest first
	More    bool         `json:"more"`    // there are older ones
}

// actions are what can be done about a message.
var actions = []string{
	chatguard.NoAction.String(), chatguard.Delete.String(), chatguard.Warn.String(), chatguard.Timeout.String(), chatguard.Ban.String(),
	chatguard.Drop.String(),
}

// getJournal is GET /journal, all of whose parameters may be left out. As CSV it has everything that is wanted, whatever n says.
func (s *Server) getJournal(w http.ResponseWriter, r *http.Request, who caller) error {
	wanted, form, err := entriesWanted(r)
	if err != nil {
		return err
	}
	if wanted.User, err = s.userMeant(r.Context(), wanted.ChannelID, wanted.User); err != nil {
		return errUnreadable("The journal can't be read now", err)
	}
	if form == formatCSV {
		wanted.N = csvPage
		return s.exportCSV(w, r, who, "journal", entryColumns, func() ([][]string, error) { return s.entryRows(r, &wanted) })
	}
	page, err := readLong(r.Context(), s.reads, who, readWait, func() (entryPage, error) { return s.entryPage(r.Context(), wanted) })
	if err != nil {
		return err
	}
	return writeJSON(w, page)
}

// entryPage reads the entries wanted, and whether there are more.
func (s *Server) entryPage(ctx context.Context, wanted journal.EntryFilter) (page entryPage, err error) {
	n := wanted.N
	wanted.N++
	entries, err := s.opts.Store.Entries(ctx, wanted)
	if err != nil {
		return page, errUnreadable("The journal can't be read now", err)
	}
	shown, err := s.withPardons(ctx, entries[:min(n, len(entries))])
	if err != nil {
		return page, errUnreadable("The journal can't be read now", err)
	}
	return entryPage{Entries: shown, More: len(entries) > n}, nil
}

// entriesWanted reads a request's filter. Any limit may be asked for: the journal has those of earlier policies, too.
func entriesWanted(r *http.Request) (wanted journal.EntryFilter, form format, err error) {
	q := queryOf(r)
	wanted = journal.EntryFilter{
		ChannelID: q.text("channel"), User: strings.TrimPrefix(q.text("user"), "@"), Limit: q.text("limit"),
		Action: oneOf(q, "action", actions), Result: oneOf(q, "result", journal.Results),
		From: q.time("from"), Until: q.time("until"),
		Before: chatguard.EntryID(q.number("before", 0, 1, math.MaxInt64)), N: int(q.number("n", usualPage, 1, mostPage)),
	}
	form = oneOf(q, "format", formats)
	if !wanted.Until.IsZero() && !wanted.From.Before(wanted.Until) {
		q.fail("Nothing lies between these times: \"from\" has to be earlier than \"until\".")
	}
	return wanted, form, q.err
}

var entryColumns = []string{
	"entry", "at", "channel", "user_id", "login", "display_name", "limit", "penalty", "action", "result", "reason", "reported_at", "strikes", "cost",
	"may_speak_at", "reset_at", "message_id", "text",
}

// entryRows returns the next entries as rows of entryColumns.
func (s *Server) entryRows(r *http.Request, wanted *journal.EntryFilter) ([][]string, error) {
	entries, err := s.opts.Store.Entries(r.Context(), *wanted)
	if err != nil {
		return nil, errUnreadable("The journal can't be read now", err)
	}
	rows := make([][]string, len(entries))
	for i, e := range entries {
		wanted.Before = e.ID
		o := e.Outcome
		rows[i] = []string{
			strconv.FormatInt(int64(e.ID), 10), timeCell(e.At), cell(e.ChannelID), cell(e.UserID), cell(e.Login), cell(e.DisplayName), cell(e.Limit),
			e.Penalty.String(), o.Action.String(), string(o.Result), cell(o.Reason), timeCell(o.At), strconv.Itoa(e.Strikes), strconv.Itoa(e.Cost),
			timeCell(e.MaySpeakAt.Time), timeCell(e.ResetAt), cell(e.MessageID), cell(e.Text),
		}
	}
	return rows, nil
}
