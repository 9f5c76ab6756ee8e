package httpguard

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chatguard/chatguard"
)

// BenchmarkHeaders sets the rate-limit headers of a verdict.
func BenchmarkHeaders(b *testing.B) {
	g, h := newEnforcingGuard(b, nil, nil), http.Header{}
	v := mustCheck(b, g, messageFrom("48215771", 0))
	b.ReportAllocs()
	for b.Loop() {
		SetHeaders(h, g, v)
	}
}

// BenchmarkLimit judges requests of one client, nearly all of which are throttled, and answers them.
func BenchmarkLimit(b *testing.B) {
	byKey := ByKey("X-API-Key", func(string) (chatguard.User, bool) { return chatguard.User{ID: "48215771"}, true })
	handler := mustLimit(b, newEnforcingGuard(b, nil, nil), byKey, nil)(http.NotFoundHandler())
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-API-Key", "secret")
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		w.Body.Reset()
		handler.ServeHTTP(w, r)
	}
}
