// Command pack writes the dashboard's files to an archive, web/static/files.zip. A build with the
// tag "packed" embeds the archive instead of the files. Run it in the module's folder:
//
//	go run ./web/pack && go build -tags packed ./cmd/chatguard
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"io/fs"
	"log"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/web/static"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("pack: ")
	archive, err := pack(static.Files)
	if err == nil {
		err = atomicfile.Write("web/static/files.zip", archive, nil)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// pack returns an archive of files. The same files give the same archive.
func pack(files fs.FS) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	err := errors.Join(w.AddFS(files), w.Close())
	return archive.Bytes(), err
}
