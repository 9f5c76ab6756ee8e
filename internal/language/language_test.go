package language

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	for _, test := range []struct{ cookie, accept, want string }{
		{"", "", "en"},
		{"", "en-US,en;q=0.9", "en"},
		{"", "fr", "en"},
		{"", "\x00;;q=,", "en"},
		{"de", "en", "de"},
		{"tlh", "de", "de"},
		{"", "fr, de-AT;q=0.8, en;q=0.5", "de"},
		{"", "es-MX", "es"},
		{"", "pt-BR", "pt-BR"},
		{"", "pt", "pt-BR"},
		{"", "ja-JP", "ja"},
	} {
		if !slices.Contains(All, test.want) {
			continue
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Language", test.accept)
		if test.cookie != "" {
			r.AddCookie(&http.Cookie{Name: Cookie, Value: test.cookie})
		}
		if got := Of(r); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
