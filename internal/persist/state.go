package persist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// RestoreStats is the result of Restore.
type RestoreStats struct {
	Rows int // rows of state restored
	// Unreadable is how many rows couldn't be read. Such a row stays in the database until its
	// user's state is written again.
	Unreadable int
	// Interrupted is how many journal entries the last process had not acted on when it ended.
	Interrupted int
	LastEntry   chatguard.EntryID // last journal entry; 0 if there is none
}

// Restore loads the state that still counts into the Guard, and makes the Guard's entry IDs
// continue after the journal's. Call it before the first message. Call it after each channel's
// policy is in force, because it skips rows of limits that a policy doesn't have. It counts and
// logs rows that can't be read. After an error the Guard has only part of the state. Run then
// refuses to write, so that the partial state never replaces the stored state.
//
// With a nil Guard, Restore loads no state. Run can then have any Guard whose state isn't restored.
//
// Journal entries that are still pending get the result Unknown, because nothing will act on them
// any more, and an action may have been carried out.
func (s *Store) Restore(ctx context.Context, guard *chatguard.Guard) (RestoreStats, error) {
	stats, err := restoreJournal(ctx, s.db)
	if err == nil && guard != nil {
		err = s.restoreState(ctx, guard, &stats)
	}
	if err != nil {
		return stats, err
	}
	if guard != nil {
		guard.State().RestoreEntryID(stats.LastEntry)
	}
	s.restored.Store(true)
	if stats.Interrupted > 0 {
		s.interrupted = stats.LastEntry // Run writes their outcomes
	}
	return stats, nil
}

// restoreState reads rows and restores them in the Guard concurrently, because both take about the
// same time.
func (s *Store) restoreState(ctx context.Context, guard *chatguard.Guard, stats *RestoreStats) error {
	batches := make(chan []chatguard.StateRow, 4)
	reading, ctx := errgroup.WithContext(ctx)
	reading.Go(func() error {
		defer close(batches)
		return readState(ctx, s.db, batches)
	})
	now := guard.Now()
	var firstUnreadable error
	for rows := range batches {
		for _, row := range rows {
			if err := guard.State().Restore(row, now); err != nil {
				if stats.Unreadable == 0 {
					firstUnreadable = fmt.Errorf("channel %s, user %s, limit %q: %w", row.ChannelID, row.UserID, row.Limit, err)
				}
				stats.Unreadable++
				continue
			}
			stats.Rows++
		}
	}
	if stats.Unreadable > 0 {
		s.opts.Logger.Warn("some state can't be read and starts fresh", slog.Int("rows", stats.Unreadable), slog.Any("first", firstUnreadable))
	}
	return reading.Wait()
}

// batchOfRows is the number of rows that readState sends at a time.
const batchOfRows = 1000

// readState sends all rows in table order.
func readState(ctx context.Context, db *sqlite.DB, batches chan<- []chatguard.StateRow) error {
	batch := make([]chatguard.StateRow, 0, batchOfRows)
	err := db.Query(ctx, func(rows *sql.Rows) error {
		row, err := scanState(rows)
		if err != nil {
			return err
		}
		if batch = append(batch, row); len(batch) == cap(batch) {
			batches <- batch
			batch = make([]chatguard.StateRow, 0, batchOfRows)
		}
		return nil
	}, "SELECT "+stateColumns+" FROM state ORDER BY channel_id, user_id, limit_name")
	if err == nil {
		batches <- batch
	}
	return err
}

const stateColumns = "channel_id, user_id, limit_name, data"

func scanState(rows *sql.Rows) (row chatguard.StateRow, err error) {
	err = rows.Scan(&row.ChannelID, &row.UserID, &row.Limit, &row.Data)
	return row, err
}

var stateInsertion = statement.Insertion{
	Into:     "state (" + stateColumns + ")",
	Columns:  4,
	Conflict: "DO UPDATE SET data = excluded.data",
}

// writeState stores the rows in table order, so that SQLite visits each page once, in order.
func writeState(ctx context.Context, tx *sql.Tx, rows []chatguard.StateRow) error {
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
func orderOf(rows []chatguard.StateRow) []place {
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
func ranksOf(rows []chatguard.StateRow) map[string]uint32 {
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
func compareKeys(a, b chatguard.StateRow) int {
	if c := strings.Compare(a.ChannelID, b.ChannelID); c != 0 {
		return c
	}
	if c := strings.Compare(a.UserID, b.UserID); c != 0 {
		return c
	}
	return strings.Compare(a.Limit, b.Limit)
}
