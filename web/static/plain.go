//go:build !packed

package static

import (
	"embed"
	"io/fs"
)

//go:embed *.html *.css *.svg *.json */*
var plain embed.FS

// Files are the dashboard's files; index.html is the page, lab.html is the Lab, and overlay.html
// is the overlay for streams.
var Files fs.FS = plain
