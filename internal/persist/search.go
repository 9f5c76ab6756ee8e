package persist

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// search is the text of a search for people, and its folded form.
type search struct{ text, key string }

func searchFor(text string) search { return search{text, foldName(text)} }

// The quality of a match with a text, best first.
const (
	isID = iota
	begins
	contains
	unlike
)

// match is a condition in SQL for the text $2 and its folded form $3. An empty index stands for the
// table itself.
type match struct{ index, condition string }

// matches returns the conditions for a match with the text, by quality. The indexes are small: they
// contain little besides the names.
func (s search) matches() [][]match {
	if s.text == "" {
		return [][]match{{{"", "TRUE"}}}
	}
	const login, name = "person_login", "person_name"
	matches := [][]match{isID: {{"", "user_id = $2"}}, begins: {}, contains: {}}
	if isASCII(s.text) {
		matches[begins] = append(matches[begins], match{login, "login >= $2 COLLATE NOCASE AND login < ($2 || char(0x10FFFF)) COLLATE NOCASE"})
		matches[contains] = append(matches[contains], match{login, "instr(lower(login), lower($2)) > 0"})
	}
	if s.key != "" {
		matches[begins] = append(matches[begins], match{name, "name_key <> '' AND name_key >= $3 AND name_key < $3 || char(0x10FFFF)"})
		matches[contains] = append(matches[contains], match{name, "name_key <> '' AND instr(name_key, $3) > 0"})
	}
	return matches
}

// fewMatches is the number of matches up to which all are read to find the users who spoke last.
const fewMatches = 5000

// matchingPeople returns up to n matching users, those who spoke last. If few users match, the
// match's index finds them. If many match, it is faster to test the users in the order in which
// they spoke last.
func matchingPeople(ctx context.Context, db database, channelID string, wanted search, m match, n int) ([]journal.Person, error) {
	const byTime = " ORDER BY last_seen DESC LIMIT $4"
	if m.index == "" {
		return queryPeople(ctx, db, "SELECT "+shownPerson+" FROM person WHERE channel_id = $1 AND "+m.condition+byTime, channelID, wanted.text, wanted.key, n)
	}
	ids, err := statement.Texts(ctx, db.Query, "SELECT user_id FROM person"+sqlite.IndexedBy(m.index)+" WHERE channel_id = $1 AND "+m.condition+" LIMIT $4",
		channelID, wanted.text, wanted.key, fewMatches+1)
	if err != nil {
		return nil, err
	}
	if len(ids) > fewMatches {
		return queryPeople(ctx, db, "SELECT "+shownPerson+" FROM "+personByLastSeen+" WHERE channel_id = $1 AND "+m.condition+byTime,
			channelID, wanted.text, wanted.key, n)
	}
	people, err := rolledUpPeople(ctx, db, channelID, anyOf, jsonOf(ids))
	slices.SortFunc(people, func(a, b journal.Person) int { return b.LastSeen.Compare(a.LastSeen) })
	return people[:min(n, len(people))], err
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
