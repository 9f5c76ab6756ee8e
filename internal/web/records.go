package web

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

// Records reads the journal, the audit and the users who have written. Results include records that
// are still to be written to disk. An error means that the database is failing.
type Records interface {
	live.Records // rates from before the start

	// Entries returns the matching entries, newest first.
	Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error)
	// Audits returns the matching changes, newest first.
	Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error)

	// FindPeople returns up to n users of a channel whose login or display name contains text or
	// whose ID is text. Users whose name starts with text come first, then the most recent writers.
	// An empty text finds the most recent writers.
	FindPeople(ctx context.Context, channelID, text string, n int) ([]journal.Person, error)
	// FindNoted is like FindPeople, but finds only users who have notes.
	FindNoted(ctx context.Context, channelID, text string, n int) ([]journal.Person, error)
	// NotedUsers returns the number of notes on each user of a channel, by the user's ID.
	NotedUsers(channelID string) map[string]int
	// Notes returns the notes on a user, newest first.
	Notes(channelID, userID string) []journal.Note
	// Person returns a user of a channel as last seen. The bool is false if they were never seen.
	Person(ctx context.Context, channelID, userID string) (journal.Person, bool, error)
	// People returns the users of a channel as last seen, by ID. It leaves out users who were never
	// seen.
	People(ctx context.Context, channelID string, userIDs []string) (map[string]journal.Person, error)
	// QuarterHours returns the total cost of a user's messages since a time, per quarter of an
	// hour, oldest first. Without a user ID it returns that of everyone's messages, and without a
	// channel ID that of all channels. It leaves out quarters without messages.
	QuarterHours(ctx context.Context, channelID, userID string, since time.Time) ([]journal.QuarterHour, error)

	// Timeline calls visit with batches of a channel's messages since a time, in the order in which
	// they were judged. visit must not retain its argument. If visit fails or the context ends,
	// Timeline stops and returns the error.
	Timeline(ctx context.Context, channelID string, since time.Time, visit func([]journal.TimelineMessage) error) error

	// Throttling sums up the throttled messages of a channel between two times. Top has up to n
	// users.
	Throttling(ctx context.Context, channelID string, from, until time.Time, n int) (journal.Throttling, error)
	// Streams returns up to n streams of a channel, newest first.
	Streams(ctx context.Context, channelID string, n int) ([]journal.Stream, error)
}
