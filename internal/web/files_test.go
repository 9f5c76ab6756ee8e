//go:build !race

package web

import (
	"encoding/json"
	"html"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/web/static"
)

func TestFiles_Revalidated(t *testing.T) {
	d := dash(t)
	for path, kind := range map[string]string{"/": "text/html; charset=utf-8", "/text/en/now.json": "application/json"} {
		for _, encoding := range []string{"identity", "gzip"} {
			first := d.do("GET", path, nil, setHeader("Accept-Encoding", encoding))
			header, tag := first.Header, first.Header.Get("ETag")
			if first.StatusCode != http.StatusOK || tag == "" || header.Get("Cache-Control") != "no-cache" || header.Get("Content-Type") != kind {
				t.Errorf("%s, %s: %s, %v", path, encoding, first.Status, header)
			}
			again := d.do("GET", path, nil, setHeader("Accept-Encoding", encoding), setHeader("If-None-Match", tag))
			if again.StatusCode != http.StatusNotModified {
				t.Errorf("%s, %s: again: %s", path, encoding, again.Status)
			}
		}
	}
}

func TestFiles_NotServed(t *testing.T) {
	d := dash(t)
	for _, path := range []string{"/openapi.json", "/text/en/chat.json", "/text/en/document.json", "/text/de/server.json", "/text/fr/now.json", "/vendor/LICENSE-htm", "/static.go"} {
		if a := d.do("GET", path, nil); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
}

func TestFiles_SecurityHeaders(t *testing.T) {
	d := dash(t)
	files, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Content-Security-Policy":      "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Strict-Transport-Security":    "", // over plain HTTP
	}
	for _, p := range []string{"/lab", "/app.css", "/nothing", "/api/v1/status", "/"} {
		if p == "/" { // the only page with an inline script
			want["Content-Security-Policy"] += "; script-src 'self'" + files["index.html"].scripts
		}
		a := d.do("GET", p, nil)
		for name, value := range want {
			if got := a.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q", p, name, got)
			}
		}
	}
}

func TestStrictTransportSecurity(t *testing.T) {
	const kept = "max-age=15552000"
	for _, test := range []struct {
		public, host string
		mounted      bool
		want         string
	}{
		{"", "127.0.0.1", false, ""},
		{"https://chat.example.org", "chat.example.org", false, kept},
		{"https://chat.example.org/", "chat.example.org:443", false, kept},
		// plain HTTP, on this machine
		{"https://chat.example.org", "127.0.0.1", false, ""},
		// other services share this host name
		{"https://chat.example.org/guard/", "chat.example.org", false, ""},
		// another service there may have no TLS
		{"https://localhost", "localhost", false, ""},
		// browsers ignore it for IP addresses
		{"https://192.0.2.7", "192.0.2.7", false, ""},
		{"http://chat.example.org", "chat.example.org", false, ""}, // insecure = true
		{"https://chat.example.org", "chat.example.org", true, ""}, // the site decides
	} {
		d := dash(t, func(o *Options) {
			if test.public != "" {
				o.Access.Site.PublicURL = parseURL(test.public)
			}
			if test.mounted {
				mountInSite(o)
			}
		})
		a := d.do("GET", "/", nil, setHost(test.host))
		if got := a.Header.Get("Strict-Transport-Security"); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// A document is loaded with what it names: style sheets, scripts, preloaded modules and the icon.
func TestFiles_DocumentsAreSmall(t *testing.T) {
	all, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	for document, most := range map[string]int{indexFile: 150_000, labFile: 105_000, overlayFile: 15_000, viewerFile: 30_000} {
		for tag, translation := range all[document].translations {
			needed := map[string]bool{}
			for _, found := range named.FindAllSubmatch(translation().plain, -1) {
				needed[string(found[1])] = true
			}
			size := len(translation().gzipped())
			for name := range needed {
				f, ok := all[name]
				if !ok {
					t.Errorf("%s in %s names %s, which doesn't exist", document, tag, name)
				}
				size += len(f.content().gzipped())
			}
			t.Logf("%s in %s: %d bytes gzip in %d files", document, tag, size, len(needed)+1)
			if size > most {
				t.Errorf("%s in %s has %d bytes gzip, want %d at most", document, tag, size, most)
			}
		}
	}
}

// A library keeps its copyright notice, and loses its other comments.
func TestFiles_NoticesOfLibraries(t *testing.T) {
	all, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	served := string(all["vendor/uplot.js"].content().plain)
	if !strings.HasPrefix(served, "/**\n* Copyright (c) 2025, Leon Sorokin") || strings.Contains(served, "\n//") {
		t.Errorf("served is %.300s", served)
	}
}

// Each document has its texts in each language, and no other texts are translated.
func TestFiles_TextsOfDocuments(t *testing.T) {
	all, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range language.All {
		content, err := fs.ReadFile(static.Files, "text/"+tag+"/document.json")
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := json.Unmarshal(content, &texts); err != nil {
			t.Fatal(tag, err)
		}
		var documents strings.Builder
		for name, f := range all {
			if f.translations != nil && name != "" {
				documents.Write(f.translations[tag]().plain)
			}
		}
		for name, text := range texts {
			if !strings.Contains(documents.String(), ">"+html.EscapeString(text)+"<") {
				t.Errorf("%s: no document contains %s, %q", tag, name, text)
			}
		}
		if strings.Contains(documents.String(), ">{") || strings.Count(documents.String(), `<html lang="`+tag+`">`) == 0 {
			t.Errorf("%s: a text or the language is missing in %s", tag, &documents)
		}
	}
	const noscript = "<noscript>JavaScript is off. Turn it on in your browser to use the Lab.</noscript>"
	if lab := string(all[labFile].translations["en"]().plain); !strings.Contains(lab, noscript) || !strings.Contains(lab, "<title>Lab – chatguard</title>") {
		t.Error(lab)
	}
}

func TestFiles_PreloadsOfFirstPage(t *testing.T) {
	all, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	index := string(all["index.html"].translations["en"]().plain)
	for name, isFirst := range map[string]bool{
		"app/shell/main.js": true, "app/now/page.js": true, "app/core/state.js": true, "vendor/htm-preact.js": true,
		"app/limits/page.js": false, "app/people/page.js": false, "app/records/audit-page.js": false, "app/shell/appearance.js": false,
	} {
		if strings.Contains(index, `<link rel="modulepreload" href="`+name+`">`) != isFirst {
			t.Errorf("%s: preloaded is %v", name, !isFirst)
		}
	}
	for name, isFirst := range map[string]bool{"text/en/now.json": true, "text/en/shell.json": true, "text/en/limits.json": false, "text/de/now.json": false} {
		if strings.Contains(index, `<link rel="preload" as="fetch" crossorigin href="`+name+`">`) != isFirst {
			t.Errorf("%s: preloaded is %v", name, !isFirst)
		}
	}
}

func TestStripComments(t *testing.T) {
	const module = `// @ts-check
import { a } from "./a.js"; // stays
/** @import { T } from "./t.js" */

/**
 * T is a type.
 * @typedef {object} T
 */

  // b calls a.
  /** @param {T} t */
const b = (t) => a(t) * 2
  * 3;
/** @type {T} */ (b).c = "//d";
`
	const want = `
import { a } from "./a.js"; // stays









const b = (t) => a(t) * 2
  * 3;
/** @type {T} */ (b).c = "//d";
`
	if got := string(stripComments([]byte(module))); got != want {
		t.Errorf("served is\n%s\nwant\n%s", got, want)
	}
}

// The address may name the language of a document, which an overlay has no other way to choose.
func TestFiles_LanguageInAddress(t *testing.T) {
	d := dash(t)
	for _, tag := range language.All {
		if a := d.do("GET", "/overlay?language="+tag, nil, setHeader("Accept-Language", "en")); !strings.Contains(string(a.body), `<html lang="`+tag+`">`) {
			t.Errorf("%s: %s", tag, a.body)
		}
	}
}
