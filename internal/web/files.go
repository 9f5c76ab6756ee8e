package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/web/static"
)

// files are the dashboard's own files, by path without the slash in front. They are public, and browsers ask each time whether theirs is
// still the newest.
type files map[string]file

type file struct {
	kind           string
	plain, gzipped []byte
	tag            string // of the content
}

// kinds are the types of the files that are served; others, like licences, only travel along. Go's own table asks the operating system.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// newFiles are the embedded files, which are packed once.
var newFiles = sync.OnceValues(func() (files, error) {
	all := files{}
	err := fs.WalkDir(static.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		kind, served := kinds[path.Ext(name)]
		if err != nil || entry.IsDir() || !served {
			return err
		}
		content, err := fs.ReadFile(static.Files, name)
		if err != nil {
			return err
		}
		all[name], err = newFile(kind, content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("web: embedded files: %w", err)
	}
	all[""] = all["index.html"]
	return all, nil
})

func newFile(kind string, content []byte) (file, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	zip.Write(content) // a buffer takes everything
	if err := zip.Close(); err != nil {
		return file{}, err
	}
	sum := sha256.Sum256(content)
	return file{kind, content, packed.Bytes(), hex.EncodeToString(sum[:8])}, nil
}

func (f files) serve(w http.ResponseWriter, r *http.Request) error {
	found, ok := f[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		return errNothing()
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return refuse(http.StatusMethodNotAllowed, "This can only be read.")
	}
	content, tag := found.plain, found.tag
	header := w.Header()
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		content, tag = found.gzipped, found.tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Type", found.kind)
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	return nil
}
