package persist

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// conditions are what a query wants, all of them.
type conditions struct {
	list []string
	args []any
}

func (c *conditions) add(condition string, args ...any) {
	c.list, c.args = append(c.list, condition), append(c.args, args...)
}

// where is the clause that stands for them, with a space before it.
func (c *conditions) where() string {
	if len(c.list) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.list, " AND ")
}

// Entries returns the entries wanted, the newest first; those that wait to be written are among them, and outcomes that wait are looked at.
func (s *Store) Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error) {
	// First what waits, because what is stored next is missing then in neither.
	entries, last := s.queue.entries(func(e *journal.Entry) bool { return wants(&wanted, e) })
	known := slices.Collect(maps.Keys(last))
	for _, e := range entries {
		known = append(known, e.ID)
		delete(last, e.ID)
	}
	c := entryConditions(wanted)
	c.add("id NOT IN (SELECT value FROM json_each(?))", jsonOf(known))
	stored, err := s.queryEntries(ctx, "SELECT "+entryColumns+" FROM journal"+c.where()+" ORDER BY id DESC LIMIT ?", append(c.args, wanted.N)...)
	if err != nil {
		return nil, err
	}
	reported, err := s.reported(ctx, wanted, last)
	if err != nil {
		return nil, err
	}
	entries = append(append(stored, entries...), reported...)
	slices.SortFunc(entries, func(a, b journal.Entry) int { return cmp.Compare(b.ID, a.ID) })
	return entries[:min(wanted.N, len(entries))], nil
}

// reported returns the stored entries wanted of which only the last outcomes wait.
func (s *Store) reported(
	ctx context.Context, wanted journal.EntryFilter, last map[chatguard.EntryID]journal.Outcome,
) (entries []journal.Entry, err error) {
	if len(last) == 0 {
		return nil, nil
	}
	stored, err := s.queryEntries(ctx, "SELECT "+entryColumns+" FROM journal WHERE id IN (SELECT value FROM json_each(?))", jsonOf(slices.Collect(maps.Keys(last))))
	for _, e := range stored {
		e.Outcome = last[e.ID]
		if wants(&wanted, &e) {
			entries = append(entries, e)
		}
	}
	return entries, err
}

// wants reports whether an entry is one of those wanted; entryConditions says the same of those stored.
func wants(wanted *journal.EntryFilter, e *journal.Entry) bool {
	return (wanted.ChannelID == "" || wanted.ChannelID == e.ChannelID) &&
		(wanted.UserID == "" || wanted.UserID == e.UserID) &&
		(wanted.User == "" || wanted.User == e.UserID || strings.ToLower(wanted.User) == e.Login) &&
		(wanted.Limit == "" || wanted.Limit == e.Limit) &&
		(wanted.Action == "" || wanted.Action == e.Outcome.Action.String()) &&
		(wanted.Result == "" || wanted.Result == e.Outcome.Result) &&
		(wanted.From.IsZero() || !e.At.Before(wanted.From)) &&
		(wanted.Until.IsZero() || e.At.Before(wanted.Until)) &&
		(wanted.Before == 0 || e.ID < wanted.Before)
}

func entryConditions(wanted journal.EntryFilter) (c conditions) {
	switch {
	case wanted.UserID != "" && wanted.ChannelID != "":
		c.add("id IN (SELECT id FROM journal INDEXED BY journal_user WHERE channel_id = ? AND user_id = ?)", wanted.ChannelID, wanted.UserID)
	case wanted.UserID != "":
		c.add("id IN (SELECT id FROM journal INDEXED BY journal_user WHERE user_id = ?)", wanted.UserID)
	}
	switch {
	case wanted.User != "" && wanted.ChannelID != "":
		c.add(`id IN (SELECT id FROM journal INDEXED BY journal_user WHERE channel_id = ? AND user_id = ?
			UNION SELECT id FROM journal INDEXED BY journal_user WHERE channel_id = ? AND login = ?)`,
			wanted.ChannelID, wanted.User, wanted.ChannelID, strings.ToLower(wanted.User))
	case wanted.User != "":
		c.add("id IN (SELECT id FROM journal INDEXED BY journal_user WHERE user_id = ? OR login = ?)", wanted.User, strings.ToLower(wanted.User))
	case wanted.ChannelID != "":
		c.add("channel_id = ?", wanted.ChannelID)
	}
	if wanted.Limit != "" {
		c.add("limit_name = ?", wanted.Limit)
	}
	if wanted.Action != "" {
		c.add("outcome_action = ?", wanted.Action)
	}
	switch wanted.Result {
	case "":
	case journal.Failed:
		c.add("outcome_result = 'failed'") // as its index says it
	case journal.Pending:
		c.add("outcome_result = 'pending'") // as its index says it, too
	default:
		c.add("outcome_result = ?", string(wanted.Result))
	}
	if !wanted.From.IsZero() {
		c.add("at >= ?", wanted.From.UnixNano())
	}
	if !wanted.Until.IsZero() {
		c.add("at < ?", wanted.Until.UnixNano())
	}
	if wanted.Before != 0 {
		c.add("id < ?", int64(wanted.Before))
	}
	return c
}
