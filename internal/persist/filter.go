package persist

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// conditions are the conditions of a query, joined by AND.
type conditions struct {
	list []string
	args []any
}

func (c *conditions) add(condition string, args ...any) {
	c.list, c.args = append(c.list, condition), append(c.args, args...)
}

// whereClause returns the WHERE clause, with a leading space.
func (c *conditions) whereClause() string {
	if len(c.list) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.list, " AND ")
}

// filter selects records of one kind. It has each condition twice: in SQL for stored records, and
// in Go for pending ones.
type filter[T any] struct {
	conditions
	tests []func(*T) bool
}

// require adds a condition. test expresses it in Go, and condition expresses it in SQL.
func (f *filter[T]) require(test func(*T) bool, condition string, args ...any) {
	f.tests = append(f.tests, test)
	f.add(condition, args...)
}

// requireEqual adds the condition that a column has the given value. It adds nothing if the value
// is empty.
func (f *filter[T]) requireEqual(column, value string, of func(*T) string) {
	if value != "" {
		f.require(func(r *T) bool { return of(r) == value }, column+" = ?", value)
	}
}

// matches reports whether the filter selects a pending record.
func (f *filter[T]) matches(r *T) bool {
	return !slices.ContainsFunc(f.tests, func(test func(*T) bool) bool { return !test(r) })
}

// Entries returns the matching entries, newest first. Pending entries and pending outcomes are
// included.
func (s *journalTable) Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error) {
	// Read pending records first, so that none is missed if it is stored in between.
	f := newEntryFilter(wanted)
	entries, queued, last := s.queue.entries(f.matches)
	known := slices.AppendSeq(slices.Clone(queued), maps.Keys(last))
	for _, id := range queued {
		delete(last, id)
	}
	f.add("id NOT IN "+sqlite.List("?"), jsonOf(known))
	stored, err := queryEntries(ctx, s.db, "SELECT "+entryColumns+" FROM journal"+f.whereClause()+" ORDER BY id DESC LIMIT ?", append(f.args, wanted.N)...)
	if err != nil {
		return nil, err
	}
	reported, err := reportedEntries(ctx, s.db, f.matches, last)
	if err != nil {
		return nil, err
	}
	entries = append(append(stored, entries...), reported...)
	slices.SortFunc(entries, func(a, b journal.Entry) int { return cmp.Compare(b.ID, a.ID) })
	return entries[:min(wanted.N, len(entries))], nil
}

// reportedEntries returns the matching stored entries whose last outcomes are not stored yet.
func reportedEntries(
	ctx context.Context, db database, wanted func(*journal.Entry) bool, last map[chatguard.EntryID]journal.Outcome,
) (entries []journal.Entry, err error) {
	if len(last) == 0 {
		return nil, nil
	}
	stored, err := queryEntries(ctx, db, "SELECT "+entryColumns+" FROM journal WHERE id IN "+sqlite.List("?"), jsonOf(slices.Collect(maps.Keys(last))))
	for _, e := range stored {
		e.Outcome = last[e.ID]
		if wanted(&e) {
			entries = append(entries, e)
		}
	}
	return entries, err
}

func newEntryFilter(wanted journal.EntryFilter) (f filter[journal.Entry]) {
	f.requireEqual("limit_name", wanted.Limit, func(e *journal.Entry) string { return e.Limit })
	f.requireEqual("outcome_action", wanted.Action, func(e *journal.Entry) string { return journal.Action(e.Outcome.Action).String() })
	switch result := wanted.Result; result {
	case "":
	case journal.Failed, journal.Pending: // spelled as in the partial indexes, so they are used
		f.require(func(e *journal.Entry) bool { return e.Outcome.Result == result }, "outcome_result = '"+string(result)+"'")
	default:
		f.require(func(e *journal.Entry) bool { return e.Outcome.Result == result }, "outcome_result = ?", string(result))
	}
	addUser(&f, wanted)
	if wanted.IDs != nil {
		f.require(func(e *journal.Entry) bool { return slices.Contains(wanted.IDs, e.ID) }, "id IN "+sqlite.List("?"), jsonOf(wanted.IDs))
	}
	if from := wanted.From; !from.IsZero() {
		f.require(func(e *journal.Entry) bool { return !e.At.Before(from) }, "at >= ?", from.UnixNano())
	}
	if until := wanted.Until; !until.IsZero() {
		f.require(func(e *journal.Entry) bool { return e.At.Before(until) }, "at < ?", until.UnixNano())
	}
	if before := wanted.Before; before != 0 {
		f.require(func(e *journal.Entry) bool { return e.ID < before }, "id < ?", int64(before))
	}
	return f
}

// addUser adds the condition that entries concern the named user and channel.
func addUser(f *filter[journal.Entry], wanted journal.EntryFilter) {
	channel, id, user, login := wanted.ChannelID, wanted.UserID, wanted.User, strings.ToLower(wanted.User)
	isID := func(e *journal.Entry) bool { return e.UserID == id }
	isUser := func(e *journal.Entry) bool { return e.UserID == user || e.Login == login }
	switch {
	case id != "" && channel != "":
		f.require(isID, "id IN (SELECT id FROM "+journalByUser+" WHERE channel_id = ? AND user_id = ?)", channel, id)
	case id != "":
		f.require(isID, "id IN (SELECT id FROM "+journalByUser+" WHERE user_id = ?)", id)
	}
	if ids := wanted.UserIDs; ids != nil {
		f.require(func(e *journal.Entry) bool { return slices.Contains(ids, e.UserID) },
			"id IN (SELECT id FROM "+journalByUser+" WHERE channel_id = ? AND user_id IN "+sqlite.List("?")+")", channel, jsonOf(ids))
	}
	inChannel := func(e *journal.Entry) bool { return e.ChannelID == channel }
	switch {
	case user != "" && channel != "":
		f.require(func(e *journal.Entry) bool { return inChannel(e) && isUser(e) },
			`id IN (SELECT id FROM `+journalByUser+` WHERE channel_id = ? AND user_id = ?
				UNION SELECT id FROM `+journalByUser+` WHERE channel_id = ? AND login = ?)`, channel, user, channel, login)
	case user != "":
		f.require(isUser, "id IN (SELECT id FROM "+journalByUser+" WHERE user_id = ? OR login = ?)", user, login)
	case channel != "":
		f.require(inChannel, "channel_id = ?", channel)
	}
}
