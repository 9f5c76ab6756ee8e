package persist

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// journalTable is the journal of throttled messages.
type journalTable struct {
	db    database
	queue *queue
}

// entryColumns are the columns of an entry in the order of entryValues and scanEntry.
const entryColumns = `id, at, channel_id, user_id, login, display_name, message_id, text, limit_name, may_speak_at, reset_at, strikes, penalty,
	cost, late, counted, series, new_strike, low, repeat_times, repeat_people, repeat_window, outcome_at, outcome_action, outcome_result, outcome_reason`

// An entry that already exists was stored by an earlier flush that nevertheless returned an error.
// Only the entry's outcome can have changed since.
var entryInsertion = statement.Insertion{
	Into:    "journal (" + entryColumns + ")",
	Columns: 26,
	Conflict: `(id) DO UPDATE SET outcome_at = excluded.outcome_at, outcome_action = excluded.outcome_action,
		outcome_result = excluded.outcome_result, outcome_reason = excluded.outcome_reason`,
}

func entryValues(args []any, e *journal.Entry) []any {
	return append(args, int64(e.ID), e.At.UnixNano(), e.ChannelID, e.UserID, e.Login, e.DisplayName, e.MessageID, e.Text, e.Limit,
		statement.OptionalTime(e.MaySpeakAt.Time), statement.OptionalTime(e.ResetAt), e.Strikes, e.Penalty.String(),
		e.Cost, int64(e.Offence.Late), e.Offence.Counted, e.Offence.Series, e.Offence.NewStrike, e.Offence.Low, e.Repeats.Times, e.Repeats.People, e.Repeats.Window,
		e.Outcome.At.UnixNano(), journal.Action(e.Outcome.Action).String(), string(e.Outcome.Result), e.Outcome.Reason)
}

// writeEntries stores entries and outcomes.
func writeEntries(ctx context.Context, tx *sql.Tx, r *records) error {
	err := entryInsertion.Write(ctx, tx, len(r.entries), func(args []any, i int) []any { return entryValues(args, r.entries[i]) })
	if err != nil || len(r.outcomes) == 0 {
		return err
	}
	update, err := tx.PrepareContext(ctx,
		"UPDATE journal SET outcome_at = ?, outcome_action = ?, outcome_result = ?, outcome_reason = ? WHERE id = ?")
	if err != nil {
		return err
	}
	defer update.Close()
	for _, o := range r.outcomes {
		if _, err := update.ExecContext(ctx, o.At.UnixNano(), journal.Action(o.Action).String(), string(o.Result), o.Reason, int64(o.Entry)); err != nil {
			return err
		}
	}
	return nil
}

// writeInterrupted sets the outcome of pending entries up to last, because nothing will act on them
// any more. An action may have been carried out just before the process ended.
func writeInterrupted(ctx context.Context, tx *sql.Tx, last chatguard.EntryID, at time.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE journal SET outcome_at = ?, outcome_result = ?, outcome_reason = ?
		WHERE outcome_result = 'pending' AND id <= ?`, at.UnixNano(), string(journal.Unknown), journal.Interrupted, int64(last))
	return err
}

// Throttled returns the newest n stored entries of users who have to wait until after the time at,
// or forever. For each user of each channel it returns only the newest such entry. The newest
// entries come first.
func (s *journalTable) Throttled(ctx context.Context, at time.Time, n int) ([]journal.Entry, error) {
	return queryEntries(ctx, s.db, `SELECT `+entryColumns+` FROM journal WHERE id IN (
			SELECT max(id) FROM journal WHERE may_speak_at > ? OR may_speak_at IS NULL
			GROUP BY +channel_id, +user_id) -- the plus keeps SQLite from walking the whole journal by channel
		ORDER BY id DESC LIMIT ?`, at.UnixNano(), n)
}

// Silencing returns stored entries since a time whose timeout or ban was carried out, if isWanted
// reports true for them: the newest such entry of each user of each channel. It returns the newest
// n, newest first.
func (s *journalTable) Silencing(ctx context.Context, since time.Time, isWanted func(*journal.Entry) bool, n int) ([]journal.Entry, error) {
	entries := []journal.Entry{}
	err := eachEntry(ctx, s.db, func(e journal.Entry) {
		if len(entries) < n && isWanted(&e) {
			entries = append(entries, e)
		}
	}, `SELECT `+entryColumns+` FROM journal WHERE id IN (
			SELECT max(id) FROM `+journalByTime+` WHERE at >= ? AND outcome_result = 'done' AND outcome_action IN ('timeout', 'ban')
			GROUP BY channel_id, user_id)
		ORDER BY id DESC`, since.UnixNano())
	return entries, err
}

func queryEntries(ctx context.Context, db database, query string, args ...any) ([]journal.Entry, error) {
	entries := []journal.Entry{}
	err := eachEntry(ctx, db, func(e journal.Entry) { entries = append(entries, e) }, query, args...)
	return entries, err
}

func eachEntry(ctx context.Context, db database, each func(journal.Entry), query string, args ...any) error {
	return db.Query(ctx, func(rows *sql.Rows) error {
		e, err := scanEntry(rows)
		if err != nil {
			return fmt.Errorf("%s: journal entry %d can't be read (%w): restore a backup, or delete that row", db, e.ID, err)
		}
		each(e)
		return nil
	}, query, args...)
}

func scanEntry(rows *sql.Rows) (e journal.Entry, err error) {
	err = rows.Scan(&e.ID, statement.Time(&e.At), &e.ChannelID, &e.UserID, &e.Login, &e.DisplayName, &e.MessageID, &e.Text, &e.Limit,
		statement.Time(&e.MaySpeakAt.Time), statement.Time(&e.ResetAt), &e.Strikes, statement.Text(&e.Penalty), &e.Cost,
		&e.Offence.Late, &e.Offence.Counted, &e.Offence.Series, &e.Offence.NewStrike, &e.Offence.Low, &e.Repeats.Times, &e.Repeats.People, &e.Repeats.Window,
		statement.Time(&e.Outcome.At), statement.Text((*journal.Action)(&e.Outcome.Action)), &e.Outcome.Result, &e.Outcome.Reason)
	e.Outcome.Entry = e.ID
	if len(e.Text) > journal.MaxText { // from an import
		e.Text = hostile.Clip(e.Text, journal.MaxText)
	}
	return e, err
}

// Entry returns a journal entry with its last outcome, including pending changes. ok is false if
// there is no entry with that ID.
func (s *journalTable) Entry(ctx context.Context, id chatguard.EntryID) (e journal.Entry, ok bool, err error) {
	if e, ok = s.queue.entry(func(e *journal.Entry) bool { return e.ID == id }); ok {
		return e, true, nil
	}
	// Read pending outcomes first, so that none is missed if it is stored in between.
	waiting := s.queue.outcome(id)
	entries, err := queryEntries(ctx, s.db, "SELECT "+entryColumns+" FROM journal WHERE id = ?", int64(id))
	if err != nil || len(entries) == 0 {
		return e, false, err
	}
	if waiting != nil {
		entries[0].Outcome = *waiting
	}
	return entries[0], true, nil
}
