package persist

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// FindPeople returns up to n users of a channel, including those of pending messages. The user
// whose ID is the text comes first. Then come users whose login or display name begins with the
// text, and then those in which one of them contains it. Case, accents and width make no
// difference. Within each group, the users who spoke last come first. An empty text finds the users
// who spoke last.
func (s *Store) FindPeople(ctx context.Context, channelID, text string, n int) ([]journal.Person, error) {
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

// search is a text for which people are searched, and its folded form.
type search struct{ text, key string }

func searchFor(text string) search { return search{text, foldName(text)} }

// The quality of a match with a text, best first.
const (
	isID = iota
	begins
	contains
	unlike
)

// match is a condition in SQL for the text ?2 and its folded form ?3. An empty index stands for the
// table itself.
type match struct{ index, condition string }

// matches returns the conditions for a match with the text, by quality. The indexes are small: they
// contain little besides the names.
func (s search) matches() [][]match {
	if s.text == "" {
		return [][]match{{{"", "TRUE"}}}
	}
	const login, name = "person_login", "person_name"
	matches := [][]match{isID: {{"", "user_id = ?2"}}, begins: {}, contains: {}}
	if isASCII(s.text) {
		matches[begins] = append(matches[begins], match{login, "login >= ?2 COLLATE NOCASE AND login < (?2 || char(0x10FFFF)) COLLATE NOCASE"})
		matches[contains] = append(matches[contains], match{login, "instr(lower(login), lower(?2)) > 0"})
	}
	if s.key != "" {
		matches[begins] = append(matches[begins], match{name, "name_key <> '' AND name_key >= ?3 AND name_key < ?3 || char(0x10FFFF)"})
		matches[contains] = append(matches[contains], match{name, "name_key <> '' AND instr(name_key, ?3) > 0"})
	}
	return matches
}

// fewMatches is the largest number of matches that are all read, to find those who spoke last.
const fewMatches = 5000

// matchingPeople returns up to n matching users, those who spoke last. If few users match, the
// match's index finds them. If many match, it is faster to test the users in the order in which
// they spoke last.
func matchingPeople(ctx context.Context, db *sqlite.DB, channelID string, wanted search, m match, n int) ([]journal.Person, error) {
	const byTime = " ORDER BY last_seen DESC LIMIT ?4"
	if m.index == "" {
		return queryPeople(ctx, db, "SELECT "+shownPerson+" FROM person WHERE channel_id = ?1 AND "+m.condition+byTime, channelID, wanted.text, wanted.key, n)
	}
	ids, err := matchingIDs(ctx, db, channelID, wanted, m)
	if err != nil {
		return nil, err
	}
	if len(ids) > fewMatches {
		return queryPeople(ctx, db, "SELECT "+shownPerson+" FROM person INDEXED BY person_last_seen WHERE channel_id = ?1 AND "+m.condition+byTime,
			channelID, wanted.text, wanted.key, n)
	}
	people, err := rolledUpPeople(ctx, db, channelID, anyOf, jsonOf(ids))
	slices.SortFunc(people, func(a, b journal.Person) int { return b.LastSeen.Compare(a.LastSeen) })
	return people[:min(n, len(people))], err
}

// matchingIDs returns the IDs of matching users, and stops after more than fewMatches.
func matchingIDs(ctx context.Context, db *sqlite.DB, channelID string, wanted search, m match) (ids []string, err error) {
	err = db.Query(ctx, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT user_id FROM person INDEXED BY "+m.index+" WHERE channel_id = ?1 AND "+m.condition+" LIMIT ?4", channelID, wanted.text, wanted.key, fewMatches+1)
	return ids, err
}

// countLike returns how many of the people match the text with the quality like or better.
func (s search) countLike(people []journal.Person, like int) (n int) {
	for _, p := range people {
		if s.quality(p) <= like {
			n++
		}
	}
	return n
}

// sort sorts people: the best match first, then those who spoke last.
func (s search) sort(people []journal.Person) {
	slices.SortFunc(people, func(a, b journal.Person) int {
		return cmp.Or(cmp.Compare(s.quality(a), s.quality(b)), b.LastSeen.Compare(a.LastSeen), strings.Compare(a.UserID, b.UserID))
	})
}

func (s search) quality(p journal.Person) int {
	if p.UserID == s.text {
		return isID
	}
	login, name := -1, -1
	if isASCII(s.text) { // the folded names contain the other logins
		login = strings.Index(strings.ToLower(p.Login), strings.ToLower(s.text))
	}
	if s.key != "" {
		name = strings.Index(nameKey(p.Login, p.DisplayName), s.key)
	}
	switch {
	case login == 0 || name == 0:
		return begins
	case login > 0 || name > 0:
		return contains
	}
	return unlike
}

// UserByLogin returns the ID of the user who has a login, as far as the channel's messages tell:
// the user spoke last under it, and under no other login since. The platform may have given a login
// that its user doesn't have any more to somebody else. The login must be spelled as on the
// platform. ok is false if there is no such user.
func (s *Store) UserByLogin(ctx context.Context, channelID, login string) (userID string, ok bool, err error) {
	if userID, ok, err = s.lastUserAs(ctx, channelID, login); err != nil || !ok {
		return "", false, err
	}
	newest, err := s.newestLogin(ctx, channelID, userID)
	if err != nil || newest != login {
		return "", false, err
	}
	return userID, true, nil
}

// newestLogin returns the login under which a user was last seen: in a channel, or in another one
// as far as messages are rolled up.
func (s *Store) newestLogin(ctx context.Context, channelID, userID string) (login string, err error) {
	here, ok, err := s.Person(ctx, channelID, userID)
	if err != nil {
		return "", err
	}
	if !ok {
		err = s.db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&here.Login, statement.Time(&here.LastSeen)) }, `SELECT login, at FROM journal
			WHERE id = (SELECT max(id) FROM journal INDEXED BY journal_user WHERE channel_id = ? AND user_id = ?)`, channelID, userID)
		if err != nil {
			return "", err
		}
	}
	elsewhere, err := queryPeople(ctx, s.db, `SELECT user_id, person.login, display_name, roles, last_seen
		FROM channel CROSS JOIN person ON channel_id = channel.id AND user_id = ?1 ORDER BY last_seen DESC LIMIT 1`, userID)
	if len(elsewhere) > 0 && elsewhere[0].LastSeen.After(here.LastSeen) {
		return elsewhere[0].Login, err
	}
	return here.Login, err
}

// lastUserAs returns the ID of the user who was the last to speak in the channel under a login, and
// who may have another one by now. It searches the names that users had when last seen, messages
// that are not rolled up or written yet, and the whole journal.
func (s *Store) lastUserAs(ctx context.Context, channelID, login string) (userID string, ok bool, err error) {
	if userID, ok = s.queue.userByLogin(channelID, login); ok {
		return userID, true, nil
	}
	err = s.db.Query(ctx, func(rows *sql.Rows) error {
		ok = true
		return rows.Scan(&userID)
	}, `SELECT user_id FROM (
			SELECT user_id, at FROM `+notRolledUp+` AND login = ?2
			UNION ALL
			SELECT user_id, last_seen FROM person WHERE channel_id = ?1 AND login = ?2 COLLATE NOCASE AND login = ?2
			UNION ALL
			SELECT user_id, at FROM journal WHERE id = (SELECT max(id) FROM journal INDEXED BY journal_user WHERE channel_id = ?1 AND login = ?2))
		ORDER BY at DESC LIMIT 1`, channelID, login)
	return userID, ok && err == nil, err
}

// UsersNamed returns the users of a channel who had a display name when last seen. It ignores the
// same differences between names as a search.
func (s *Store) UsersNamed(ctx context.Context, channelID, displayName string) ([]journal.Person, error) {
	key := foldName(displayName)
	if key == "" {
		return nil, nil
	}
	known, err := s.recentPeople(ctx, channelID, func(*timelineRow) bool { return true }, "")
	if err != nil {
		return nil, err
	}
	stored, err := queryPeople(ctx, s.db, "SELECT "+shownPerson+` FROM person INDEXED BY person_name
		WHERE channel_id = ?1 AND name_key <> '' AND name_key >= ?2 AND name_key < ?2 || char(11) LIMIT ?3`, channelID, key, mostNamesakes)
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
