package persist

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// wantWebhooks compares the webhooks and the deliveries with those that are wanted, as text.
func wantWebhooks(t *testing.T, s *Store, when string, hooks []journal.Webhook, deliveries []journal.WebhookDelivery) {
	t.Helper()
	gotHooks, gotDeliveries, err := s.Webhooks(ctx)
	must(t, err)
	slices.SortFunc(gotHooks, func(a, b journal.Webhook) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(gotDeliveries, func(a, b journal.WebhookDelivery) int { return cmp.Compare(a.ID, b.ID) })
	if fmt.Sprint(gotHooks, gotDeliveries) != fmt.Sprint(hooks, deliveries) {
		t.Errorf("%s: %v, %v\nwant %v, %v", when, gotHooks, gotDeliveries, hooks, deliveries)
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, &Options{Now: at(start)})
	g := guardOf(t, s, policy())
	own := journal.Webhook{ID: "a", Settings: `{"name":"a"}`, State: "{}"}
	configured := journal.Webhook{ID: "config:b", State: "{}"}
	waits := journal.WebhookDelivery{ID: 7, WebhookID: "a", QueuedAt: start, Event: `{"id":"x"}`}
	dead := journal.WebhookDelivery{ID: 8, WebhookID: "a", QueuedAt: start, Event: `{}`, Tries: 10, DeadAt: start.Add(time.Hour), Reason: "no answer"}
	s.PutWebhook(own)
	s.PutWebhook(configured)
	s.PutWebhookDelivery(waits)
	s.PutWebhookDelivery(dead)
	wantWebhooks(t, s, "pending", []journal.Webhook{own, configured}, []journal.WebhookDelivery{waits, dead})
	s.mustFlush(t, g)
	if len(s.webhooks.hooks.peek())+len(s.webhooks.deliveries.peek()) > 0 {
		t.Error("pending after the flush")
	}

	waits.Tries, waits.NextAt, waits.Reason = 1, start.Add(5*time.Second), "500"
	own.State = `{"off":"gone"}`
	s.PutWebhook(own)
	s.PutWebhookDelivery(waits)
	hooks, deliveries := s.webhooks.hooks.peek(), s.webhooks.deliveries.peek() // a flush that takes long
	s.DeleteWebhookDelivery(dead.ID)
	s.DeleteWebhook(configured.ID)
	waits.Tries = 2
	s.PutWebhookDelivery(waits)
	s.webhooks.hooks.stored(hooks)
	s.webhooks.deliveries.stored(deliveries)
	s.PutWebhook(own)
	wantWebhooks(t, s, "changed", []journal.Webhook{own}, []journal.WebhookDelivery{waits})
	s.mustFlush(t, g)
	must(t, s.Close())

	s = open(t, path, &Options{Now: at(start)})
	wantWebhooks(t, s, "opened again", []journal.Webhook{own}, []journal.WebhookDelivery{waits})
}
