// Package static holds the dashboard's files: its page, those of the Lab and of the overlay, style
// sheets, ES modules that need no build step, texts, the description of the API, and vendor/. The
// folder vendor/ contains htm and preact in one file (htm 3.1.1, preact/standalone.module.js) and
// uPlot 1.6.32, with their licences. The package must not know the server that serves the files.
//
// A build with the tag "packed" has the same files in a compressed form, which makes the binary
// smaller. `make build` and releases use it, after `go run ./web/pack` has written files.zip.
package static
