// Package static holds the dashboard's files: its page, those of the Lab and of the overlay, style
// sheets, ES modules that need no build step, and vendor/. The folder vendor/ contains htm and
// preact in one file (htm 3.1.1, preact/standalone.module.js) and uPlot 1.6.32, with their licences.
// The package must not know the server that serves the files.
package static

import "embed"

// Files are the dashboard's files; index.html is the page, lab.html is the Lab, and overlay.html
// is the overlay for streams.
//
//go:embed *.html *.css *.svg */*
var Files embed.FS
