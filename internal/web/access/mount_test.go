package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestStripMount checks which path is served, for proxies that remove the mount path and for those
// that leave it.
func TestStripMount(t *testing.T) {
	for _, test := range []struct{ public, path, want string }{
		{"https://chat.example.org", "/app.css", "/app.css"},
		{"https://chat.example.org", "/guard/app.css", "/guard/app.css"},
		{"https://chat.example.org/guard/", "/app.css", "/app.css"},
		{"https://chat.example.org/guard/", "/guard/app.css", "/app.css"},
		{"https://chat.example.org/guard", "/guard/", "/"},
		{"https://chat.example.org/guard", "/guard", "to /guard/"},
		{"https://chat.example.org/guard", "/guard?lang=de", "to /guard/?lang=de"},
		{"https://chat.example.org/guard/", "/guardian", "/guardian"},
		{"https://chat.example.org/guard/", "/Guard/", "/Guard/"},
		// only once
		{"https://chat.example.org/guard/", "/guard/guard/", "/guard/"},
		// a proxy that replaces /guard by /
		{"https://chat.example.org/guard/", "//app.css", "/app.css"},
		{"https://chat.example.org/guard/", "//", "/"},
		{"https://chat.example.org/two/parts/", "/two/parts/app.css", "/app.css"},
		{"https://chat.example.org/two/parts/", "/two", "/two"},
		{"https://chat.example.org/a%20b/", "/a%20b/x%2Fy", "/x%2Fy"},
		{"https://chat.example.org/guard/", "/guard/users/x%2Fy", "/users/x%2Fy"},
		// the server serves a page of this name itself
		{"https://chat.example.org/lab/", "/lab", "/lab"},
		{"https://chat.example.org/lab/", "/lab/app.css", "/lab/app.css"},
	} {
		site := Site{PublicURL: parseURL(test.public)}
		served := site.StripMount(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.URL.EscapedPath())
		}), func(name string) bool { return name == "lab" })
		w := httptest.NewRecorder()
		served.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1"+test.path, nil))
		got := w.Body.String()
		if to := w.Header().Get("Location"); to != "" {
			got = "to " + to
		}
		if got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.path, test.public, got, test.want)
		}
	}
}
