package persist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/state"
)

// batchOfRows is the number of rows that readState sends at a time.
const batchOfRows = 1000

// readState sends all rows in table order.
func readState(ctx context.Context, db database, batches chan<- []state.Row) error {
	batch := make([]state.Row, 0, batchOfRows)
	err := db.Query(ctx, func(rows *sql.Rows) error {
		var row state.Row
		if err := scanState(rows, &row); err != nil {
			return err
		}
		if batch = append(batch, row); len(batch) == cap(batch) {
			batches <- batch
			batch = make([]state.Row, 0, batchOfRows)
		}
		return nil
	}, "SELECT "+stateColumns+" FROM state ORDER BY channel_id, user_id, limit_name")
	if err == nil {
		batches <- batch
	}
	return err
}

const stateColumns = "channel_id, user_id, limit_name, data"

func scanState(rows *sql.Rows, row *state.Row) error {
	return rows.Scan(&row.ChannelID, &row.UserID, &row.Limit, &row.Data)
}

var stateInsertion = statement.Insertion{
	Into:     "state (" + stateColumns + ")",
	Columns:  4,
	Conflict: "(channel_id, user_id, limit_name) DO UPDATE SET data = excluded.data",
}

// statePart takes the changed state of a Guard as a part of a flush.
func statePart(guard *chatguard.Guard) part {
	batch := guard.State().Dirty()
	rows := slices.AppendSeq(make([]state.Row, 0, batch.Len()), batch.Rows())
	return part{
		rows:  len(rows),
		write: func(ctx context.Context, tx *sql.Tx) error { return writeState(ctx, tx, rows) },
		done: func(_ context.Context, isStored bool) {
			if isStored {
				batch.Confirm()
			} else {
				batch.Release()
			}
		},
	}
}

// writeState stores the rows in table order, so that SQLite visits each page once, in order.
func writeState(ctx context.Context, tx *sql.Tx, rows []state.Row) error {
	order := orderOf(rows)
	return stateInsertion.Write(ctx, tx, len(rows), func(args []any, i int) []any {
		row := &rows[order[i].row]
		return append(args, row.ChannelID, row.UserID, row.Limit, row.Data)
	})
}

// place is a row's approximate position in table order: it has only the first bytes of the user ID.
// Sorting places is several times as fast as sorting rows.
type place struct {
	channel uint32 // rank of the row's channel
	row     uint32
	user    uint64 // first bytes of the user ID
}

// orderOf returns the rows' places in table order.
func orderOf(rows []state.Row) []place {
	ranks := ranksOf(rows)
	order := make([]place, len(rows))
	for i := range rows {
		var user [8]byte
		copy(user[:], rows[i].UserID)
		order[i] = place{ranks[rows[i].ChannelID], uint32(i), binary.BigEndian.Uint64(user[:])}
	}
	slices.SortFunc(order, func(a, b place) int {
		if a.channel != b.channel || a.user != b.user {
			return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.user, b.user))
		}
		return compareKeys(rows[a.row], rows[b.row])
	})
	return order
}

// ranksOf numbers the channels in the order of their IDs.
func ranksOf(rows []state.Row) map[string]uint32 {
	ranks := map[string]uint32{}
	for i := range rows {
		if i == 0 || rows[i].ChannelID != rows[i-1].ChannelID {
			ranks[rows[i].ChannelID] = 0
		}
	}
	for rank, id := range slices.Sorted(maps.Keys(ranks)) {
		ranks[id] = uint32(rank)
	}
	return ranks
}

// compareKeys orders rows as the table does.
func compareKeys(a, b state.Row) int {
	if c := strings.Compare(a.ChannelID, b.ChannelID); c != 0 {
		return c
	}
	if c := strings.Compare(a.UserID, b.UserID); c != 0 {
		return c
	}
	return strings.Compare(a.Limit, b.Limit)
}
