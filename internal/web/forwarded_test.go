//go:build !race

package web

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// TestUntrustedProxy_LoggedOnce checks that an untrusted proxy, behind which all clients count as
// one address, is logged once.
func TestUntrustedProxy_LoggedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		trusted []netip.Prefix
		headers []func(*http.Request)
		times   int
	}{
		"a proxy that isn't trusted": {nil, []func(*http.Request){setHeader("X-Forwarded-For", "192.0.2.1")}, 1},
		"one that is":                {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, []func(*http.Request){setHeader("X-Forwarded-For", "192.0.2.1")}, 0},
		"no proxy":                   {nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			d := dash(t, func(o *Options) {
				o.Access.Site.TrustedProxies, o.Access.Log = c.trusted, slog.New(slog.NewTextHandler(&log, nil))
			})
			for range 3 {
				d.do("GET", "/healthz", nil, c.headers...)
			}
			d.stop()
			if got := strings.Count(log.String(), "that isn't trusted"); got != c.times {
				t.Errorf("%d times, want %d\n%s", got, c.times, log.String())
			}
		})
	}
}
