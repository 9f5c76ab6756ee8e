package persist

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// FindPeople returns up to n users of a channel, what waits to be written among it: the one whose ID is the text, then those whose login begins with
// it, in capitals or not, and then those whose login contains it; of them first who spoke last. An empty text finds those who spoke last.
func (s *Store) FindPeople(ctx context.Context, channelID, text string, n int) ([]journal.Person, error) {
	known, err := s.recentPeople(ctx, channelID, func(*timelineRow) bool { return true }, "")
	if err != nil {
		return nil, err
	}
	found := []journal.Person{}
	for _, p := range known {
		if likeness(p, text) != unlike {
			found = append(found, p)
		}
	}
	most := n + len(known) // because those who are known may be the first
	for like, condition := range findings(text) {
		stored, err := s.queryPeople(ctx, "SELECT user_id, login, roles, last_seen FROM person WHERE channel_id = ?1 AND "+condition+
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
			break // those whom the next would find are less like the text
		}
	}
	slices.SortFunc(found, func(a, b journal.Person) int {
		return cmp.Or(cmp.Compare(likeness(a, text), likeness(b, text)), b.LastSeen.Compare(a.LastSeen), strings.Compare(a.UserID, b.UserID))
	})
	return found[:min(n, len(found))], nil
}

// findings are the conditions under which people are found, by how like the text ?2 they are.
func findings(text string) []string {
	if text == "" {
		return []string{"?2 = ''"}
	}
	return []string{
		"user_id = ?2",
		"login >= ?2 COLLATE NOCASE AND login < (?2 || char(0x10FFFF)) COLLATE NOCASE",
		// The index holds all logins and little else.
		"user_id IN (SELECT user_id FROM person INDEXED BY person_login WHERE channel_id = ?1 AND instr(lower(login), lower(?2)) > 0)",
	}
}

// How like a text people are, the most first.
const (
	isID = iota
	begins
	contains
	unlike
)

// countLike is how many of the people are as like the text, or more.
func countLike(people []journal.Person, text string, like int) (n int) {
	for _, p := range people {
		if likeness(p, text) <= like {
			n++
		}
	}
	return n
}

func likeness(p journal.Person, text string) int {
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
