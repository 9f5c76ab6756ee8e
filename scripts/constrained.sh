#!/bin/sh
# constrained.sh CONSTRAINT tests prints a pattern of the tests in files with a build constraint, such
# as browser or '!race', that leaves them out of the race detector's build.
# constrained.sh CONSTRAINT packages prints the folders of their packages. It looks for browser in all
# packages, and for others in those that the race detector runs otherwise.
set -eu

case $1 in
browser) packages=$(go list -f '{{.Dir}}' ./...) ;;
*) packages=$(sh scripts/packages.sh concurrent) ;;
esac
# shellcheck disable=SC2086 # a list of folders
files=$(CGO_ENABLED=1 go list -race -f '{{range .IgnoredGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' $packages |
	grep '_test\.go$' | xargs grep -lE "^//go:build (.* )?$1( |\$)")
case $2 in
packages) echo "$files" | sed 's|/[^/]*$||' | sort -u ;;
tests) # shellcheck disable=SC2086 # a list of files
	echo "^($(sed -nE 's/^func ((Test|Example|Fuzz)[A-Za-z0-9_]*)\(.*/\1/p' $files | grep -v '^TestMain$' | paste -sd '|' -))\$" ;;
esac
