#!/bin/sh
# Runs only the tests of Go modules that open a browser window: those in files with the build
# constraint "browser". They mostly wait for the browser, so more of them run at once than there are
# cores.
set -eu

failed=0
for module in "$@"; do
	files=$(go -C "$module" list -f '{{range .IgnoredGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' ./... | xargs grep -lE '^//go:build .*\bbrowser\b')
	packages=$(echo "$files" | sed 's|/[^/]*$||' | sort -u)
	# shellcheck disable=SC2086 # a list of files
	tests=$(sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' $files | paste -sd '|' -)
	echo "the browser tests of" $packages
	# shellcheck disable=SC2086 # a list of folders
	go -C "$module" test -tags browser -parallel 4 -timeout 30m -run "^($tests)\$" $packages || failed=1
done
exit "$failed"
