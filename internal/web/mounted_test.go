package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/journal"
)

// mounted makes a dashboard part of a site whose people say in a header who they are.
func mounted(o *Options) {
	o.Authorize = func(r *http.Request) (who journal.Holder, ok bool) {
		name := r.Header.Get("Who")
		return journal.Holder{Name: name, Access: journal.AccessView}, name != ""
	}
}

func TestAnotherSiteSaysWhoComesIn(t *testing.T) {
	d := dash(t, mounted)
	anna := header("Who", "anna")
	for _, test := range []struct {
		method, path string
		as           func(*http.Request)
		status       int
		says         string
	}{
		{"GET", "/api/v1/status", anna, 200, `"name":"anna"`},
		{"GET", "/api/v1/session", anna, 200, `"mounted":true`},
		{"GET", "/api/v1/status", host("anything.example"), 401, `"mounted":true`}, // the site knows its names
		{"GET", "/api/v1/status", asOwner, 401, "Sign in to the site that this dashboard is part of"},
		{"POST", "/api/v1/channels/7/pause", anna, 403, "anna may only view here, and this needs somebody who may moderate."},
		{"POST", "/api/v1/session", anna, 404, "There are no sessions here"},
		{"DELETE", "/api/v1/session", anna, 404, "There are no sessions here"},
		{"POST", "/api/v1/check", anna, 404, "There is nothing here."}, // the site judges by itself
		{"POST", "/api/v1/check/batch", anna, 404, ""},
		{"GET", "/metrics", asOwner, 401, ""}, // from this machine, where a proxy of the site may be
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
