package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
)

func request(method, target string) *http.Request { return httptest.NewRequest(method, target, nil) }

func TestFilesAreValidated(t *testing.T) {
	d := dash(t)
	for _, encoding := range []string{"identity", "gzip"} {
		first := d.do("GET", "/", nil, header("Accept-Encoding", encoding))
		tag := first.Header.Get("ETag")
		if first.StatusCode != http.StatusOK || tag == "" || first.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %s, ETag %s, Cache-Control %s", encoding, first.Status, tag, first.Header.Get("Cache-Control"))
		}
		again := d.do("GET", "/", nil, header("Accept-Encoding", encoding), header("If-None-Match", tag))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: again: %s", encoding, again.Status)
		}
	}
}

func TestEveryAnswerSaysWhatAPageMayDo(t *testing.T) {
	d := dash(t)
	want := map[string]string{
		"Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
		"X-Content-Type-Options":  "nosniff",
		"Referrer-Policy":         "no-referrer",
	}
	for _, p := range []string{"/", "/app.css", "/nothing", "/api/v1/status"} {
		a := d.do("GET", p, nil)
		for name, value := range want {
			if got := a.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q", p, name, got)
			}
		}
	}
}

func TestTheFirstPageIsSmallAndLoadsAtOnce(t *testing.T) {
	all, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	index, size, modules := all["index.html"].plain, 0, 0
	for name, f := range all {
		size += len(f.gzipped)
		if path.Ext(name) != ".js" || name == "app/main.js" {
			continue
		}
		modules++
		if !bytes.Contains(index, []byte(`<link rel="modulepreload" href="`+name+`">`)) {
			t.Errorf("index.html doesn't preload %s", name)
		}
	}
	if preloads := strings.Count(string(index), "modulepreload"); preloads != modules {
		t.Errorf("%d preloads for %d modules", preloads, modules)
	}
	t.Logf("%d bytes gzip in all", size)
	if size > 155_000 {
		t.Errorf("the dashboard has %d bytes gzip", size)
	}
}
