package httpguard

import (
	"net/http"
	"testing"
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
