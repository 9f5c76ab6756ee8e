package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/web/static"
)

// files contains the dashboard's own files, by path without the leading slash. They are public.
// Browsers revalidate them on each request.
type files map[string]file

type file struct {
	kind    string
	content func() fileContent // prepared at the first call, so that the start doesn't wait for it

	// translations are the versions of a document, by language. They are nil for other files.
	translations map[string]func() fileContent
	scripts      string // sources of a document's inline scripts, for its content policy
}

// fileContent is the content of a file, plain and compressed, with its ETag.
type fileContent struct {
	plain   []byte
	gzipped func() []byte // compressed at the first call
	tag     string        // ETag
}

// kinds maps the extensions of served files to content types; other embedded files, like licences,
// are not served. Go's own table depends on the operating system.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
}

// serverFiles are embedded files that only the server reads.
var serverFiles = []string{openAPIFile, "chat.json", "document.json", "server.json"}

// newFiles returns the embedded files.
var newFiles = sync.OnceValues(func() (files, error) {
	all := files{}
	err := fs.WalkDir(static.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		kind, served := kinds[path.Ext(name)]
		if err != nil || entry.IsDir() || !served || slices.Contains(serverFiles, path.Base(name)) {
			return err
		}
		all[name] = file{kind: kind, content: sync.OnceValue(func() fileContent { return newContent(read(name)) })}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("web: embedded files: %w", err)
	}
	for _, document := range documents {
		all[document] = newDocument(all, document)
	}
	all[""], all["lab"], all["overlay"], all[viewerPage] = all[indexFile], all[labFile], all[overlayFile], all[viewerFile]
	return all, nil
})

// read returns what is served of an embedded file.
func read(name string) []byte {
	data, err := fs.ReadFile(static.Files, name)
	if err != nil {
		panic(err) // can't happen: the files are part of the binary
	}
	if path.Ext(name) == ".js" {
		notice := noticeOf(name, data)
		data = append(notice, stripComments(data[len(notice):])...)
	}
	return data
}

// without returns the files except those with the given names.
func (f files) without(names ...string) files {
	some := maps.Clone(f)
	for _, name := range names {
		delete(some, name)
	}
	return some
}

// begins reports whether any path that the server serves begins with a name, such as "api".
func (f files) begins(name string) bool {
	if slices.Contains([]string{"api", "healthz", "readyz", "metrics", "signin", viewerPage}, name) {
		return true
	}
	for path := range f {
		if first, _, _ := strings.Cut(path, "/"); first == name {
			return true
		}
	}
	return false
}

// noticeOf returns the comment with which a library's module begins: its copyright notice.
func noticeOf(name string, module []byte) []byte {
	if !strings.HasPrefix(name, "vendor/") || !bytes.HasPrefix(module, []byte("/**")) {
		return nil
	}
	notice, _, _ := bytes.Cut(module, []byte("*/"))
	return slices.Clone(module[:len(notice)+len("*/")])
}

// stripComments returns a module without its comments, which make up a third of our modules. It
// removes only comments that fill whole lines. It keeps these lines, empty, so that a browser's
// line numbers match the source.
func stripComments(module []byte) []byte {
	var served []byte
	inside := false // between the first and last line of a comment
	for line := range bytes.Lines(module) {
		text := bytes.TrimSpace(line)
		ends := bytes.HasSuffix(text, []byte("*/"))
		begins := bytes.HasPrefix(text, []byte("/**")) && (ends || !bytes.Contains(text, []byte("*/")))
		if inside || begins || bytes.HasPrefix(text, []byte("//")) {
			line = []byte("\n")
		}
		inside = (inside || begins) && !ends
		served = append(served, line...)
	}
	return served
}

// The documents: the dashboard, the Lab, the overlay for streams, and the page for viewers.
const (
	indexFile   = "index.html"
	labFile     = "lab.html"
	overlayFile = "overlay.html"
	viewerFile  = "viewer.html"
	missingFile = "missing.html" // see missing.go
)

var documents = []string{indexFile, labFile, overlayFile, viewerFile, missingFile}

// preloadsHere is the line of a document that translate replaces.
const preloadsHere = "  <!-- modulepreload -->\n"

// newDocument returns a document with its translations.
func newDocument(all files, name string) file {
	document := all[name]
	source := document.content
	modules := sync.OnceValue(func() []string { return modulesOf(all, name, staticImport) })
	document.translations = map[string]func() fileContent{}
	for _, tag := range language.All {
		document.translations[tag] = sync.OnceValue(func() fileContent {
			return newContent(translate(source().plain, modules(), firstTexts(all, name, tag), tag))
		})
	}
	for _, found := range inlineScript.FindAllSubmatch(source().plain, -1) {
		sum := sha256.Sum256(found[1])
		document.scripts += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return document
}

// inlineScript matches a script in a document.
var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// languageHere is the tag of a document in which translate replaces the language.
const languageHere = `<html lang="en">`

// textHere matches a text of a document that translate replaces: its name in braces.
var textHere = regexp.MustCompile(`>\{([a-z-]+)\}<`)

// translate returns a document that names its language, with its texts, and with a preload line for
// each module and each catalogue of texts that it needs at first. Without these lines, a browser
// discovers the modules one import after the other, and then the texts.
func translate(document []byte, modules, texts []string, tag string) []byte {
	var lines strings.Builder
	for _, name := range modules {
		fmt.Fprintf(&lines, "  <link rel=\"modulepreload\" href=\"%s\">\n", name)
	}
	for _, name := range texts {
		fmt.Fprintf(&lines, "  <link rel=\"preload\" as=\"fetch\" crossorigin href=\"%s\">\n", name)
	}
	document = bytes.Replace(document, []byte(preloadsHere), []byte(lines.String()), 1)
	document = textHere.ReplaceAllFunc(document, func(found []byte) []byte {
		text := language.Document(tag).Text(string(bytes.Trim(found, "{}<>")), nil)
		return []byte(">" + html.EscapeString(text) + "<")
	})
	return bytes.Replace(document, []byte(languageHere), []byte(`<html lang="`+tag+`">`), 1)
}

// loadedTexts matches a call that loads texts.
var loadedTexts = regexp.MustCompile(`\bloadTexts\(([^)]*)\)`)

// firstTexts returns the names of the catalogues that a document needs at first, in a language.
func firstTexts(all files, document, tag string) (names []string) {
	for _, entry := range entryModule.FindAllSubmatch(all[document].content().plain, -1) {
		for _, call := range loadedTexts.FindAllSubmatch(all[string(entry[1])].content().plain, -1) {
			for part := range strings.SplitSeq(string(call[1]), ",") {
				names = append(names, "text/"+tag+"/"+strings.Trim(part, "\" \n")+".json")
			}
		}
	}
	return names
}

// entryModule matches the element of a document that runs its module.
var entryModule = regexp.MustCompile(`<script type="module" src="([^"]+)">`)

// staticImport matches a line that imports a module before the importing module runs. A call of
// import() loads a module later.
var staticImport = regexp.MustCompile(`(?m)^(?:import|export) (?:[^"(]* from )?"(\.[^"]+)"`)

// modulesOf returns the sorted names of the modules that a document reaches by imports that match a
// pattern.
func modulesOf(all files, document string, imports *regexp.Regexp) []string {
	needed := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if needed[name] {
			return
		}
		needed[name] = true
		for _, found := range imports.FindAllSubmatch(all[name].content().plain, -1) {
			add(path.Join(path.Dir(name), string(found[1])))
		}
	}
	for _, found := range entryModule.FindAllSubmatch(all[document].content().plain, -1) {
		add(string(found[1]))
	}
	return slices.Sorted(maps.Keys(needed))
}

func newContent(plain []byte) fileContent {
	gzipped := sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		zip.Write(plain) // writing to a buffer never fails
		zip.Close()
		return packed.Bytes()
	})
	sum := sha256.Sum256(plain)
	return fileContent{plain: plain, gzipped: gzipped, tag: hex.EncodeToString(sum[:8])}
}

func (f files) serve(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, "/")
	found, ok := f[name]
	if !ok || name == missingFile {
		return f.serveMissing(w, r)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return problem.New(http.StatusMethodNotAllowed, "This file is read-only; use GET or HEAD.")
	}
	header := w.Header()
	header.Set("Vary", "Accept-Encoding")
	if found.scripts != "" {
		header.Set("Content-Security-Policy", access.ContentPolicy+"; script-src 'self'"+found.scripts)
	}
	prepared := found.content
	if found.translations != nil {
		header.Set("Vary", "Accept-Encoding, Accept-Language, Cookie")
		prepared = found.translations[language.Of(r)]
	}
	served := prepared()
	body, tag := served.plain, served.tag
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body, tag = served.gzipped(), served.tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Type", found.kind)
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	return nil
}
