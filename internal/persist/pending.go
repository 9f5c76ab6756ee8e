package persist

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// maxChanges is the maximum number of pending changes of each kind: revisions, audits, notes, and
// settings.
const maxChanges = 1000

// ErrTooMany is returned for a change if maxChanges are already pending.
var ErrTooMany = fmt.Errorf("%d changes are already pending: fix the database first", maxChanges)

// pending has the rows of a kind that aren't in the database yet, by key: the last one of each key.
// A nil row is deleted in the database. It is safe for concurrent use. The zero value is empty, and
// has no limit.
type pending[K comparable, V any] struct {
	limit int // maximum number of rows; 0 if there is none

	mu   sync.Mutex
	rows map[K]*V
}

// put adds a row, or replaces the one with the same key. It returns ErrTooMany if limit others are
// pending.
func (p *pending[K, V]) put(key K, row *V) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.rows[key]; !known && p.limit > 0 && len(p.rows) >= p.limit {
		return ErrTooMany
	}
	if p.rows == nil {
		p.rows = map[K]*V{}
	}
	p.rows[key] = row
	return nil
}

// drop drops the rows for which isGone returns true. The database keeps what it has of them.
func (p *pending[K, V]) drop(isGone func(row *V) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.rows, func(_ K, row *V) bool { return row != nil && isGone(row) })
}

// peek returns the pending rows, which stay pending. The map is never nil.
func (p *pending[K, V]) peek() map[K]*V {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := make(map[K]*V, len(p.rows))
	maps.Copy(rows, p.rows)
	return rows
}

// stored removes the rows that peek returned, because they are stored now, except those that were
// put again.
func (p *pending[K, V]) stored(rows map[K]*V) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, row := range rows {
		if now, ok := p.rows[key]; ok && now == row {
			delete(p.rows, key)
		}
	}
}

// part returns the rows that are pending now as a part of a flush.
func (p *pending[K, V]) part(write func(context.Context, *sql.Tx, map[K]*V) error) part {
	rows := p.peek()
	return part{
		rows:  len(rows),
		write: func(ctx context.Context, tx *sql.Tx) error { return write(ctx, tx, rows) },
		done: func(_ context.Context, isStored bool) {
			if isStored {
				p.stored(rows)
			}
		},
	}
}

// part is what a flush writes of one kind of rows.
type part struct {
	rows  int // how many; 0 if there is nothing to write
	write func(ctx context.Context, tx *sql.Tx) error
	// done is called after the transaction, whether the rows are stored or not.
	done    func(ctx context.Context, isStored bool)
	counter *metrics.Counter // counts the rows that were written; nil if nobody counts them
}

// countedBy returns the part with a counter.
func (p part) countedBy(counter *metrics.Counter) part {
	p.counter = counter
	return p
}

// writeParts writes all parts, the last one first.
func writeParts(ctx context.Context, tx *sql.Tx, parts []part) error {
	for _, p := range slices.Backward(parts) {
		if p.rows > 0 {
			if err := p.write(ctx, tx); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeByID deletes or stores the rows of a table with the key id, in the order of their IDs.
func writeByID[K cmp.Ordered, V any](
	ctx context.Context, tx *sql.Tx, table string, insertion *statement.Insertion, rows map[K]*V, values func(args []any, row *V) []any,
) error {
	var deleted []K
	for id, row := range rows {
		if row == nil {
			deleted = append(deleted, id)
		}
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE id IN "+sqlite.List("?"), jsonOf(deleted)); err != nil {
		return err
	}
	stored := sortedRows(rows, cmp.Compare)
	return insertion.Write(ctx, tx, len(stored), func(args []any, i int) []any { return values(args, stored[i]) })
}

// sortedRows returns the rows that aren't deleted, in the order of their keys.
func sortedRows[K comparable, V any](rows map[K]*V, compare func(a, b K) int) (list []*V) {
	for _, key := range slices.SortedFunc(maps.Keys(rows), compare) {
		if row := rows[key]; row != nil {
			list = append(list, row)
		}
	}
	return list
}

// present returns the rows that aren't deleted.
func present[K comparable, V any](rows map[K]*V) (list []V) {
	for _, row := range rows {
		if row != nil {
			list = append(list, *row)
		}
	}
	return list
}
