package journal

import "time"

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
