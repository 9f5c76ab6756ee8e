// Package static holds the dashboard's files: one page, its style sheet, ES modules that need no
// build step, and vendor/. The folder vendor/ contains htm and preact in one file (htm 3.1.1,
// preact/standalone.module.js) and uPlot 1.6.32, with their licences. The package must not know the
// server that serves the files.
package static

import "embed"

// Files are the dashboard's files; index.html is the page.
//
//go:embed index.html app.css favicon.svg favicon-alert.svg app style vendor
var Files embed.FS
