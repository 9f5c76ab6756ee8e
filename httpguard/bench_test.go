package httpguard

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
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

// BenchmarkLimit judges requests of one client, nearly all of which are throttled, and answers
// them.
func BenchmarkLimit(b *testing.B) {
	byKey := ByKey("X-API-Key", func(string) (chatguard.User, bool) { return chatguard.User{ID: "48215771"}, true })
	handler := mustLimit(b, newEnforcingGuard(b, nil, nil), byKey, nil)(http.NotFoundHandler())
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-API-Key", "secret")
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		w.Body.Reset()
		clear(w.Header())
		handler.ServeHTTP(w, r)
	}
}

// BenchmarkSessions admits connections of one user, calls a handler that does nothing, and releases
// them.
func BenchmarkSessions(b *testing.B) {
	identify := func(*http.Request) (chatguard.User, error) { return chatguard.User{ID: "48215771"}, nil }
	many := chatguard.TokenBucketLimit("connects", 1<<20, time.Millisecond)
	for _, addr := range []string{"192.0.2.7:51034", "[2001:db8:1:2::7]:51034"} {
		b.Run(addr, func(b *testing.B) {
			door := mustDoor(b, newEnforcingGuard(b, nil, nil), connguard.Options{Connects: many, ConnectsPerAddress: many})
			in, err := Sessions(door, identify, nil)
			if err != nil {
				b.Fatal(err)
			}
			handler := in(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = addr
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(w, r)
			}
		})
	}
}
