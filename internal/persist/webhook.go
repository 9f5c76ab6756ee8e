package persist

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// webhookQueue holds webhooks and deliveries that aren't in the database yet, or that must be
// deleted there. Its size is bounded by the queues of package webhook. It is safe for concurrent
// use. The zero value is empty.
type webhookQueue struct {
	mu sync.Mutex
	webhookRows
}

// webhookRows are webhooks and deliveries by their IDs. A nil value means that the row is deleted.
type webhookRows struct {
	hooks      map[string]*journal.Webhook
	deliveries map[int64]*journal.WebhookDelivery
}

func (r webhookRows) isEmpty() bool { return len(r.hooks)+len(r.deliveries) == 0 }

const (
	webhookColumns  = "id, settings, state"
	deliveryColumns = "id, webhook_id, queued_at, event, tries, next_at, dead_at, reason"
)

var (
	webhookInsertion  = statement.Insertion{Into: "webhook (" + webhookColumns + ")", Columns: 3, Conflict: "DO UPDATE SET settings = excluded.settings, state = excluded.state"}
	deliveryInsertion = statement.Insertion{
		Into: "webhook_delivery (" + deliveryColumns + ")", Columns: 8,
		Conflict: "DO UPDATE SET tries = excluded.tries, next_at = excluded.next_at, dead_at = excluded.dead_at, reason = excluded.reason",
	}
)

// PutWebhook stores a webhook with the next flush.
func (s *Store) PutWebhook(w journal.Webhook) { s.webhooks.putHook(w.ID, &w) }

// DeleteWebhook deletes a webhook with the next flush. Its deliveries stay.
func (s *Store) DeleteWebhook(id string) { s.webhooks.putHook(id, nil) }

// PutWebhookDelivery stores a delivery with the next flush.
func (s *Store) PutWebhookDelivery(d journal.WebhookDelivery) { s.webhooks.putDelivery(d.ID, &d) }

// DeleteWebhookDelivery deletes a delivery with the next flush.
func (s *Store) DeleteWebhookDelivery(id int64) { s.webhooks.putDelivery(id, nil) }

// Webhooks returns all webhooks and deliveries, including pending ones.
func (s *Store) Webhooks(ctx context.Context) ([]journal.Webhook, []journal.WebhookDelivery, error) {
	// Read pending rows first, so that none is missed if it is stored in between.
	pending := s.webhooks.peek()
	known := webhookRows{map[string]*journal.Webhook{}, map[int64]*journal.WebhookDelivery{}}
	err := s.db.Query(ctx, func(rows *sql.Rows) error {
		var w journal.Webhook
		err := rows.Scan(&w.ID, &w.Settings, &w.State)
		known.hooks[w.ID] = &w
		return err
	}, "SELECT "+webhookColumns+" FROM webhook LIMIT ?", journal.MaxWebhooks)
	if err != nil {
		return nil, nil, err
	}
	err = s.db.Query(ctx, func(rows *sql.Rows) error {
		var d journal.WebhookDelivery
		err := rows.Scan(&d.ID, &d.WebhookID, statement.Time(&d.QueuedAt), &d.Event, &d.Tries, statement.Time(&d.NextAt), statement.Time(&d.DeadAt), &d.Reason)
		known.deliveries[d.ID] = &d
		return err
	}, "SELECT "+deliveryColumns+" FROM webhook_delivery ORDER BY id DESC LIMIT ?", journal.MaxDeliveries)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(known.hooks, pending.hooks)
	maps.Copy(known.deliveries, pending.deliveries)
	return present(known.hooks), present(known.deliveries), nil
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

func (q *webhookQueue) putHook(id string, w *journal.Webhook) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.hooks == nil {
		q.hooks = map[string]*journal.Webhook{}
	}
	q.hooks[id] = w
}

func (q *webhookQueue) putDelivery(id int64, d *journal.WebhookDelivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deliveries == nil {
		q.deliveries = map[int64]*journal.WebhookDelivery{}
	}
	q.deliveries[id] = d
}

// peek returns the pending rows. They stay pending.
func (q *webhookQueue) peek() webhookRows {
	q.mu.Lock()
	defer q.mu.Unlock()
	return webhookRows{maps.Clone(q.hooks), maps.Clone(q.deliveries)}
}

// removeStored removes the rows that peek returned, because they are stored now, except those that
// were put again.
func (q *webhookQueue) removeStored(rows webhookRows) {
	q.mu.Lock()
	defer q.mu.Unlock()
	forget(q.hooks, rows.hooks)
	forget(q.deliveries, rows.deliveries)
}

func writeWebhooks(ctx context.Context, tx *sql.Tx, rows webhookRows) error {
	hooks, gone := splitDeleted(rows.hooks)
	if _, err := tx.ExecContext(ctx, "DELETE FROM webhook WHERE id IN (SELECT value FROM json_each(?))", jsonOf(gone)); err != nil {
		return err
	}
	err := webhookInsertion.Write(ctx, tx, len(hooks), func(args []any, i int) []any {
		w := rows.hooks[hooks[i]]
		return append(args, w.ID, w.Settings, w.State)
	})
	if err != nil {
		return err
	}
	deliveries, done := splitDeleted(rows.deliveries)
	if _, err := tx.ExecContext(ctx, "DELETE FROM webhook_delivery WHERE id IN (SELECT value FROM json_each(?))", jsonOf(done)); err != nil {
		return err
	}
	slices.Sort(deliveries)
	return deliveryInsertion.Write(ctx, tx, len(deliveries), func(args []any, i int) []any {
		d := rows.deliveries[deliveries[i]]
		return append(args, d.ID, d.WebhookID, d.QueuedAt.UnixNano(), d.Event, d.Tries, statement.OptionalTime(d.NextAt), statement.OptionalTime(d.DeadAt), d.Reason)
	})
}

// splitDeleted returns the keys of the rows that are stored, and of those that are deleted.
func splitDeleted[K comparable, V any](rows map[K]*V) (kept, deleted []K) {
	for key, row := range rows {
		if row != nil {
			kept = append(kept, key)
		} else {
			deleted = append(deleted, key)
		}
	}
	return kept, deleted
}
