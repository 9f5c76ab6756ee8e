package web

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// Records reads what was done to whom, who changed what, and who has spoken. What waits to be written is among it. An error means that the
// database is in trouble.
type Records interface {
	// Entries returns the entries wanted, the newest first.
	Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error)
	// Audits returns the changes wanted, the newest first.
	Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error)

	// FindPeople returns up to n users of a channel whose login begins with a text, or else contains it, or whose ID it is; those who spoke last first.
	// An empty text finds those who spoke last.
	FindPeople(ctx context.Context, channelID, text string, n int) ([]journal.Person, error)
	// Person returns a user of a channel as they were last seen, and false for one who wasn't.
	Person(ctx context.Context, channelID, userID string) (journal.Person, bool, error)
	// People returns the users of a channel as they were last seen, by ID; those who weren't are left out.
	People(ctx context.Context, channelID string, userIDs []string) (map[string]journal.Person, error)
	// QuarterHours returns what a user's messages have spent since a time, by quarters of an hour, the oldest first; quarters without any are left out.
	QuarterHours(ctx context.Context, channelID, userID string, since time.Time) ([]journal.QuarterHour, error)

	// Timeline calls each with a channel's messages since a time, in the order in which they were judged, many at once. What each is given it may not
	// keep. It ends early with each's error, or the context's.
	Timeline(ctx context.Context, channelID string, since time.Time, each func([]journal.Spoken) error) error
	// Minutes calls each with how busy every channel was in each minute since a time, the oldest first; minutes without messages are left out.
	Minutes(ctx context.Context, since time.Time, each func(journal.Minute) error) error
}
