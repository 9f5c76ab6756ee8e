package persist

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// timelineRow is one message of the timeline. Its number tells it from others of the same instant.
type timelineRow struct {
	journal.Spoken
	number int64
}

const timelineColumns = "channel_id, at, number, user_id, login, roles, cost"

var timelineInsertion = insertion{
	into:     "timeline (" + timelineColumns + ")",
	columns:  7,
	conflict: "DO NOTHING", // it was written by a flush that failed to say so
}

func (r *timelineRow) values(args []any) []any {
	return append(args, r.ChannelID, r.At.UnixNano(), r.number, r.UserID, r.Login, int64(r.Roles), r.Cost)
}

// sortTimeline sorts rows as the table is.
func sortTimeline(rows []timelineRow) {
	slices.SortFunc(rows, func(a, b timelineRow) int {
		return cmp.Or(strings.Compare(a.ChannelID, b.ChannelID), a.At.Compare(b.At), cmp.Compare(a.number, b.number))
	})
}

// writeTimeline stores the rows, which are sorted.
func writeTimeline(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	return timelineInsertion.write(ctx, tx, len(rows), func(args []any, i int) []any { return rows[i].values(args) })
}
