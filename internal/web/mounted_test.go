//go:build !race

package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestMountedDashboard_SiteAuthorizes(t *testing.T) {
	d := dash(t, mountInSite)
	anna := setHeader("Who", "anna")
	for _, test := range []struct {
		method, path string
		as           func(*http.Request)
		status       int
		says         string
	}{
		{"GET", "/api/v1/status", anna, 200, `"name":"anna"`},
		{"GET", "/api/v1/session", anna, 200, `"mounted":true`},
		// the site checks its own host names
		{"GET", "/api/v1/status", setHost("anything.example"), 401, `"mounted":true`},
		{"GET", "/api/v1/status", asOwner, 401, "Sign in to the surrounding site"},
		{"POST", "/api/v1/channels/7/pause", anna, 403, "anna has view access; this needs moderate access."},
		{"POST", "/api/v1/session", anna, 404, "There are no sessions here"},
		{"DELETE", "/api/v1/session", anna, 404, "There are no sessions here"},
		// the site judges its own messages
		{"POST", "/api/v1/check", anna, 404, "There is nothing here."},
		{"POST", "/api/v1/check/batch", anna, 404, ""},
		{"GET", "/metrics", asOwner, 401, ""}, // from this machine, as a proxy of the site
		{"GET", "/metrics", anna, 200, "chatguard_live_feeds 0"},
		{"GET", "/healthz", asOwner, 200, ""},
		{"GET", "/readyz", asOwner, 401, ""},
		{"GET", "/readyz", anna, 200, `"ok"`},
		{"GET", "/api/v1/readyz", asOwner, 401, ""},
	} {
		a := d.do(test.method, test.path, nil, test.as)
		if a.StatusCode != test.status || !strings.Contains(string(a.body), test.says) {
			t.Errorf("%s %s: %s %s, want %d %s", test.method, test.path, a.Status, a.body, test.status, test.says)
		}
	}
}
