#!/bin/sh
# unraced.sh tests prints a pattern of the tests that the race detector's build leaves out, in
# packages that it runs otherwise: those in files with the build constraint "browser" (they open a
# browser window) or "!race".
# unraced.sh packages prints the folders of these packages.
set -eu

# shellcheck disable=SC2046 # a list of folders
files=$(CGO_ENABLED=1 go list -race -f '{{range .IgnoredGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' $(sh scripts/packages.sh concurrent) |
	grep '_test\.go$' | xargs grep -lE '^//go:build .*(\bbrowser\b|!race\b)')
case $1 in
packages) echo "$files" | sed 's|/[^/]*$||' | sort -u ;;
tests) # shellcheck disable=SC2086 # a list of files
	echo "^($(sed -nE 's/^func ((Test|Example|Fuzz)[A-Za-z0-9_]*)\(.*/\1/p' $files | grep -v '^TestMain$' | paste -sd '|' -))\$" ;;
esac
