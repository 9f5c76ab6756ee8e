package persist

import (
	"context"
	"database/sql"
	"maps"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// webhooks stores webhooks and their deliveries. Their number is bounded by the queues of package
// webhook.
type webhooks struct {
	db         database
	hooks      pending[string, journal.Webhook]
	deliveries pending[int64, journal.WebhookDelivery]
}

const (
	webhookColumns  = "id, settings, state"
	deliveryColumns = "id, webhook_id, queued_at, event, tries, next_at, dead_at, reason"
)

var (
	webhookInsertion  = statement.Insertion{Into: "webhook (" + webhookColumns + ")", Columns: 3, Conflict: "(id) DO UPDATE SET settings = excluded.settings, state = excluded.state"}
	deliveryInsertion = statement.Insertion{
		Into: "webhook_delivery (" + deliveryColumns + ")", Columns: 8,
		Conflict: "(id) DO UPDATE SET tries = excluded.tries, next_at = excluded.next_at, dead_at = excluded.dead_at, reason = excluded.reason",
	}
)

// Nothing limits what is pending, so put returns no error here.

// PutWebhook stores a webhook with the next flush.
func (w *webhooks) PutWebhook(hook journal.Webhook) { _ = w.hooks.put(hook.ID, &hook) }

// DeleteWebhook deletes a webhook with the next flush. Its deliveries stay.
func (w *webhooks) DeleteWebhook(id string) { _ = w.hooks.put(id, nil) }

// PutWebhookDelivery stores a delivery with the next flush.
func (w *webhooks) PutWebhookDelivery(d journal.WebhookDelivery) { _ = w.deliveries.put(d.ID, &d) }

// DeleteWebhookDelivery deletes a delivery with the next flush.
func (w *webhooks) DeleteWebhookDelivery(id int64) { _ = w.deliveries.put(id, nil) }

// Webhooks returns all webhooks and deliveries, including pending ones.
func (w *webhooks) Webhooks(ctx context.Context) ([]journal.Webhook, []journal.WebhookDelivery, error) {
	// Read pending rows first, so that none is missed if it is stored in between.
	pendingHooks, pendingDeliveries := w.hooks.peek(), w.deliveries.peek()
	hooks, deliveries := map[string]*journal.Webhook{}, map[int64]*journal.WebhookDelivery{}
	err := w.db.Query(ctx, func(rows *sql.Rows) error {
		var h journal.Webhook
		err := rows.Scan(&h.ID, &h.Settings, &h.State)
		hooks[h.ID] = &h
		return err
	}, "SELECT "+webhookColumns+" FROM webhook LIMIT ?", journal.MaxWebhooks)
	if err != nil {
		return nil, nil, err
	}
	err = w.db.Query(ctx, func(rows *sql.Rows) error {
		var d journal.WebhookDelivery
		err := rows.Scan(&d.ID, &d.WebhookID, statement.Time(&d.QueuedAt), &d.Event, &d.Tries, statement.Time(&d.NextAt), statement.Time(&d.DeadAt), &d.Reason)
		deliveries[d.ID] = &d
		return err
	}, "SELECT "+deliveryColumns+" FROM webhook_delivery ORDER BY id DESC LIMIT ?", journal.MaxDeliveries)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(hooks, pendingHooks)
	maps.Copy(deliveries, pendingDeliveries)
	return present(hooks), present(deliveries), nil
}

func writeWebhooks(ctx context.Context, tx *sql.Tx, rows map[string]*journal.Webhook) error {
	return writeByID(ctx, tx, "webhook", &webhookInsertion, rows, func(args []any, w *journal.Webhook) []any {
		return append(args, w.ID, w.Settings, w.State)
	})
}

func writeDeliveries(ctx context.Context, tx *sql.Tx, rows map[int64]*journal.WebhookDelivery) error {
	return writeByID(ctx, tx, "webhook_delivery", &deliveryInsertion, rows, func(args []any, d *journal.WebhookDelivery) []any {
		return append(args, d.ID, d.WebhookID, d.QueuedAt.UnixNano(), d.Event, d.Tries, statement.OptionalTime(d.NextAt), statement.OptionalTime(d.DeadAt), d.Reason)
	})
}
