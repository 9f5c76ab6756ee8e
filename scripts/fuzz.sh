#!/bin/sh
# fuzz.sh TIME runs each fuzz target of every module for that time, such as 20s or 1m. It continues
# after a failure, and fails at the end.
set -eu
cd "$(dirname "$0")/.."

failed=0
for module in . bench examples/wschat; do
	for package in $(go -C "$module" list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./...); do
		targets=$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$package"/*_test.go)
		for target in $targets; do
			echo "$(date +%T) $target in $package"
			go -C "$module" test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$package" || failed=1
		done
	done
done
exit "$failed"
