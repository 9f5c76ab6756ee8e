//go:build !race

package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/language"
)

// browse sends a request as a browser does for an address that somebody typed.
func browse(t *testing.T, address, language string) (a *http.Response, body string) {
	t.Helper()
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Accept-Language", language)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if a, err = client.Do(r); err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	content, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(content)
}

// startLabSite serves only the Lab.
func startLabSite(t *testing.T) (address string) {
	t.Helper()
	site, _ := labSite(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "127.0.0.1:8080"
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestMissing_PageForPeople checks that everything that the page names is there, wherever the
// dashboard is mounted.
func TestMissing_PageForPeople(t *testing.T) {
	_, proxy := runBehindProxy(t, httptest.NewServer)
	for _, root := range []string{"http://" + dash(t).address + "/", proxy.URL + "/chat/guard/", startLabSite(t) + "/"} {
		for _, path := range []string{"foo", "foo/", "foo/bar/baz", "foo/b%2Fr", "missing.html", "missing.html/", "api/v2", "lab/foo", "lab%2F"} {
			a, body := browse(t, root+path, "de")
			if a.StatusCode != http.StatusNotFound || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(body, "Unter dieser Adresse gibt es keine Seite.") {
				t.Errorf("%s%s: %s %v\n%s", root, path, a.Status, a.Header, body)
			}
			links := false
			for _, found := range named.FindAllStringSubmatch(body, -1) {
				to, err := a.Request.URL.Parse(found[1])
				if err != nil {
					t.Fatal(err)
				}
				links = links || to.String() == root
				if there, _ := browse(t, to.String(), "de"); there.StatusCode != http.StatusOK {
					t.Errorf("%s%s names %s: %s", root, path, to, there.Status)
				}
			}
			if !links {
				t.Errorf("%s%s: no link to the start page in\n%s", root, path, body)
			}
		}
	}
}

func TestMissing_InEachLanguage(t *testing.T) {
	d := dash(t)
	pages := map[string]bool{}
	for _, tag := range language.All {
		_, body := browse(t, "http://"+d.address+"/foo", tag)
		if !strings.Contains(body, `<html lang="`+tag+`">`) || strings.Contains(body, "{") {
			t.Errorf("%s: %s", tag, body)
		}
		pages[body] = true
	}
	if len(pages) != len(language.All) {
		t.Errorf("%d different pages for %d languages", len(pages), len(language.All))
	}
}

func TestMissing_ProblemForPrograms(t *testing.T) {
	d := dash(t)
	for _, accept := range []string{"", "*/*", "application/json"} {
		d.wantProblem(accept, "GET", "/foo", nil, []func(*http.Request){setHeader("Accept", accept)}, http.StatusNotFound, "There is nothing here.")
	}
}

// A slash too many at the end leads to the page, with the query.
func TestMissing_SlashAtEnd(t *testing.T) {
	viewing := func(o *Options) { o.ViewerPage = true }
	_, proxy := runBehindProxy(t, httptest.NewServer)
	for root, paths := range map[string][]string{
		"http://" + dash(t, viewing).address + "/": {"lab/", "lab/?at=end&seed=a%2Fb", "lab.html/", "overlay/", "viewer/"},
		proxy.URL + "/chat/guard/":                 {"lab/", "overlay/?limit=3"},
		startLabSite(t) + "/":                      {"lab/"},
	} {
		for _, path := range paths {
			a, _ := browse(t, root+path, "en")
			if want := root + strings.Replace(path, "/", "", 1); a.StatusCode != http.StatusOK || a.Request.URL.String() != want {
				t.Errorf("%s%s: %s %s, want %s", root, path, a.Status, a.Request.URL, want)
			}
		}
	}
}
