package persist

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// people are the users of channels, as last seen, including those of pending messages.
type people struct {
	db    database
	queue *queue
	notes *notebook
}

// FindPeople returns up to n users of a channel, including those of pending messages. The user
// whose ID is the text comes first. Then come users whose login or display name begins with the
// text, and then users whose login or display name contains it. Case, accents and width make no
// difference. Within each group, the users who spoke last come first. An empty text finds the users
// who spoke last.
func (s *people) FindPeople(ctx context.Context, channelID, text string, n int) ([]journal.Person, error) {
	known, err := s.recentPeople(ctx, channelID, func(*timelineRow) bool { return true }, "")
	if err != nil {
		return nil, err
	}
	wanted := searchFor(text)
	found := []journal.Person{}
	for _, p := range known {
		if wanted.quality(p) != unlike {
			found = append(found, p)
		}
	}
	most := n + len(known) // all known users may come before the others
	for like, matches := range wanted.matches() {
		for _, m := range matches {
			stored, err := matchingPeople(ctx, s.db, channelID, wanted, m, most)
			if err != nil {
				return nil, err
			}
			for _, p := range stored {
				if _, ok := known[p.UserID]; !ok {
					known[p.UserID] = p
					found = append(found, p)
				}
			}
		}
		if wanted.countLike(found, like) >= n {
			break // all further matches are worse
		}
	}
	wanted.sort(found)
	return found[:min(n, len(found))], nil
}

// FindNoted is like FindPeople, but finds only users who have notes.
func (s *people) FindNoted(ctx context.Context, channelID, text string, n int) ([]journal.Person, error) {
	ids := slices.Collect(maps.Keys(s.notes.NotedUsers(channelID)))
	people, err := s.People(ctx, channelID, ids)
	if err != nil {
		return nil, err
	}
	wanted := searchFor(text)
	found := []journal.Person{}
	for _, id := range ids {
		p, ok := people[id]
		if !ok {
			p.UserID = id
		}
		if wanted.quality(p) != unlike {
			found = append(found, p)
		}
	}
	wanted.sort(found)
	return found[:min(n, len(found))], nil
}

// UserByLogin returns the ID of the user who has a login, as far as the channel's messages tell:
// the last user to speak under it, if that user has spoken under no other login since. The platform
// may have given the login to somebody else since then. The login must be spelled as on the
// platform. ok is false if there is no such user.
func (s *people) UserByLogin(ctx context.Context, channelID, login string) (userID string, ok bool, err error) {
	if userID, ok, err = s.lastUserAs(ctx, channelID, login); err != nil || !ok {
		return "", false, err
	}
	newest, err := s.newestLogin(ctx, channelID, userID)
	if err != nil || newest != login {
		return "", false, err
	}
	return userID, true, nil
}

// newestLogin returns the login under which a user was last seen in a channel, or in the rolled-up
// messages of another channel.
func (s *people) newestLogin(ctx context.Context, channelID, userID string) (login string, err error) {
	here, ok, err := s.Person(ctx, channelID, userID)
	if err != nil {
		return "", err
	}
	if !ok {
		err = s.db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&here.Login, statement.Time(&here.LastSeen)) }, `SELECT login, at FROM journal
			WHERE id = (SELECT max(id) FROM `+journalByUser+` WHERE channel_id = ? AND user_id = ?)`, channelID, userID)
		if err != nil {
			return "", err
		}
	}
	elsewhere, err := queryPeople(ctx, s.db, `SELECT user_id, person.login, display_name, roles, last_seen
		FROM channel CROSS JOIN person ON channel_id = channel.id AND user_id = $1 ORDER BY last_seen DESC LIMIT 1`, userID)
	if len(elsewhere) > 0 && elsewhere[0].LastSeen.After(here.LastSeen) {
		return elsewhere[0].Login, err
	}
	return here.Login, err
}

// lastUserAs returns the ID of the user who was the last to speak in the channel under a login, and
// who may have another one by now. It searches the names that users had when last seen, messages
// that are not rolled up or written yet, and the whole journal.
func (s *people) lastUserAs(ctx context.Context, channelID, login string) (userID string, ok bool, err error) {
	if userID, ok = s.queue.userByLogin(channelID, login); ok {
		return userID, true, nil
	}
	err = s.db.Query(ctx, func(rows *sql.Rows) error {
		ok = true
		return rows.Scan(&userID)
	}, `SELECT user_id FROM (
			SELECT user_id, at FROM `+notRolledUp+` AND login = $2
			UNION ALL
			SELECT user_id, last_seen FROM person WHERE channel_id = $1 AND login = $2 COLLATE NOCASE AND login = $2
			UNION ALL
			SELECT user_id, at FROM journal WHERE id = (SELECT max(id) FROM `+journalByUser+` WHERE channel_id = $1 AND login = $2))
		ORDER BY at DESC LIMIT 1`, channelID, login)
	return userID, ok && err == nil, err
}

// UsersNamed returns the users of a channel who had the given display name when last seen. It
// ignores the same differences between names as a search.
func (s *people) UsersNamed(ctx context.Context, channelID, displayName string) ([]journal.Person, error) {
	key := foldName(displayName)
	if key == "" {
		return nil, nil
	}
	known, err := s.recentPeople(ctx, channelID, func(*timelineRow) bool { return true }, "")
	if err != nil {
		return nil, err
	}
	stored, err := queryPeople(ctx, s.db, "SELECT "+shownPerson+` FROM `+personByName+`
		WHERE channel_id = $1 AND name_key <> '' AND name_key >= $2 AND name_key < $2 || char(11) LIMIT $3`, channelID, key, mostNamesakes)
	for _, p := range stored {
		if _, ok := known[p.UserID]; !ok {
			known[p.UserID] = p
		}
	}
	maps.DeleteFunc(known, func(_ string, p journal.Person) bool { return foldName(p.DisplayName) != key })
	return slices.Collect(maps.Values(known)), err
}

// mostNamesakes is how many stored users with the same name are read.
const mostNamesakes = 100
