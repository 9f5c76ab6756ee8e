package persist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
)

// RestoreStats is what Restore found.
type RestoreStats struct {
	Rows        int               // rows of state that were read and understood
	Unreadable  int               // rows that it couldn't read; they stay in the database until their user's state is written again
	Interrupted int               // journal entries on which the last process had not acted when it ended
	LastEntry   chatguard.EntryID // the last entry in the journal; 0 when there is none
}

// Restore gives the Guard what of its users' state still counts, and makes its entry IDs go on after the journal's. Call it before the first
// message and after each channel's policy is in force, because rows of limits that a policy doesn't have are passed over. A row that can't be
// read is counted and logged. An error means that the Guard has only a part; Run then refuses to write, so that the part never replaces the
// whole.
//
// Journal entries that are still pending get the outcome Skipped, because whoever was to act on them is gone.
func (s *Store) Restore(ctx context.Context, guard *chatguard.Guard) (RestoreStats, error) {
	stats, err := s.restoreJournal(ctx)
	if err == nil {
		err = s.restoreState(ctx, guard, &stats)
	}
	if err != nil {
		return stats, explain(s.db.path, err)
	}
	guard.RestoreEntryID(stats.LastEntry)
	s.restored.Store(true)
	if stats.Interrupted > 0 {
		s.interrupted = stats.LastEntry // Run writes it
	}
	return stats, nil
}

// restoreState reads and restores at the same time: each takes about as long as the other.
func (s *Store) restoreState(ctx context.Context, guard *chatguard.Guard, stats *RestoreStats) error {
	batches := make(chan []chatguard.StateRow, 4)
	reading, ctx := errgroup.WithContext(ctx)
	reading.Go(func() error {
		defer close(batches)
		return s.readState(ctx, batches)
	})
	now := guard.Now()
	var firstUnreadable error
	for rows := range batches {
		for _, row := range rows {
			if err := guard.Restore(row, now); err != nil {
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

// batchOfRows is how many rows are handed over at a time.
const batchOfRows = 1000

// readState sends all rows in the table's order.
func (s *Store) readState(ctx context.Context, batches chan<- []chatguard.StateRow) (err error) {
	rows, err := s.db.reader.QueryContext(ctx, "SELECT "+stateColumns+" FROM state ORDER BY channel_id, user_id, limit_name")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	batch := make([]chatguard.StateRow, 0, batchOfRows)
	for rows.Next() {
		row, err := scanState(rows)
		if err != nil {
			return err
		}
		if batch = append(batch, row); len(batch) == cap(batch) {
			batches <- batch
			batch = make([]chatguard.StateRow, 0, batchOfRows)
		}
	}
	batches <- batch
	return rows.Err()
}

const stateColumns = "channel_id, user_id, limit_name, data"

func scanState(rows *sql.Rows) (row chatguard.StateRow, err error) {
	err = rows.Scan(&row.ChannelID, &row.UserID, &row.Limit, &row.Data)
	return row, err
}

var stateInsertion = insertion{
	into:     "state (" + stateColumns + ")",
	columns:  4,
	conflict: "DO UPDATE SET data = excluded.data",
}

// writeState stores the rows in the order of the table, because its pages are then visited once and one after the other.
func writeState(ctx context.Context, tx *sql.Tx, rows []chatguard.StateRow) error {
	order := orderOf(rows)
	return stateInsertion.write(ctx, tx, len(rows), func(args []any, i int) []any {
		row := &rows[order[i].row]
		return append(args, row.ChannelID, row.UserID, row.Limit, row.Data)
	})
}

// place is where a row stands in the order of the table, as far as a few bytes tell: sorting them is several times as fast as sorting rows.
type place struct {
	channel uint32 // its rank among the channels
	row     uint32
	user    uint64 // the first bytes of the ID
}

// orderOf returns the rows' places in the order of the table.
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

// ranksOf numbers the channels in their order.
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
