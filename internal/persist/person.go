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
	recent, err := s.recentPeople(ctx, channelID, func(m *timelineRow) bool { return m.UserID == userID }, " AND user_id = ?2", userID)
	if err != nil {
		return p, false, err
	}
	if p, ok = recent[userID]; ok {
		return p, true, nil
	}
	return s.rolledUpPerson(ctx, channelID, userID)
}

// rolledUpPerson returns a user as the messages that are rolled up know them.
func (s *Store) rolledUpPerson(ctx context.Context, channelID, userID string) (p journal.Person, ok bool, err error) {
	stored, err := s.queryPeople(ctx, "SELECT user_id, login, roles, last_seen FROM person WHERE channel_id = ? AND user_id = ?", channelID, userID)
	if err != nil || len(stored) == 0 {
		return p, false, err
	}
	return stored[0], true, nil
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
	for id, p := range recent {
		if p.LastSeen.UnixNano() > upTo {
			continue
		}
		known, ok, err := s.rolledUpPerson(ctx, channelID, id)
		if err != nil {
			return err
		}
		if ok && known.LastSeen.After(p.LastSeen) {
			recent[id] = known
		}
	}
	return nil
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
