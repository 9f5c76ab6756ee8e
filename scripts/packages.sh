#!/bin/sh
# packages.sh concurrent prints the folders of the packages that use goroutines or locks.
# packages.sh sequential prints the folders of all other packages.
set -eu

for package in $(go list -f '{{.Dir}}' ./...); do
	kind=sequential
	if grep -qE 'go func|\.Go\(|AfterFunc|http\.Server\{|"sync["/]|/x/sync/' "$package"/*.go; then
		kind=concurrent
	fi
	[ "$kind" != "$1" ] || echo "$package"
done
