package persist

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

var (
	// NamesFromJournal is the statement that gives people without a display name the name in their
	// last journal entry, if the login is still the same. Migration 7 does the same.
	NamesFromJournal = `UPDATE person SET display_name = coalesce((
		SELECT CASE WHEN display_name = person.login THEN '' ELSE display_name END FROM journal WHERE login = person.login AND id = (
			SELECT max(id) FROM ` + journalByUser + ` WHERE channel_id = person.channel_id AND user_id = person.user_id)), '')`
	// NameKeys is the statement that makes people searchable by their names, after rows without
	// name_key were added.
	NameKeys = "UPDATE person SET name_key = chatguard_name_key(login, display_name)"
)

// init makes nameKey available in SQL. The schema doesn't use it, so that other programs can open
// the database.
func init() { sqlite.RegisterFunction("chatguard_name_key", nameKey) }

// nameKey returns the names under which a search finds a user in addition to the login, folded and
// one per line. Most users have none: their display name differs from the login only by case.
func nameKey(login, displayName string) string {
	var keys []string
	for _, name := range []string{displayName, login} {
		if name == "" || isASCII(name) && strings.EqualFold(name, login) {
			continue
		}
		if key := foldName(name); key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, "\n")
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// foldName returns a name without the differences that a search ignores: case, accents, width, and
// invisible characters. It applies Unicode's compatibility decomposition (NFKD).
func foldName(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if '\u0300' <= r && r <= '\u036f' || hostile.ShowsNothing(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name)))
}
