package persist

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// Run rolls up the timeline in the background: it stores, by user, the data that is kept longer
// than the timeline. Without this, the timeline would need another index, with an entry for each
// message. Run also stores the position of each channel's last rolled-up message. All messages up
// to that position are rolled up, and no later ones.

// writeRollup stores the data that is kept longer than the rows themselves. The rows must be in
// table order.
func writeRollup(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	people, quarters := map[personKey]journal.Person{}, map[quarterKey]int64{}
	for i := range rows {
		r := &rows[i]
		key := personKey{r.ChannelID, r.UserID}
		people[key] = personOf(r)
		if spent := r.spentCost(); spent > 0 {
			quarters[quarterKey{key, quarterOf(r.At)}] += spent
		}
	}
	if err := writePeople(ctx, tx, people); err != nil {
		return err
	}
	return writeQuarters(ctx, tx, quarters)
}

// writePeople stores the people in table order.
func writePeople(ctx context.Context, tx *sql.Tx, people map[personKey]journal.Person) error {
	keys := slices.SortedFunc(maps.Keys(people), personKey.compare)
	return personInsertion.Write(ctx, tx, len(keys), func(args []any, i int) []any {
		p := people[keys[i]]
		return append(args, keys[i].channelID, p.UserID, p.Login, p.DisplayName, nameKey(p.Login, p.DisplayName), statement.JoinNames(p.Roles), p.LastSeen.UnixNano())
	})
}

// writeQuarters adds the usage of each quarter, in table order.
func writeQuarters(ctx context.Context, tx *sql.Tx, spent map[quarterKey]int64) error {
	keys := slices.SortedFunc(maps.Keys(spent), quarterKey.compare)
	return quarterInsertion.Write(ctx, tx, len(keys), func(args []any, i int) []any {
		return append(args, keys[i].channelID, keys[i].userID, keys[i].at, spent[keys[i]])
	})
}
