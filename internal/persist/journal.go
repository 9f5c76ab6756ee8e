package persist

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// entryColumns are the columns of an entry in the order of entryValues and scanEntry.
const entryColumns = `id, at, channel_id, user_id, login, display_name, message_id, text, limit_name, may_speak_at, reset_at, strikes, penalty,
	cost, late, counted, series, new_strike, outcome_at, outcome_action, outcome_result, outcome_reason`

// An entry that is there already was written by a flush that failed to say so; only its outcome can be newer.
var entryInsertion = insertion{
	into:    "journal (" + entryColumns + ")",
	columns: 22,
	conflict: `DO UPDATE SET outcome_at = excluded.outcome_at, outcome_action = excluded.outcome_action,
		outcome_result = excluded.outcome_result, outcome_reason = excluded.outcome_reason`,
}

func entryValues(args []any, e *journal.Entry) []any {
	return append(args, int64(e.ID), e.At.UnixNano(), e.ChannelID, e.UserID, e.Login, e.DisplayName, e.MessageID, e.Text, e.Limit,
		optionalTime(e.MaySpeakAt.Time), optionalTime(e.ResetAt), e.Strikes, e.Penalty.String(),
		e.Cost, int64(e.Offence.Late), e.Offence.Counted, e.Offence.Series, e.Offence.NewStrike,
		e.Outcome.At.UnixNano(), e.Outcome.Action.String(), string(e.Outcome.Result), e.Outcome.Reason)
}

// writeRecords stores what the queue held.
func writeRecords(ctx context.Context, tx *sql.Tx, r records) error {
	if err := writeTimeline(ctx, tx, r.timeline); err != nil {
		return err
	}
	err := entryInsertion.write(ctx, tx, len(r.entries), func(args []any, i int) []any { return entryValues(args, r.entries[i]) })
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
		if _, err := update.ExecContext(ctx, o.At.UnixNano(), o.Action.String(), string(o.Result), o.Reason, int64(o.Entry)); err != nil {
			return err
		}
	}
	return nil
}

// interruptedReason is the reason of entries that were pending when the process ended.
const interruptedReason = "chatguard stopped before acting"

// writeInterrupted gives pending entries up to last the outcome of those that nobody will act on.
func writeInterrupted(ctx context.Context, tx *sql.Tx, last chatguard.EntryID, at time.Time) error {
	if last == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE journal SET outcome_at = ?, outcome_result = ?, outcome_reason = ?
		WHERE outcome_result = 'pending' AND id <= ?`, at.UnixNano(), string(journal.Skipped), interruptedReason, int64(last))
	return err
}

// restoreJournal reads where the journal ended.
func (s *Store) restoreJournal(ctx context.Context) (stats RestoreStats, err error) {
	err = s.db.reader.QueryRowContext(ctx, `SELECT ifnull(max(id), 0), (SELECT count(*) FROM journal WHERE outcome_result = 'pending')
		FROM journal`).Scan(&stats.LastEntry, &stats.Interrupted)
	return stats, err
}

// Throttled returns, for each user of each channel, the newest entry that still keeps them waiting after at, or for ever. Newest first.
func (s *Store) Throttled(ctx context.Context, at time.Time) ([]journal.Entry, error) {
	return s.queryEntries(ctx, `SELECT `+entryColumns+` FROM journal WHERE id IN (
			SELECT max(id) FROM journal WHERE may_speak_at > ? OR may_speak_at IS NULL
			GROUP BY +channel_id, +user_id) -- the plus keeps SQLite from walking the whole journal by channel
		ORDER BY id DESC`, at.UnixNano())
}

func (s *Store) queryEntries(ctx context.Context, query string, args ...any) ([]journal.Entry, error) {
	rows, err := s.db.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(s.db.path, err)
	}
	defer rows.Close()
	entries := []journal.Entry{}
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, fmt.Errorf("database %s: journal entry %d can't be read (%w): put a backup in its place, or delete that row", s.db.path, e.ID, err)
		}
		entries = append(entries, e)
	}
	return entries, explain(s.db.path, rows.Err())
}

func scanEntry(rows *sql.Rows) (e journal.Entry, err error) {
	var at, outcomeAt int64
	var maySpeakAt, resetAt sql.NullInt64
	var penalty, action string
	err = rows.Scan(&e.ID, &at, &e.ChannelID, &e.UserID, &e.Login, &e.DisplayName, &e.MessageID, &e.Text, &e.Limit,
		&maySpeakAt, &resetAt, &e.Strikes, &penalty, &e.Cost, &e.Offence.Late, &e.Offence.Counted, &e.Offence.Series, &e.Offence.NewStrike, &outcomeAt, &action, &e.Outcome.Result, &e.Outcome.Reason)
	if err != nil {
		return e, err
	}
	e.At, e.MaySpeakAt.Time, e.ResetAt = timeAt(at), timeOf(maySpeakAt), timeOf(resetAt)
	e.Outcome.Entry, e.Outcome.At = e.ID, timeAt(outcomeAt)
	if err := e.Penalty.UnmarshalText([]byte(penalty)); err != nil {
		return e, err
	}
	return e, e.Outcome.Action.UnmarshalText([]byte(action))
}
