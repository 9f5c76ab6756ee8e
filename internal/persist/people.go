package persist

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// FindPeople returns up to n users of a channel, including those of pending messages. The user
// whose ID is the text comes first. Then come users whose login begins with the text, ignoring
// case, and then those whose login contains it. Within each group, the users who spoke last come
// first. An empty text finds the users who spoke last.
func (s *Store) FindPeople(ctx context.Context, channelID, text string, n int) ([]journal.Person, error) {
	known, err := s.recentPeople(ctx, channelID, func(*timelineRow) bool { return true }, "")
	if err != nil {
		return nil, err
	}
	found := []journal.Person{}
	for _, p := range known {
		if quality(p, text) != unlike {
			found = append(found, p)
		}
	}
	most := n + len(known) // all known users may come before the others
	for like, condition := range matchConditions(text) {
		stored, err := s.db.queryPeople(ctx, "SELECT user_id, login, roles, last_seen FROM person WHERE channel_id = ?1 AND "+condition+
			" ORDER BY last_seen DESC LIMIT ?3", channelID, text, most)
		if err != nil {
			return nil, err
		}
		for _, p := range stored {
			if _, ok := known[p.UserID]; !ok {
				known[p.UserID] = p
				found = append(found, p)
			}
		}
		if countLike(found, text, like) >= n {
			break // all further matches are worse
		}
	}
	slices.SortFunc(found, func(a, b journal.Person) int {
		return cmp.Or(cmp.Compare(quality(a, text), quality(b, text)), b.LastSeen.Compare(a.LastSeen), strings.Compare(a.UserID, b.UserID))
	})
	return found[:min(n, len(found))], nil
}

// matchConditions returns the SQL conditions for a match with the text ?2, from the best match to
// the worst.
func matchConditions(text string) []string {
	if text == "" {
		return []string{"?2 = ''"}
	}
	return []string{
		"user_id = ?2",
		"login >= ?2 COLLATE NOCASE AND login < (?2 || char(0x10FFFF)) COLLATE NOCASE",
		// This index is small: it contains little besides the logins.
		"user_id IN (SELECT user_id FROM person INDEXED BY person_login WHERE channel_id = ?1 AND instr(lower(login), lower(?2)) > 0)",
	}
}

// The quality of a match with a text, best first.
const (
	isID = iota
	begins
	contains
	unlike
)

// countLike returns how many of the people match the text with the quality like or better.
func countLike(people []journal.Person, text string, like int) (n int) {
	for _, p := range people {
		if quality(p, text) <= like {
			n++
		}
	}
	return n
}

func quality(p journal.Person, text string) int {
	if p.UserID == text {
		return isID
	}
	switch strings.Index(strings.ToLower(p.Login), strings.ToLower(text)) {
	case -1:
		return unlike
	case 0:
		return begins
	}
	return contains
}

// UserByLogin returns the ID of the user who has spoken in the channel under a login. The login
// must be spelled as on the platform. ok is false if there is no such user. If there are several,
// it returns the one who spoke last. It searches the names that users had when last seen, messages
// that are not rolled up or written yet, and the whole journal.
func (s *Store) UserByLogin(ctx context.Context, channelID, login string) (userID string, ok bool, err error) {
	if userID, ok = s.queue.userByLogin(channelID, login); ok {
		return userID, true, nil
	}
	err = s.db.reader.QueryRowContext(ctx, `
		SELECT user_id FROM (
			SELECT user_id, at FROM `+notRolledUp+` AND login = ?2
			UNION ALL
			SELECT user_id, last_seen FROM person WHERE channel_id = ?1 AND login = ?2 COLLATE NOCASE AND login = ?2
			UNION ALL
			SELECT user_id, at FROM journal WHERE id = (SELECT max(id) FROM journal INDEXED BY journal_user WHERE channel_id = ?1 AND login = ?2))
		ORDER BY at DESC LIMIT 1`, channelID, login).Scan(&userID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return userID, err == nil, Explain(s.db.path, err)
}
