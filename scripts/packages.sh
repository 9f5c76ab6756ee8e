#!/bin/sh
# Prints the folders of the packages that use goroutines or locks (concurrent), or of all others
# (sequential).
set -eu

for package in $(go list -f '{{.Dir}}' ./...); do
	kind=sequential
	if grep -qE 'go func|\.Go\(|"sync["/]|/x/sync/' "$package"/*.go; then
		kind=concurrent
	fi
	[ "$kind" != "$1" ] || echo "$package"
done
