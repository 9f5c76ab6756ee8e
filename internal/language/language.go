// Package language knows the languages of the dashboard's texts, and which one the sender of a
// request reads.
package language

import (
	"net/http"
	"slices"

	"golang.org/x/text/language"
)

// Cookie is the name of the cookie with the language that a person has chosen.
const Cookie = "chatguard-language"

// All are the languages, as BCP 47 tags. The first is the default.
var All = []string{"en", "de", "es", "pt-BR", "ja"}

var matcher = language.NewMatcher(tags())

func tags() (list []language.Tag) {
	for _, tag := range All {
		list = append(list, language.MustParse(tag))
	}
	return list
}

// Of returns the language for the answer to a request: the one that the address names, the one that
// the person has chosen, or the browser's best. It is one of All.
func Of(r *http.Request) string {
	if named := r.URL.Query().Get("language"); slices.Contains(All, named) {
		return named
	}
	if chosen, err := r.Cookie(Cookie); err == nil && slices.Contains(All, chosen.Value) {
		return chosen.Value
	}
	// What can't be parsed leaves the default.
	wanted, _, _ := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	_, i, _ := matcher.Match(wanted...)
	return All[i]
}
