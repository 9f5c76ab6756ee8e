//go:build packed

package static

import (
	"archive/zip"
	_ "embed" // for packed
	"io/fs"
	"strings"
)

//go:embed files.zip
var packed string

// Files are the dashboard's files; index.html is the page, lab.html is the Lab, and overlay.html
// is the overlay for streams.
var Files fs.FS = open(packed)

// open returns the files of an archive. It panics if the archive is damaged, which only a mistake
// in the build can cause.
func open(archive string) fs.FS {
	files, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("static: files.zip: " + err.Error())
	}
	return files
}
