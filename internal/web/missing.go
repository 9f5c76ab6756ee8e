package web

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// rootHere is what serveMissing replaces in its document: the relative address of the start page.
const rootHere = "{root}"

// serveMissing answers a request for a path without a file. It redirects to a document if the path
// has only a slash too many at its end. Otherwise browsers get a page for people, and programs get
// a problem. Addresses in the answer are relative, because a proxy or a surrounding site may have
// removed the beginning of the path.
func (f files) serveMissing(w http.ResponseWriter, r *http.Request) error {
	escaped := r.URL.EscapedPath()
	if name := strings.Trim(r.URL.Path, "/"); strings.HasSuffix(escaped, "/") && f[name].translations != nil && name != missingFile {
		to := url.URL{Path: "../" + name, RawQuery: r.URL.RawQuery}
		problem.Redirect(w, to.String())
		return nil
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return errNotFound()
	}
	root := "./" + strings.Repeat("../", strings.Count(escaped, "/")-1)
	w.Header().Set("Content-Type", f[missingFile].kind)
	w.WriteHeader(http.StatusNotFound)
	page := f[missingFile].translations[language.Of(r)]().plain
	w.Write(bytes.ReplaceAll(page, []byte(rootHere), []byte(root))) // an error means that the client is gone
	return nil
}
