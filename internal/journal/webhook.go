package journal

import "time"

// The maximum numbers of webhooks and deliveries that are read. Usually there are fewer: a
// configuration has up to 100 webhooks, people make up to 20 more, and each has a few hundred
// deliveries. Those of a former configuration are kept for a while.
const (
	MaxWebhooks   = 1000
	MaxDeliveries = 100_000
)

// Webhook is the stored form of a webhook. Its texts are JSON that only package webhook reads.
type Webhook struct {
	ID       string
	Settings string // with its address and secret; empty for a webhook of the configuration
	State    string // when it last worked, and what is wrong
}

// WebhookDelivery is an event that waits to be sent to a webhook, or that could not be sent.
type WebhookDelivery struct {
	ID        int64 // increases with time
	WebhookID string
	QueuedAt  time.Time
	Event     string    // JSON that only package webhook reads
	Tries     int       // that have failed
	NextAt    time.Time // of the next try; zero if nothing delays it
	DeadAt    time.Time // when it was given up; zero while it waits
	Reason    string    // why the last try failed, or why it was given up
}
