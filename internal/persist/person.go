package persist

import (
	"context"
	"database/sql"
	"math"

	"github.com/chatguard/chatguard/internal/journal"
)

const personColumns = "channel_id, user_id, login, roles, last_seen"

var personInsertion = insertion{
	into:    "person (" + personColumns + ")",
	columns: 5,
	conflict: `DO UPDATE SET login = excluded.login, roles = excluded.roles, last_seen = excluded.last_seen
		WHERE excluded.last_seen >= last_seen`, // a message may come late
}

func personValues(args []any, channelID string, p journal.Person) []any {
	return append(args, channelID, p.UserID, p.Login, int64(p.Roles), p.LastSeen.UnixNano())
}

// personOf is who a message is from.
func personOf(m *journal.Spoken) journal.Person {
	return journal.Person{UserID: m.UserID, Login: m.Login, Roles: m.Roles, LastSeen: m.At}
}

// Person returns a user of a channel as they were last seen, what waits to be written among it, and false for one who wasn't.
func (s *Store) Person(ctx context.Context, channelID, userID string) (p journal.Person, ok bool, err error) {
	people, err := s.peopleWho(ctx, channelID, func(id string) bool { return id == userID }, "user_id = ?2", userID)
	p, ok = people[userID]
	return p, ok, err
}

// People returns the users of a channel as they were last seen, by ID, what waits to be written among it; those who weren't are left out.
func (s *Store) People(ctx context.Context, channelID string, userIDs []string) (map[string]journal.Person, error) {
	wanted := map[string]bool{}
	for _, id := range userIDs {
		wanted[id] = true
	}
	return s.peopleWho(ctx, channelID, func(id string) bool { return wanted[id] }, anyOf, jsonOf(userIDs))
}

// anyOf is the condition that a user is one of a list.
const anyOf = "user_id IN (SELECT value FROM json_each(?2))"

// peopleWho returns those whose IDs are wanted, which the condition, with its argument ?2, says of those stored.
func (s *Store) peopleWho(
	ctx context.Context, channelID string, wanted func(userID string) bool, condition string, arg any,
) (map[string]journal.Person, error) {
	people, err := s.recentPeople(ctx, channelID, func(m *timelineRow) bool { return wanted(m.UserID) }, " AND "+condition, arg)
	if err != nil {
		return nil, err
	}
	stored, err := s.rolledUpPeople(ctx, channelID, condition, arg)
	for _, p := range stored {
		if _, ok := people[p.UserID]; !ok {
			people[p.UserID] = p
		}
	}
	return people, err
}

// rolledUpPeople returns users as the messages that are rolled up know them.
func (s *Store) rolledUpPeople(ctx context.Context, channelID, condition string, arg any) ([]journal.Person, error) {
	return s.queryPeople(ctx, "SELECT user_id, login, roles, last_seen FROM person WHERE channel_id = ?1 AND "+condition, channelID, arg)
}

// recentPeople returns, by ID, those of a channel whose last messages aren't rolled up: they wait and are wanted, or the condition is true of them.
func (s *Store) recentPeople(
	ctx context.Context, channelID string, wanted func(*timelineRow) bool, condition string, args ...any,
) (map[string]journal.Person, error) {
	// First what waits, because what is stored next is missing then in neither.
	waiting := s.queue.spoken(func(m *timelineRow) bool { return m.ChannelID == channelID && wanted(m) })
	stored, err := s.queryPeople(ctx, "SELECT user_id, login, roles, max(at) FROM "+notRolledUp+condition+" GROUP BY user_id",
		append([]any{channelID}, args...)...)
	recent := map[string]journal.Person{}
	for _, p := range stored {
		recent[p.UserID] = p
	}
	for i := range waiting {
		if p := personOf(&waiting[i].Spoken); !p.LastSeen.Before(recent[p.UserID].LastSeen) {
			recent[p.UserID] = p
		}
	}
	if err != nil || len(waiting) == 0 {
		return recent, err
	}
	return recent, s.correctLate(ctx, channelID, recent)
}

// correctLate puts those in their place of whom the messages that are rolled up know more, because the others come late.
func (s *Store) correctLate(ctx context.Context, channelID string, recent map[string]journal.Person) error {
	upTo := int64(math.MinInt64)
	err := s.db.query(ctx, func(rows *sql.Rows) error { return rows.Scan(&upTo) }, "SELECT at FROM rolled_up WHERE channel_id = ?", channelID)
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
	stored, err := s.rolledUpPeople(ctx, channelID, anyOf, jsonOf(late))
	for _, p := range stored {
		if p.LastSeen.After(recent[p.UserID].LastSeen) {
			recent[p.UserID] = p
		}
	}
	return err
}

// queryPeople returns what a query finds, which asks for the columns but that of the channel.
func (s *Store) queryPeople(ctx context.Context, query string, args ...any) (people []journal.Person, err error) {
	err = s.db.query(ctx, func(rows *sql.Rows) error {
		var p journal.Person
		var lastSeen int64
		err := rows.Scan(&p.UserID, &p.Login, &p.Roles, &lastSeen)
		p.LastSeen = timeAt(lastSeen)
		people = append(people, p)
		return err
	}, query, args...)
	return people, err
}
