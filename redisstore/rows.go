package redisstore

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// Rows returns all rows of the namespace, in no particular order, or those of one user if userID
// isn't empty. Row.Now has the bytes. Rows may omit rows that are written at the same time, and
// omits the empty rows that Delete leaves. Rows visits all keys of the server, including those of
// other programs, without delaying other clients for long. It needs the right to SCAN. It ends
// after the first error.
func (s *Store) Rows(ctx context.Context, userID string) iter.Seq2[shared.Row, error] {
	return func(yield func(shared.Row, error) bool) {
		if err := s.server.ready(); err != nil {
			yield(shared.Row{}, err)
			return
		}
		seen := map[string]bool{} // a scan can return a key twice
		for _, node := range (*s.server.client.Load()).Nodes() {
			if !s.scanNode(ctx, node, userID, seen, yield) {
				return
			}
		}
	}
}

// scanNode passes the rows of one node of the server to yield. It returns false if the iteration
// must end.
func (s *Store) scanNode(ctx context.Context, node rueidis.Client, userID string, seen map[string]bool, yield func(shared.Row, error) bool) bool {
	for cursor := uint64(0); ; {
		entry, err := s.server.scan(ctx, node, cursor)
		if err != nil {
			yield(shared.Row{}, err)
			return false
		}
		var rows []shared.Row
		var keys []string
		for _, key := range entry.Elements {
			row, ok := s.server.keys.parseRow(key)
			if ok && !seen[key] && (userID == "" || row.UserID == userID) {
				seen[key] = true
				rows, keys = append(rows, row), append(keys, key)
			}
		}
		values, err := s.server.readList(ctx, keys, func(key string) string { return key })
		if err != nil {
			yield(shared.Row{}, err)
			return false
		}
		for i, row := range rows {
			if row.Now = []byte(values[i]); values[i] == "" || limits.IsEmptyRow(row.Now) {
				continue
			}
			if !yield(row, nil) {
				return false
			}
		}
		if cursor = entry.Cursor; cursor == 0 {
			return true
		}
	}
}

// maxDeleteTries is how often Delete tries to replace a row that others change at the same time.
const maxDeleteTries = 100

// Delete empties all rows of a user, and notifies the other nodes. It returns the number of these
// rows. The user's next message is judged like that of a new user.
//
// An empty row stays in the store, under a key with the user's ID, until the row that it replaces
// would have expired, or for a week if that row had an override. Otherwise a node that misses the
// notice would think that the row was lost, and restore it. Rows doesn't return empty rows. A row
// that this version can't read is removed. Delete needs the rights to SCAN and PTTL.
func (s *Store) Delete(ctx context.Context, userID string) (deleted int, err error) {
	for row, err := range s.Rows(ctx, userID) {
		if err != nil {
			return deleted, err
		}
		if err := s.empty(ctx, row); err != nil {
			return deleted, err
		}
		deleted++
	}
	return deleted, nil
}

// empty replaces a row, whose stored bytes are row.Now, by an empty one.
func (s *Store) empty(ctx context.Context, row shared.Row) error {
	for range maxDeleteTries {
		row.Was = row.Now
		if err := s.setEmpty(ctx, &row); err != nil {
			return err
		}
		swap := shared.Swap{Rows: []shared.Row{row}, Notify: true}
		if s.Swap(ctx, []*shared.Swap{&swap}); swap.Err != nil {
			return swap.Err
		}
		if row = swap.Rows[0]; swap.Done || row.Now == nil || limits.IsEmptyRow(row.Now) {
			return nil
		}
	}
	return fmt.Errorf("redisstore: %s: a row of the user is changing all the time: try again", s.server.where)
}

// setEmpty sets what replaces a row, and until when: as long as any node may remember the row. If
// the row can't be read, no row replaces it.
func (s *Store) setEmpty(ctx context.Context, row *shared.Row) error {
	left, err := s.server.timeLeft(ctx, s.server.keys.row(row))
	if err != nil {
		return err
	}
	now, _ := s.server.clock.now()
	until := int64(limits.Never)
	if left >= 0 {
		until = now.Add(left).UnixNano()
	}
	empty, until, err := limits.EmptyRow(row.Was, rand.Uint32(), now.UnixNano(), until)
	if err != nil { // this version can't read the row, so it won't restore it either
		row.Is, row.Until = nil, time.Time{}
		return nil
	}
	row.Is, row.Until = empty, time.Unix(0, until)
	return nil
}
