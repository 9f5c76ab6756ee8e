package persist

import (
	"context"
	"database/sql"
	"math"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

const personColumns = "channel_id, user_id, login, display_name, name_key, roles, last_seen"

// shownPerson are the columns of a Person.
const shownPerson = "user_id, login, display_name, roles, last_seen"

var personInsertion = statement.Insertion{
	Into:    "person (" + personColumns + ")",
	Columns: 7,
	Conflict: `(channel_id, user_id) DO UPDATE SET login = excluded.login, display_name = excluded.display_name, name_key = excluded.name_key, roles = excluded.roles, last_seen = excluded.last_seen
		WHERE excluded.last_seen >= person.last_seen`, // a message may arrive late
}

// personOf returns the author of a message.
func personOf(m *timelineRow) journal.Person {
	return journal.Person{UserID: m.UserID, Login: m.Login, DisplayName: m.displayName, Roles: m.Roles, LastSeen: m.At}
}

// Person returns a user of a channel as last seen; pending messages count. ok is false if the user
// was never seen.
func (s *people) Person(ctx context.Context, channelID, userID string) (p journal.Person, ok bool, err error) {
	people, err := s.findPeople(ctx, channelID, func(id string) bool { return id == userID }, "user_id = $2", userID)
	p, ok = people[userID]
	return p, ok, err
}

// People returns users of a channel as last seen, by ID; pending messages count. It leaves out
// users who were never seen.
func (s *people) People(ctx context.Context, channelID string, userIDs []string) (map[string]journal.Person, error) {
	wanted := map[string]bool{}
	for _, id := range userIDs {
		wanted[id] = true
	}
	return s.findPeople(ctx, channelID, func(id string) bool { return wanted[id] }, anyOf, jsonOf(userIDs))
}

// anyOf is the condition that a user is in a list.
var anyOf = "user_id IN " + sqlite.List("$2")

// findPeople returns the people with wanted IDs. condition, with its argument $2, is the same
// selection in SQL, for stored people.
func (s *people) findPeople(
	ctx context.Context, channelID string, wanted func(userID string) bool, condition string, arg any,
) (map[string]journal.Person, error) {
	people, err := s.recentPeople(ctx, channelID, func(m *timelineRow) bool { return wanted(m.UserID) }, " AND "+condition, arg)
	if err != nil {
		return nil, err
	}
	stored, err := rolledUpPeople(ctx, s.db, channelID, condition, arg)
	for _, p := range stored {
		if _, ok := people[p.UserID]; !ok {
			people[p.UserID] = p
		}
	}
	return people, err
}

// rolledUpPeople returns users as they appear in rolled-up messages.
func rolledUpPeople(ctx context.Context, db database, channelID, condition string, arg any) ([]journal.Person, error) {
	return queryPeople(ctx, db, "SELECT "+shownPerson+" FROM person WHERE channel_id = $1 AND "+condition, channelID, arg)
}

// recentPeople returns, by ID, the users of a channel whose last messages aren't rolled up. wanted
// selects the pending messages, and condition selects the stored ones in SQL.
func (s *people) recentPeople(
	ctx context.Context, channelID string, wanted func(*timelineRow) bool, condition string, args ...any,
) (map[string]journal.Person, error) {
	// Read pending messages first, so that none is missed if it is stored in between.
	waiting := s.queue.matchingMessages(func(m *timelineRow) bool { return m.ChannelID == channelID && wanted(m) })
	stored, err := queryPeople(ctx, s.db, "SELECT user_id, login, display_name, roles, max(at) FROM "+notRolledUp+condition+" GROUP BY user_id",
		append([]any{channelID}, args...)...)
	recent := map[string]journal.Person{}
	for _, p := range stored {
		recent[p.UserID] = p
	}
	for i := range waiting {
		if p := personOf(&waiting[i]); !p.LastSeen.Before(recent[p.UserID].LastSeen) {
			recent[p.UserID] = p
		}
	}
	if err != nil || len(waiting) == 0 {
		return recent, err
	}
	return recent, correctLate(ctx, s.db, channelID, recent)
}

// correctLate replaces each person in recent who has a newer message among the rolled-up ones. This
// happens if the messages that aren't rolled up yet arrived late.
func correctLate(ctx context.Context, db database, channelID string, recent map[string]journal.Person) error {
	upTo := int64(math.MinInt64)
	err := db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&upTo) }, "SELECT at FROM rolled_up WHERE channel_id = ?", channelID)
	if err != nil {
		return err
	}
	var late []string
	for id, p := range recent {
		if p.LastSeen.UnixNano() <= upTo {
			late = append(late, id)
		}
	}
	if len(late) == 0 {
		return nil
	}
	stored, err := rolledUpPeople(ctx, db, channelID, anyOf, jsonOf(late))
	for _, p := range stored {
		if p.LastSeen.After(recent[p.UserID].LastSeen) {
			recent[p.UserID] = p
		}
	}
	return err
}

// queryPeople returns the result of a query for shownPerson.
func queryPeople(ctx context.Context, db database, query string, args ...any) ([]journal.Person, error) {
	return statement.List(ctx, db.Query, func(rows *sql.Rows, p *journal.Person) error {
		return rows.Scan(&p.UserID, &p.Login, &p.DisplayName, statement.Names(&p.Roles), statement.Time(&p.LastSeen))
	}, query, args...)
}
